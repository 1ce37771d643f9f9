package bolt

import (
	"fmt"
	"slices"
	"testing"

	"docent/shared/table"
)

// TestSmallWritesPassLargeOnes: a transaction takes all small requests, and as many large ones of
// each owner as the bound allows, in their order, but at least one.
func TestSmallWritesPassLargeOnes(t *testing.T) {
	t.Parallel()
	s := &Store{}
	for n, waits := range []struct {
		owner string
		size  int
	}{
		{"a", groupLarge + 1}, {"a", 10}, {"a", groupLarge / 2}, {"a", largeRequest - 1}, {"a", groupLarge / 2},
		{"a", largeRequest}, {"b", 20}, {"b", largeRequest},
	} {
		key := table.Key{Table: table.Documents, Partition: waits.owner + "/x", Sort: fmt.Sprint(n)}
		s.waiting = append(s.waiting, &request{ops: []table.Op{table.Put{Item: table.Item{Key: key, Body: make([]byte, waits.size)}}}})
	}
	for _, want := range [][]int{{groupLarge + 1, 10, largeRequest - 1, 20, largeRequest}, {groupLarge / 2, groupLarge / 2}, {largeRequest}, nil} {
		group, _ := s.take()
		var got []int
		for _, r := range group {
			size, _ := r.size()
			got = append(got, size)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a transaction takes writes of %v bytes, want %v", got, want)
		}
	}
}
