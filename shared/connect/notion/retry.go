package notion

import (
	"context"
	"errors"
	"slices"
	"time"

	"docent/shared/source"
)

// retry reads the pages that Notion refused in the sync before. A full scan lists them
// anyway.
func (s *session) retry(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	if p.Full || p.Cursor != "" || len(p.Again) == 0 {
		return nil
	}
	var page source.SyncPage
	var untried []string
	begun := time.Now()
	for _, id := range p.Again {
		if slices.Contains(p.Passed, id) {
			continue
		}
		if time.Since(begun) > retryTime {
			untried = append(untried, id)
			continue
		}
		o, err := inTime(ctx, func(ctx context.Context) (object, error) { return s.object(ctx, "pages", id) })
		var failed *source.SyncError
		if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
			continue // a full scan finds out what became of it
		}
		if isUnreadable(err) && len(p.Failed) < maxAgain {
			p.Failed, p.Passed = append(p.Failed, id), append(p.Passed, id)
			continue
		}
		if err == nil {
			_, err = s.pass(ctx, p, o, nil, &page)
		}
		if err != nil {
			return err
		}
	}
	p.Failed, p.Passed = append(untried, p.Failed...), append(p.Passed, untried...) // the next sync begins with them
	page.Checkpoint = source.EncodeCheckpoint(p)
	if !yield(page) {
		return source.ErrStopped
	}
	return nil
}

// inTime calls read, which requests a page that failed before, in a limited time, so that some of them that Notion never returns hold up
// no other.
func inTime[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	timed, cancel := context.WithTimeout(ctx, againTime)
	defer cancel()
	v, err := read(timed)
	if err != nil && ctx.Err() == nil && timed.Err() != nil {
		err = &source.SyncError{Code: source.Unreadable, Detail: "Notion did not return it in time.", Cause: err}
	}
	return v, err
}

// isUnreadable reports whether Notion failed to answer.
func isUnreadable(err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && failed.Code == source.Unreadable
}

// leavesOut reports whether a page is left out for an error, and tried again by the next sync: Notion refuses it, or has failed to
// return it before.
func (p checkpoint) leavesOut(o object, err error) bool {
	var failed *source.SyncError
	return errors.As(err, &failed) && (failed.Code == source.Refused || failed.Code == source.TooLarge) ||
		isUnreadable(err) && p.failedBefore(o)
}

func (p checkpoint) failedBefore(o object) bool {
	return p.Broken == o.ID || slices.Contains(p.Again, o.ID)
}
