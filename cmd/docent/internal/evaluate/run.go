package evaluate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/client"
)

// Options say how questions are asked.
type Options struct {
	Collection  string // the only collection to search; empty: all that the key may read
	SearchAlone bool   // no answers
	Parallel    int
	Now         func() time.Time
}

// Run searches and answers every question by the API. Answers are those of research with low effort, which are
// neither kept nor counted against the questions of the day. An expected document that the collection
// lacks is an error, as is a request that fails.
func Run(ctx context.Context, api *client.Client, questions []Question, o Options) (Report, error) {
	var within []string
	if o.Collection != "" {
		if err := check(ctx, api, o.Collection, questions); err != nil {
			return Report{}, err
		}
		within = []string{o.Collection}
	}
	results := make([]Result, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for i, q := range questions {
		group.Go(func() (err error) {
			if results[i], err = ask(ctx, api, q, within, o); err != nil {
				return fmt.Errorf("line %d: %w", q.Line, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	return Summarize(results), nil
}

// check returns an error if the collection does not exist or lacks a document that a question expects.
func check(ctx context.Context, api *client.Client, collection string, questions []Question) error {
	_, err := api.Collection(ctx, collection)
	if client.IsStatus(err, http.StatusNotFound) {
		return fmt.Errorf("there is no collection %s", collection)
	}
	if err != nil {
		return err
	}
	documents, err := api.Documents(ctx, collection)
	if err != nil {
		return fmt.Errorf("list the collection's documents: %w", err)
	}
	for _, q := range questions {
		for _, uri := range q.Expected {
			if _, ok := documents[uri]; !ok {
				return fmt.Errorf("line %d: the collection has no document %s", q.Line, uri)
			}
		}
	}
	return nil
}

// ask searches for one question and judges the result. Unless o says otherwise, it also asks for an answer and judges
// that. within limits both to some collections; empty: all.
func ask(ctx context.Context, api *client.Client, q Question, within []string, o Options) (Result, error) {
	begin := o.Now()
	found, err := api.Search(ctx, client.SearchRequest{Query: q.Text, Limit: Depth, DataSourceIDs: within})
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	var uris []string
	for _, s := range found.Sources {
		uris = append(uris, s.URL)
	}
	r := Judge(q, uris)
	r.SearchMS = o.Now().Sub(begin).Milliseconds()
	if o.SearchAlone {
		return r, nil
	}
	begin = o.Now()
	answer, err := api.Research(ctx, client.SearchRequest{Query: q.Text, Effort: "low", DataSourceIDs: within})
	if err != nil {
		return Result{}, fmt.Errorf("research: %w", err)
	}
	r.JudgeAnswer(q, answer.Answer, len(answer.Sources))
	r.AnswerMS = o.Now().Sub(begin).Milliseconds()
	return r, nil
}
