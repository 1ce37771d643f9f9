package source

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/search"
)

// Bounds of what is remembered of a part.
const (
	maxFailed      = 50        // tried again by each sync; of more, a full scan does
	maxFailedBytes = 200 << 10 // of the uris of those on the page that is being read
)

// triedAgain is how the reason of SyncPage.Failed ends.
const triedAgain = "later syncs try again"

// FailedAgain returns an entry of SyncPage.Failed. what is the start of a sentence about the item.
func FailedAgain(uri, what string) SkippedItem { return SkippedItem{uri, what + "; " + triedAgain} }

// noteFailed saves the uris that failed for the first time in a reading that ended with err, so that the next reading
// can leave them out if they fail again. It reports whether there were any, and returns err or the error of saving.
func (r *syncRun) noteFailed(ctx context.Context, part string, p *partState, t *tries, err error) (bool, error) {
	if err == nil || len(t.fresh) == 0 {
		return false, err
	}
	for _, uri := range t.fresh {
		p.Failed = append(slices.Clone(p.Failed), uri)
		t.known[uri] = true
	}
	t.fresh = nil
	for size := 0; ; size = 0 {
		for _, uri := range p.Failed {
			size += len(uri)
		}
		if size <= maxFailedBytes {
			break
		}
		p.Failed = p.Failed[1:]
	}
	if p.FailedBy == 0 {
		p.FailedBy = r.state.Began
	}
	// What took minutes to find out is kept also when the time is over.
	if err := r.savePart(context.WithoutCancel(ctx), part, p); err != nil {
		return false, err
	}
	return true, err
}

// updateFailed updates p.Failed after a page: it removes the uris that were read, and adds those that were left out,
// files included. Those that failed again move to the end, so that the next sync begins with those for which this one
// had no time.
func (p *partState) updateFailed(page SyncPage, files []string, t *tries) {
	again := slices.Clone(files)
	for _, f := range page.Failed {
		again = append(again, f.URI)
	}
	if len(p.Failed)+len(again) == 0 {
		return
	}
	read := map[string]bool{}
	for _, i := range page.Items {
		read[i.URI] = true
	}
	for _, uri := range slices.Concat(page.Unread, page.Removed) {
		read[uri] = true
	}
	var untried, tried []string
	for _, uri := range p.Failed {
		switch {
		case read[uri] && !slices.Contains(again, uri):
			delete(t.known, uri) // if it fails again in this run, it is remembered again
		case t.failed[uri]:
			tried = append(tried, uri)
		default:
			untried = append(untried, uri)
		}
	}
	p.Failed = append(untried, tried...)
	for _, uri := range again {
		if !slices.Contains(p.Failed, uri) {
			p.Failed = append(p.Failed, uri)
		}
	}
	p.Failed = p.Failed[max(0, len(p.Failed)-maxFailed):]
}

// keepComments keeps the stored comments on items of a page whose comments could not all be read; comments that are on
// the page are not its concern. Until a sync reads them again, it hides them from everyone but team keys in three
// cases, because someone may no longer be allowed to read them: the item has changed, the item has other readers, or
// the provider refuses to show the comments. With scanned, in a full scan, it also hides comments whose readers differ
// from those of the item, because the members of a role may have changed; and it returns the uris of the kept comments,
// so that the scan does not take them for deleted.
func (r *syncRun) keepComments(ctx context.Context, items []Item, scanned bool) (kept []string, err error) {
	on := map[string]bool{} // uris of the items, and whether all their comments are hidden
	rules := map[string]*access.Rule{}
	read := map[string]bool{}         // uris on the page
	wanted := map[search.Space]bool{} // those that have any of the comments
	for _, i := range items {
		read[i.URI] = true
		if !i.CommentsUnread || i.check() != nil {
			continue
		}
		resolved, err := r.Resolve(ctx, r.teamID, i.Access)
		if err != nil {
			return nil, fmt.Errorf("resolve who may read: %w", err)
		}
		rules[i.URI] = resolved[0]
		hidden, err := r.isChanged(ctx, i, resolved[0])
		if err != nil {
			return nil, err
		}
		hidden = hidden || i.CommentsDenied
		if on[i.URI] = hidden; hidden || scanned {
			space, _ := spaceOf(i.SourceType)
			wanted[space] = true
		}
	}
	for space := range wanted {
		for e, err := range r.Documents.Items(ctx, r.teamID, r.id, space, true) {
			if err != nil {
				return nil, err
			}
			about, _, isComment := strings.Cut(e.URI, "#")
			hidden, unread := on[about]
			if !isComment || !unread || read[e.URI] {
				continue
			}
			if kept = append(kept, e.URI); !hidden && (!scanned || rules[about].Repeating(e.Access).Equal(e.Access)) {
				continue
			}
			if err := r.stillTime(ctx); err != nil {
				return nil, err
			}
			if err := r.setReaders(ctx, e, nobody()); err != nil {
				return nil, err
			}
		}
	}
	return kept, nil
}

// isChanged reports whether i, with its rule, differs from the stored item in its time or its readers.
func (r *syncRun) isChanged(ctx context.Context, i Item, rule *access.Rule) (bool, error) {
	e, ok, err := r.storedItem(ctx, i.URI)
	return !ok || !rule.Repeating(e.Access).Equal(e.Access) || !e.Facts.Changed.Equal(i.UpdatedAt.UTC().Truncate(time.Millisecond)), err
}
