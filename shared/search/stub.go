package search

import (
	"context"
	"errors"
)

var errUnfinished = errors.New("search: not built yet")

// Merge merges segments.
func (x *Index) Merge(ctx context.Context, teamID string) (merged int, err error) {
	return 0, errUnfinished
}

// Clean removes blobs that no record names.
func (x *Index) Clean(ctx context.Context) (removed int, err error) { return 0, errUnfinished }

// DropSource removes what is indexed of a source.
func (x *Index) DropSource(ctx context.Context, teamID, source string) error { return errUnfinished }

// Stale counts replaced or deleted passages.
func (x *Index) Stale(ctx context.Context, teamID, source string, space Space, passages int) error {
	return errUnfinished
}

// Check reads every segment of a team.
func (x *Index) Check(ctx context.Context, teamID string) (Report, error) {
	return Report{}, errUnfinished
}

// Rebuild makes a family anew.
func (x *Index) Rebuild(ctx context.Context, teamID, source string, space Space) error {
	return errUnfinished
}
