package put

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"docent/client"
	"docent/cmd/docent/internal/walk"
)

// deletions removes the documents of the collection whose files are gone, according to the list from the start of
// the run.
func (r *run) deletions(ctx context.Context, tree walk.Tree, listed map[string]client.Listed) error {
	var gone []string
	for uri := range listed {
		if tree.Gone(uri) {
			gone = append(gone, uri)
		}
	}
	slices.Sort(gone)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.Parallel)
	for _, uri := range gone {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			var err error
			if !r.DryRun {
				err = r.Client.DeleteDocument(ctx, listed[uri].ID)
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil
			}
			return r.countDeleted(uri, err)
		})
	}
	return g.Wait()
}

func (r *run) countDeleted(uri string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.sum.fail(uri, err)
		return r.fatal(err)
	}
	r.sum.Deleted++
	if r.DryRun {
		r.sum.plan("delete", uri)
		return nil
	}
	r.state.forget(uri)
	return nil
}
