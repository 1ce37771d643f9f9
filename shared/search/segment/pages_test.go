package segment_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"

	"docent/shared/search/segment"
)

// Queries share the places of pages in a cache that has room for few of them, so each forgets what others are about to read.
func TestPagesForgottenInTheMeantimeAreReadAgain(t *testing.T) {
	t.Parallel()
	docs := make([]document, 400)
	for i := range docs {
		docs[i] = document{id: uuid.New(), version: 1, passages: []string{"a", "b"}}
	}
	data := buildVectors(t, docs)
	whole, err := segment.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	ranged, err := segment.OpenRanged(t.Context(), oneFile{data: data}, "s", int64(len(data)), segment.NewCache(3*(4<<10+300), 0))
	if err != nil {
		t.Fatal(err)
	}
	var queries sync.WaitGroup
	for q := range 8 {
		queries.Go(func() {
			random := rand.New(rand.NewPCG(uint64(q), 3))
			for range 200 {
				if err := compareVectors(whole, ranged.View(t.Context()), random.IntN(whole.Passages-1)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	queries.Wait()
}

// compareVectors returns an error if the vectors of two neighbouring passages differ.
func compareVectors(whole, ranged *segment.Segment, passage int) error {
	if err := ranged.FetchVectors([]int{passage, passage + 1}); err != nil {
		return err
	}
	for p := passage; p < passage+2; p++ {
		scale, values, err := whole.VectorAt(p)
		if err != nil {
			return err
		}
		if s, v, err := ranged.VectorAt(p); err != nil || s != scale || fmt.Sprint(v) != fmt.Sprint(values) {
			return fmt.Errorf("vector %d: %v %v, %w; want %v %v", p, s, v, err, scale, values)
		}
	}
	return nil
}
