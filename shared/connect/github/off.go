package github

import (
	"context"
	"errors"

	"docent/shared/source"
)

// unlessOff returns err, with which the reading of a part ended, unless GitHub says that the repository has issues or pull requests switched
// off: the part is empty then. GitHub answers 404 or 410 for what is switched off; what GraphQL answers is not documented.
func (s *session) unlessOff(ctx context.Context, kind string, p checkpoint, whole bool, err error, yield func(source.SyncPage) bool) error {
	var failed *source.SyncError
	ofPulls := kind == lineComments || kind == reviews
	if !errors.As(err, &failed) || failed.AllParts || !ofPulls && failed.Code != source.NotThere {
		return err
	}
	var about struct {
		Issues *bool `json:"has_issues"`
		Pulls  *bool `json:"has_pull_requests"` // nil: the server always has them
	}
	if _, _, unknown := s.get(ctx, "repos/"+s.repository, "", "", func() any { return &about }); unknown != nil {
		return err
	}
	has := about.Issues
	if ofPulls {
		has = about.Pulls
	}
	if has == nil || *has {
		return err
	}
	yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true, Exact: whole})
	return nil
}
