package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"docent/shared/search/segment"
)

// Check reads every segment of a team whole. It reports damaged segments, and documents
// that are not current.
func (ix *Index) Check(ctx context.Context, teamID string) (Report, error) {
	report := Report{Current: map[uuid.UUID]int64{}, Embedded: map[uuid.UUID]int64{}}
	records, err := ix.records(ctx, teamID, "")
	if err != nil {
		return report, err
	}
	for _, r := range records {
		s, err := ix.read(ctx, r)
		if err == nil {
			err = s.Check()
		}
		if isLost(err) {
			report.Damaged = append(report.Damaged, fmt.Sprintf("%s of %s: %v", r.id, r.source, err))
			continue
		}
		if err != nil {
			return report, err
		}
		current, err := ix.current(ctx, teamID, []*segment.Segment{s})
		if err != nil {
			return report, err
		}
		report.Segments++
		if err := report.add(r, s, current); err != nil {
			return report, err
		}
	}
	return report, nil
}

// add counts a segment, given the current versions of its documents.
func (report *Report) add(r record, s *segment.Segment, current map[uuid.UUID]int64) error {
	found := report.Current
	if r.meaning {
		found = report.Embedded
		report.Vectors += s.Passages
	} else {
		report.Passages += s.Passages
		report.Documents += s.Documents
	}
	for i := range s.Documents {
		id, version, err := s.Identify(i)
		if err != nil {
			return err
		}
		if current[id] == version {
			found[id] = version
		} else if !r.meaning {
			report.Stale++
		}
	}
	return nil
}

// LostBlobs returns the names of the blobs of the team's segments that kept does not report.
func (ix *Index) LostBlobs(ctx context.Context, teamID string, kept func(name string) bool) ([]string, error) {
	lost, err := ix.unkept(ctx, teamID, kept)
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	still, err := ix.unkept(ctx, teamID, kept) // a merge may have replaced some in between
	return slices.DeleteFunc(lost, func(name string) bool { return !slices.Contains(still, name) }), err
}

func (ix *Index) unkept(ctx context.Context, teamID string, kept func(name string) bool) (names []string, err error) {
	records, err := ix.records(ctx, teamID, "")
	for _, r := range records {
		if !kept(r.blob) {
			names = append(names, r.blob)
		}
	}
	return names, err
}
