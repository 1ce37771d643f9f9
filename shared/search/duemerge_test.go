package search

import (
	"fmt"
	"testing"

	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// TestASegmentThatCannotBeMergedDoesNotHoldUpOthers: the oldest segment of a level may be as large as a merge makes them.
func TestASegmentThatCannotBeMergedDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	f := family{source: "wiki", space: Documentation}
	sized := func(megabytes ...int) (records []record) {
		for i, mb := range megabytes {
			r := record{source: f.source, space: f.space, level: 2, id: fmt.Sprintf("%02d", i)}
			r.content = recordContent{Bytes: mb << 20, Passages: 1, Format: segment.FormatVersion, Analysis: text.AnalysisVersion}
			records = append(records, r)
		}
		return records
	}
	for _, c := range []struct {
		name      string
		megabytes []int
		want      int
	}{
		{"ten small ones", []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 10},
		{"nine", []int{1, 1, 1, 1, 1, 1, 1, 1, 1}, 0},
		{"a large one first", []int{120, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20}, 6},
		{"all are large", []int{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, 0},
	} {
		got := 0
		for _, d := range dueIn(f, sized(c.megabytes...), 0) {
			got += len(d.records)
		}
		if got != c.want {
			t.Errorf("%s: %d are merged, want %d", c.name, got, c.want)
		}
	}
}

// TestStagedSegmentsThatFitWithNoneHoldUpNoFold: else the Write that publishes all that are staged would become too large.
func TestStagedSegmentsThatFitWithNoneHoldUpNoFold(t *testing.T) {
	t.Parallel()
	var staged []stagedSegment
	add := func(level, megabytes, n int) {
		for range n {
			s := stagedSegment{segmentName: segmentName{level, fmt.Sprint(len(staged))}}
			s.Content.Bytes = megabytes << 20
			staged = append(staged, s)
		}
	}
	add(4, 100, 12)
	if got := foldable(staged); got != nil {
		t.Errorf("%d large ones are folded", len(got))
	}
	add(3, 9, 10)
	if got := foldable(staged); len(got) != 10 || got[0].Level != 3 {
		t.Errorf("%d are folded: %v", len(got), got)
	}
}
