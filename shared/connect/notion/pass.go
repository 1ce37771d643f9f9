package notion

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/source"
)

// pass adds o to page, and to what p has passed. It reports whether it read its text.
func (s *session) pass(ctx context.Context, p *checkpoint, o object, stored map[string]bool, page *source.SyncPage) (read bool, err error) {
	inside := true
	if len(s.roots) > 0 {
		if inside, err = s.isBelow(ctx, o); err != nil {
			return false, err
		}
	}
	known := p.knows(o) && (!p.Full || stored[o.uri()])
	switch {
	case !inside || o.InTrash:
		page.Removed = append(page.Removed, o.uri())
	case known:
		page.Unread = append(page.Unread, o.uri())
	default:
		if read, err = s.add(ctx, p, o, page); err != nil {
			return false, err
		}
	}
	p.Passed = append(p.Passed, o.ID)
	settled := known || s.Now().Sub(o.Edited) >= settledTime
	if inside && settled && !o.Edited.Before(p.Begun.Add(-lookBack)) && len(p.Next) < maxKnown {
		if p.Next == nil {
			p.Next = edits{}
		}
		p.Next[short(o.ID)] = minutes(o.Edited)
	}
	return read, nil
}

// add reads the text of o and adds it to page. It notes in p what the next sync tries again. It reports whether it read the text.
func (s *session) add(ctx context.Context, p *checkpoint, o object, page *source.SyncPage) (read bool, err error) {
	item, missed, err := s.itemInTime(ctx, *p, o)
	var failed *source.SyncError
	switch {
	case errors.As(err, &failed) && failed.Code == source.NotThere: // deleted or no longer shared in the meantime
		page.Removed = append(page.Removed, o.uri())
	case p.leavesOut(o, err):
		missed = refused
		page.Unread = append(page.Unread, o.uri())
		page.Skipped = append(page.Skipped, source.SkippedItem{URI: o.uri(), Why: "Notion does not return its text"})
	case err != nil:
		if failed != nil {
			failed.Detail = fmt.Sprintf("the page %q (%s): %s", o.title(), o.uri(), failed.Detail)
		}
		return false, err
	default:
		page.Items, read = append(page.Items, *item), true
	}
	switch {
	case missed == refused && len(p.Failed) < maxAgain:
		p.Failed = append(p.Failed, o.ID)
	case missed == cut && s.cut == "":
		s.cut = o.uri()
	}
	return read, nil
}

// itemInTime is item, in a limited time if o failed before.
func (s *session) itemInTime(ctx context.Context, p checkpoint, o object) (item *source.Item, missed lack, err error) {
	if !p.failedBefore(o) {
		return s.item(ctx, o)
	}
	item, err = inTime(ctx, func(ctx context.Context) (item *source.Item, err error) {
		item, missed, err = s.item(ctx, o)
		return item, err
	})
	return item, missed, err
}

// notice returns what the team's admins should know, or nil.
func (s *session) notice() *source.SyncError {
	if s.cut == "" {
		return nil
	}
	return &source.SyncError{Code: source.TooLarge, Detail: "Notion returns only a part of " + s.cut + ". Divide the page."}
}
