package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
	"docent/shared/document"
)

const otherSource = "uri belongs to a document or to an item of another data source"

// storePage stores the items of a page separately and removes the deleted ones. It returns the uris of files that failed again.
func (r *syncRun) storePage(ctx context.Context, access Access, page SyncPage) (left []string, err error) {
	items, err := r.titled(ctx, page.Items)
	if err != nil {
		return nil, err
	}
	r.notePage(page)
	var mu sync.Mutex
	reject := func(i Item, why string) {
		mu.Lock()
		defer mu.Unlock()
		r.reject(i.URI, why)
	}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelStores)
	var files []Item
	for _, i := range withoutRepeats(items) {
		if err := i.check(); err != nil {
			reject(i, err.Error())
			group.Go(func() error { // an earlier version may have had more readers
				_, err := r.Documents.Forget(gctx, r.teamID, r.id, i.URI)
				return err
			})
			continue
		}
		i.Listed, i.CheckKept = millisToTime(r.state.Began).Add(-listLag), r.checksKept
		if i.File != nil {
			files = append(files, i)
			continue
		}
		group.Go(func() error {
			err := r.storeItem(gctx, i)
			if errors.Is(err, document.ErrOtherSource) {
				reject(i, otherSource)
				return nil
			}
			return err
		})
	}
	for _, uri := range page.Removed {
		group.Go(func() error {
			removed, err := r.Documents.Remove(gctx, r.teamID, r.id, uri, r.now(), "")
			if removed {
				mu.Lock()
				r.state.Removed++
				mu.Unlock()
			}
			return err
		})
	}
	if err = group.Wait(); err == nil {
		left, err = r.storeFiles(ctx, access, files, reject)
	}
	if err != nil {
		if apierr.IsCode(err, apierr.CodeNotFound) {
			return nil, Missing() // deleted during the sync
		}
		return nil, fmt.Errorf("store a page: %w", err)
	}
	r.state.Read += len(items)
	return left, nil
}

// notePage notes in the state of the sync what a page says about itself and which records it leaves out.
func (r *syncRun) notePage(page SyncPage) {
	if page.Notice != nil && r.state.Notice == "" {
		r.state.NoticeOf, r.state.Notice = page.Notice.Code, page.Notice.Detail
	}
	for _, skipped := range slices.Concat(page.Skipped, page.Failed) {
		r.reject(skipped.URI, skipped.Why)
	}
}

// withoutRepeats returns items in their order. Of several with the same uri, only the last one counts.
func withoutRepeats(items []Item) []Item {
	last := map[string]int{}
	for n, i := range items {
		last[i.URI] = n
	}
	var once []Item
	for n, i := range items {
		if last[i.URI] == n {
			once = append(once, i)
		}
	}
	return once
}

// storeItem stores an item without a file.
func (r *syncRun) storeItem(ctx context.Context, i Item) error {
	if i.KeepBody {
		return r.keep(ctx, i)
	}
	return r.put(ctx, r.teamID, r.id, "", i)
}

// reject counts an item that was left out, and keeps why the first one was.
func (r *syncRun) reject(uri, why string) {
	if r.state.Rejected++; r.state.Rejection == "" {
		r.state.Rejection = ClipTitle(printable(uri)) + ": " + why
	}
}

// titled returns items in which the title of a comment ends with the title of the
// issue or pull request it is about, if that is stored.
func (r *syncRun) titled(ctx context.Context, items []Item) ([]Item, error) {
	ids := map[string]string{} // by About
	var wanted []string
	for _, i := range items {
		if i.About == "" || ids[i.About] != "" {
			continue
		}
		id, err := document.ID(r.teamID, i.About)
		if err != nil {
			return nil, fmt.Errorf("team id: %w", err)
		}
		ids[i.About], wanted = id, append(wanted, id)
	}
	if len(wanted) == 0 {
		return items, nil
	}
	found, err := r.Documents.Find(ctx, r.teamID, wanted, false)
	if err != nil {
		return nil, err
	}
	out := make([]Item, len(items))
	for n, i := range items {
		if about, ok := found[ids[i.About]]; ok && i.About != "" && about.CollectionID == r.id {
			i.Title = ClipTitle(i.Title + ": " + about.Title)
		}
		out[n] = i
	}
	return out, nil
}

// printable returns text with a question mark for each control character.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '?'
		}
		return c
	}, text)
}
