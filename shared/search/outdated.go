package search

import (
	"context"
	"fmt"

	"docent/shared/search/segment"
	"docent/shared/search/text"
	"docent/shared/table"
)

// rebuildReason says why a segment is to be rebuilt.
type rebuildReason string

// The reasons. The last two are marks, which a segment's record gets while it is
// stored; the others follow from what the record says of the segment anyway.
const (
	reasonFormat   rebuildReason = "of an older format"
	reasonAnalysis rebuildReason = "of an older analysis"
	reasonDamaged  rebuildReason = "damaged"
	reasonAsked    rebuildReason = "asked for"
)

// outdated returns why the segment is to be rebuilt, or "" when it is not. It depends
// on the record alone, so that whatever reads the segment list comes to the same
// result. A segment that a newer program wrote is left to that program.
func (r record) outdated() rebuildReason {
	switch {
	case r.newer():
		return ""
	case r.content.Mark == reasonDamaged:
		return reasonDamaged
	case r.content.Format < segment.FormatVersion:
		return reasonFormat
	case r.content.Analysis < text.AnalysisVersion:
		return reasonAnalysis
	}
	return r.content.Mark
}

// newer reports whether a newer program wrote the segment.
func (r record) newer() bool {
	return r.content.Analysis > text.AnalysisVersion || r.content.Format > segment.FormatVersion
}

// namesDocuments reports whether the documents of a segment that is outdated for this
// reason can be read from its file. Otherwise the documents of the whole source have to
// be compared with the other segments.
func (r rebuildReason) namesDocuments() bool { return r == reasonAnalysis || r == reasonAsked }

// mark returns the operation that records why the segment is to be rebuilt. It fails
// when the record has changed or is gone.
func (r record) mark(teamID string, why rebuildReason) (table.Put, error) {
	r.content.Mark = why
	op, err := r.put(teamID)
	op.Item.Version, op.If = r.version+1, table.VersionIs(r.version)
	return op, err
}

// markDamaged records that a segment is damaged or missing, and reports it: from now
// on it is left out, merges leave it alone, and it is to be rebuilt.
func (ix *Index) markDamaged(ctx context.Context, teamID string, r record, cause error) error {
	ix.fault(ctx, cause)
	op, err := r.mark(teamID, reasonDamaged)
	if err == nil {
		err = ix.Table.Write(ctx, op)
	}
	if err != nil && table.AsConditionFailed(err) == nil { // failed: merged, dropped or marked in the meantime
		return fmt.Errorf("mark a damaged segment: %w", err)
	}
	return nil
}
