package source_test

import (
	"fmt"
	"testing"

	"docent/shared/table"
)

// TestTheEndOfAFullScanReadsOnlyTheMarksOfItsPart: a workspace of messages has thousands of parts, which all end their scans in one sync.
func TestTheEndOfAFullScanReadsOnlyTheMarksOfItsPart(t *testing.T) {
	t.Parallel()
	cost := func(parts int) float64 {
		l, p := newListing(t)
		p.listed, p.most = nil, parts
		for i := range parts {
			p.listed = append(p.listed, fmt.Sprintf("part-%d", i))
		}
		ctx, meter := table.WithMeter(t.Context())
		if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil {
			t.Fatal(err)
		}
		return meter.Read().ReadUnits / float64(parts)
	}
	if few, many := cost(50), cost(400); many > 1.5*few {
		t.Errorf("each part costs %.1f read units with 50 parts, and %.1f with 400", few, many)
	}
}
