package document

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/table"
)

// indexedNotices returns the work that notifies webhook endpoints that docs are indexed; none if
// no endpoint wants it.
func (w *Worker) indexedNotices(teamID string, topics pending.Topics, docs []search.Document) []pending.Work {
	if topics&pending.AboutIndexed == 0 {
		return nil
	}
	at := w.Now().UnixMilli()
	notices := make([]pending.Notice, len(docs))
	for i, d := range docs {
		notices[i] = notice(pending.DocumentIndexed, "indexed", d.ID.String(), d.Version, at)
		notices[i].About = append(notices[i].About, pending.Target{Type: audit.TargetDataSource, ID: d.Source})
	}
	return []pending.Work{pending.Announce(teamID, notices...)}
}

// failedNotices is indexedNotices for a document that could not be indexed.
func (s *Service) failedNotices(ctx context.Context, work pending.Work) ([]pending.Work, error) {
	head, err := s.Table.Get(ctx, audit.TopicsKey(work.TeamID))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, fmt.Errorf("read who wants to know: %w", err)
	}
	if audit.Topics(head)&pending.AboutUnindexed == 0 {
		return nil, nil
	}
	return []pending.Work{pending.Announce(work.TeamID, notice(pending.DocumentFailed, "failed", work.ID, work.Version, s.Now().UnixMilli()))}, nil
}

func notice(kind, state, id string, version, at int64) pending.Notice {
	return pending.Notice{ID: kind + "/" + id + "/" + strconv.FormatInt(version, 10), Type: kind, At: at, State: state,
		About: []pending.Target{{Type: audit.TargetDocument, ID: id}}}
}

// promises returns the operations that store works.
func promises(works []pending.Work) (ops []table.Op) {
	for _, w := range works {
		ops = append(ops, w.Promise())
	}
	return ops
}
