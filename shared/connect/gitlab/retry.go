package gitlab

import (
	"context"
	"path"
	"strconv"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// retry reads the records that earlier syncs could not read.
func (s *session) retry(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	untried := p
	untried.Retried = false // what is read until then need not be tried again
	var page source.SyncPage
	for _, uri := range s.access.Failed {
		if len(page.Items) >= retriesAPage {
			if page.Checkpoint = source.EncodeCheckpoint(untried); !yield(page) {
				return source.ErrStopped
			}
			page = source.SyncPage{}
		}
		number, err := strconv.Atoi(path.Base(uri))
		if err != nil {
			continue
		}
		r, gone, leftOut, err := s.recordOf(ctx, uri, number)
		switch {
		case gone: // the next full scan asks whether it is deleted
			page.Unread = append(page.Unread, uri)
			continue
		case leftOut:
			page.Failed = append(page.Failed, source.FailedAgain(uri, "GitLab does not return it"))
			continue
		case err == nil:
			err = s.add(ctx, &page, r)
		}
		if err != nil {
			return err
		}
	}
	if page.Checkpoint = source.EncodeCheckpoint(p); !yield(page) {
		return source.ErrStopped
	}
	return nil
}

// recordOf reads one record. gone means that GitLab has none, and leftOut that it has failed again.
func (s *session) recordOf(ctx context.Context, uri string, number int) (r record, gone, leftOut bool, err error) {
	leftOut, err = s.access.Try(ctx, uri, func(ctx context.Context) (err error) {
		if r, _, err = rest.Get[record](ctx, s.api, "/"+s.kind+"/"+strconv.Itoa(number)); isGone(err) {
			gone, err = true, nil
		}
		return err
	})
	return r, gone, leftOut, err
}
