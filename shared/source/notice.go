package source

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/table"
)

// notices is work of telling webhook endpoints something; empty if nobody wants it.
type notices []pending.Work

// failedNotices returns the notices of a data source that could not be brought up to date.
func (s *Service) failedNotices(ctx context.Context, teamID, id string) (notices, error) {
	head, err := s.Table.Get(ctx, audit.TopicsKey(teamID))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, fmt.Errorf("read who wants to know: %w", err)
	}
	if audit.Topics(head)&pending.AboutSources == 0 {
		return nil, nil
	}
	at := s.now().UnixMilli()
	return notices{pending.Announce(teamID, pending.Notice{ID: pending.SourceFailed + "/" + id + "/" + strconv.FormatInt(at, 10),
		Type: pending.SourceFailed, At: at, State: string(Failed), About: []pending.Target{{Type: audit.TargetDataSource, ID: id}}})}, nil
}

// promises returns the operations that store n.
func (n notices) promises() (ops []table.Op) {
	for _, w := range n {
		ops = append(ops, w.Promise())
	}
	return ops
}
