package search

import (
	"context"
	"fmt"

	"docent/shared/search/segment"
	"docent/shared/search/text"
	"docent/shared/table"
)

// rebuildReason is the reason why a segment must be rebuilt.
type rebuildReason string

// The reasons. The last two are marks in a stored segment's record; the others follow
// from its other fields.
const (
	reasonFormat   rebuildReason = "of an older format"
	reasonAnalysis rebuildReason = "of an older analysis"
	reasonModel    rebuildReason = "of another model"
	reasonDamaged  rebuildReason = "damaged"
	reasonAsked    rebuildReason = "asked for"
)

// outdated returns the reason why the segment must be rebuilt, or "". It depends on the record
// alone, so every reader of the segment list gets the same result. A segment of a newer program
// is left to that program.
func (r record) outdated() rebuildReason {
	switch {
	case r.newer():
		return ""
	case r.content.Mark == reasonDamaged:
		return reasonDamaged
	case r.meaning && r.wanted.Name == "":
		return "" // without an embedder, vectors stay as they are
	case r.meaning && r.content.Format < segment.VectorFormat:
		return reasonFormat
	case r.meaning && !r.isOf(r.wanted):
		return reasonModel
	case r.meaning:
		return r.content.Mark
	case r.content.Format < segment.FormatVersion:
		return reasonFormat
	case r.content.Analysis < text.AnalysisVersion:
		return reasonAnalysis
	}
	return r.content.Mark
}

// newer reports whether a newer program wrote the segment.
func (r record) newer() bool {
	format := segment.SetsFormat
	if r.meaning {
		format = segment.VectorSetsFormat
	}
	return r.content.Analysis > text.AnalysisVersion || r.content.Format > format
}

// namesDocuments reports whether the documents of a segment that is outdated for this
// reason can be read from its file. Otherwise the whole source must be compared with
// the other segments.
func (r rebuildReason) namesDocuments() bool { return r == reasonAnalysis || r == reasonAsked }

// mark returns the operation that records why the segment must be rebuilt. The operation fails
// if the record has changed or no longer exists.
func (r record) mark(teamID string, why rebuildReason) (table.Put, error) {
	r.content.Mark = why
	op, err := r.put(teamID)
	op.Item.Version, op.If = r.version+1, table.VersionIs(r.version)
	return op, err
}

// markDamaged reports a damaged or missing segment and marks it in its record: searches
// and merges leave it out until it is rebuilt.
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
