package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// notesOf returns the public comments on a record, until their texts exceed maxText. unread means that reading them has
// failed again.
func (s *session) notesOf(ctx context.Context, r record) (all []note, unread bool, err error) {
	if r.Notes == 0 {
		return nil, false, nil
	}
	size := 0
	for page := 1; page > 0 && len(all) < maxNotes && size <= maxText; {
		var some []note
		var header http.Header
		var gone error
		unread, err := s.access.Try(ctx, s.uri(r.Number), func(ctx context.Context) (err error) {
			some, header, err = rest.Get[[]note](ctx, s.api, fmt.Sprintf("/%s/%d/notes?activity_filter=only_comments&order_by=created_at&sort=asc&per_page=%d&page=%d", s.kind, r.Number, perPage, page))
			var failed *source.SyncError
			if isGone(err) {
				gone, err = err, nil
			} else if errors.As(err, &failed) {
				failed.Detail = fmt.Sprintf("the comments on %s %d: %s", s.noun(), r.Number, failed.Detail)
			}
			return err
		})
		if err = cmp.Or(err, gone); unread || err != nil {
			return nil, unread, err
		}
		for _, n := range some {
			if !n.System && !s.isInternal(n) {
				all, size = append(all, n), size+len(n.Body)
			}
		}
		page = nextPage(header, page, len(some))
	}
	return all, false, nil
}
