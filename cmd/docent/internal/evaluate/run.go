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
	Collection  string // whose documents alone count; empty: all that the key reads
	SearchAlone bool   // no answers
	Parallel    int
	Now         func() time.Time
}

// searched is how many results of a search are read when only those of a collection count: the most that a
// search returns.
const searched = 50

// Run searches and answers every question by the API. Answers are those of research with low effort, which are
// neither kept nor counted against the questions of the day. An expected document that the collection
// lacks is an error, as is a request that fails.
func Run(ctx context.Context, api *client.Client, questions []Question, o Options) (Report, error) {
	var within map[string]client.Listed
	limit := Depth
	if o.Collection != "" {
		_, err := api.Collection(ctx, o.Collection)
		if client.IsStatus(err, http.StatusNotFound) {
			return Report{}, fmt.Errorf("there is no collection %s", o.Collection)
		}
		if err != nil {
			return Report{}, err
		}
		if within, err = api.Documents(ctx, o.Collection); err != nil {
			return Report{}, fmt.Errorf("list the collection's documents: %w", err)
		}
		limit = searched
		for _, q := range questions {
			for _, uri := range q.Expected {
				if _, ok := within[uri]; !ok {
					return Report{}, fmt.Errorf("line %d: the collection has no document %s", q.Line, uri)
				}
			}
		}
	}
	results := make([]Result, len(questions))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for i, q := range questions {
		group.Go(func() error {
			begin := o.Now()
			found, err := api.Search(gctx, client.SearchRequest{Query: q.Text, Limit: limit})
			if err != nil {
				return fmt.Errorf("line %d: search: %w", q.Line, err)
			}
			var uris []string
			for _, s := range found.Sources {
				if _, ok := within[s.URL]; ok || within == nil {
					uris = append(uris, s.URL)
				}
			}
			r := Judge(q, uris)
			r.SearchMS = o.Now().Sub(begin).Milliseconds()
			if !o.SearchAlone {
				begin = o.Now()
				answer, err := api.Research(gctx, client.SearchRequest{Query: q.Text, Effort: "low"})
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
