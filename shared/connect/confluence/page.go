package confluence

import (
	"context"
	"slices"
	"strings"

	"docent/shared/source"
)

// page returns the items of a page of results. When it has taken long, it calls part with the items of the first ones, and the id of the
// last of them.
func (r *reading) page(ctx context.Context, found []content, part func(page source.SyncPage, done id) error) (source.SyncPage, error) {
	var page source.SyncPage
	found = slices.DeleteFunc(found, func(c content) bool {
		return c.Space.Key != "" && !strings.EqualFold(c.Space.Key, r.space) || c.Status != "" && c.Status != "current" ||
			r.kind == attachments && !r.readsFile(c)
	})
	if len(found) == 0 {
		page.Notice = r.Notice
		return page, nil
	}
	var err error
	var about map[id]content // the pages of comments or attachments
	if r.kind != pages {
		if about, err = r.containers(ctx, found); err != nil {
			return page, err
		}
	}
	if err := r.prepare(ctx, found, about); err != nil {
		return page, err
	}
	for n, c := range found {
		on, known := about[c.Container.ID]
		var i source.Item
		switch {
		case r.kind == pages:
			i = r.pageItem(ctx, c)
		case r.kind == comments && known:
			i = r.commentItem(ctx, c, on)
		case known:
			i = r.attachmentItem(ctx, c, on)
		default:
			continue
		}
		if c.unread && i.File == nil { // of an attachment, its download fails
			i.KeepBody, r.left[i.URI] = true, true
			page.Failed = append(page.Failed, source.FailedAgain(i.URI, notReturned))
		}
		if page.Items = append(page.Items, i); n+1 < len(found) && r.isLong() && r.Failed == nil {
			r.finish(&page)
			if err := part(page, c.ID); err != nil {
				return page, err
			}
			page, r.begun = source.SyncPage{}, r.Now()
		}
	}
	r.finish(&page)
	return page, r.Failed
}

// finish adds to page the notice, the pages without known readers, and the lookups that succeeded again.
func (r *reading) finish(page *source.SyncPage) {
	page.Notice = r.Notice
	page.Failed, page.Unread = append(page.Failed, r.closed...), append(r.opened(), r.Answered...)
	r.closed, r.Answered = nil, nil
}

// isLong reports whether reading the running page has taken long.
func (r *reading) isLong() bool {
	return !r.begun.IsZero() && r.Now().Sub(r.begun) >= source.LongPage
}
