package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"docent/shared/blob"
	"docent/shared/table"
)

// rebuildPassages and rebuildBytes bound a segment of a Rebuild, and with it the
// memory that a Rebuild takes; rebuiltLevel is its level.
const (
	rebuildPassages = 50_000
	rebuildBytes    = 64 << 20
	rebuiltLevel    = 2
	rebuildAttempts = 3
)

// Check reads every segment of a team whole: its checksums, its dictionary, its
// postings, and whether its documents are current.
func (x *Index) Check(ctx context.Context, teamID string) (Report, error) {
	report := Report{Current: map[uuid.UUID]int64{}}
	records, err := x.records(ctx, teamID, "")
	if err != nil {
		return report, err
	}
	for _, r := range records {
		s, err := x.read(ctx, r)
		if err == nil {
			err = s.check()
		}
		if errors.Is(err, errDamaged) || errors.Is(err, blob.ErrNotFound) {
			report.Damaged = append(report.Damaged, fmt.Sprintf("%s of %s: %v", r.id, r.source, err))
			continue
		}
		if err != nil {
			return report, err
		}
		current, err := x.current(ctx, teamID, []*segment{s})
		if err != nil {
			return report, err
		}
		for i := range s.documents {
			if id, version := s.identity(i); current[id] != version {
				report.Stale++
			} else {
				report.Current[id] = version
			}
		}
		report.Segments++
		report.Passages += s.passages
		report.Documents += s.documents
	}
	return report, nil
}

// check reads all postings of all terms.
func (s *segment) check() error {
	t := termReader{s: s}
	previous := ""
	for {
		ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		if string(t.term) <= previous {
			return damaged("term %q after %q", t.term, previous)
		}
		previous = string(t.term)
		if err := t.list.each(func(int, uint32) {}); err != nil {
			return err
		}
	}
}

// Rebuild makes a family anew from its documents and replaces all its segments.
func (x *Index) Rebuild(ctx context.Context, teamID, source string, space Space) error {
	f := family{source, space}
	if err := f.check(); err != nil {
		return err
	}
	for range rebuildAttempts {
		// Listed before the documents are read: what is published meanwhile stays.
		records, err := x.records(ctx, teamID, f.prefix())
		if err != nil {
			return err
		}
		count, err := x.Table.BatchGet(ctx, []table.Key{staleKey(teamID, f)})
		if err != nil {
			return fmt.Errorf("read the stale count: %w", err)
		}
		d := dueMerge{family: f, records: records, level: rebuiltLevel}
		if len(count) > 0 {
			d.stale = max(count[0].Numbers["n"], 0)
		}
		made, err := x.buildFamily(ctx, teamID, f)
		if err != nil {
			return err
		}
		replaced, err := x.replaceAll(ctx, teamID, d, made)
		if err != nil || replaced {
			return err
		}
	}
	return fmt.Errorf("rebuild %s: its segments changed %d times meanwhile", source, rebuildAttempts)
}

// buildFamily makes segments of all current documents of f.
func (x *Index) buildFamily(ctx context.Context, teamID string, f family) ([]built, error) {
	var made []built
	b := newBuilder(profileOf(f.space))
	bytes := 0
	flush := func() error {
		done, err := b.finish()
		if err != nil {
			return fmt.Errorf("build a segment of %s: %w", f.source, err)
		}
		if done.documents > 0 {
			made = append(made, done)
		}
		b, bytes = newBuilder(profileOf(f.space)), 0
		return nil
	}
	for d, err := range x.Corpus.Documents(ctx, teamID, f.source) {
		if err != nil {
			return nil, fmt.Errorf("read the documents of %s: %w", f.source, err)
		}
		if d.Space != f.space {
			continue
		}
		b.add(d)
		if bytes += len(d.Body); b.w.passages >= rebuildPassages || bytes >= rebuildBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return made, flush()
}

// replaceAll is replace for any number of segments. When they do not fit one
// Write the new ones come first: for a moment a passage may count twice, and none
// is missing.
func (x *Index) replaceAll(ctx context.Context, teamID string, d dueMerge, made []built) (bool, error) {
	if len(d.records)+len(made) <= mergeMost {
		return x.replace(ctx, teamID, d, made)
	}
	for some := range slices.Chunk(made, mergeMost) {
		if ok, err := x.replace(ctx, teamID, dueMerge{family: d.family, level: d.level}, some); err != nil || !ok {
			return ok, err
		}
	}
	for some := range slices.Chunk(d.records, mergeMost) {
		part := dueMerge{family: d.family, records: some, stale: d.stale}
		if ok, err := x.replace(ctx, teamID, part, nil); err != nil || !ok {
			return ok, err
		}
		d.stale = 0
	}
	return true, nil
}
