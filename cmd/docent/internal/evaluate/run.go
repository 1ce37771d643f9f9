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
	Collection  string // in which alone is searched; empty: all that the key reads
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
		_, err := api.Collection(ctx, o.Collection)
		if client.IsStatus(err, http.StatusNotFound) {
			return Report{}, fmt.Errorf("there is no collection %s", o.Collection)
		}
		if err != nil {
			return Report{}, err
		}
		documents, err := api.Documents(ctx, o.Collection)
		if err != nil {
			return Report{}, fmt.Errorf("list the collection's documents: %w", err)
		}
		for _, q := range questions {
			for _, uri := range q.Expected {
				if _, ok := documents[uri]; !ok {
					return Report{}, fmt.Errorf("line %d: the collection has no document %s", q.Line, uri)
				}
			}
		}
		within = []string{o.Collection}
	}
	results := make([]Result, len(questions))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for i, q := range questions {
		group.Go(func() error {
			begin := o.Now()
			found, err := api.Search(gctx, client.SearchRequest{Query: q.Text, Limit: Depth, DataSourceIDs: within})
			if err != nil {
				return fmt.Errorf("line %d: search: %w", q.Line, err)
			}
			var uris []string
			for _, s := range found.Sources {
				uris = append(uris, s.URL)
			}
			r := Judge(q, uris)
			r.SearchMS = o.Now().Sub(begin).Milliseconds()
			if !o.SearchAlone {
				begin = o.Now()
				answer, err := api.Research(gctx, client.SearchRequest{Query: q.Text, Effort: "low", DataSourceIDs: within})
				if err != nil {
					return fmt.Errorf("line %d: research: %w", q.Line, err)
				}
				r.JudgeAnswer(q, answer.Answer, len(answer.Sources))
				r.AnswerMS = o.Now().Sub(begin).Milliseconds()
			}
			results[i] = r
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	return Summarize(results), nil
}
