package collection_test

import (
	"testing"
	"time"

	"docent/shared/collection"
	"docent/shared/table/bolt/bolttest"
)

// A store may repeat a Write whose reply was lost, and then find its own collection.
func TestARepeatedWriteIsNotAConflict(t *testing.T) {
	t.Parallel()
	const id = "0190d2a0-0000-7000-8000-00000000000c"
	s := &collection.Service{Table: bolttest.OpenAt(t, time.Now), Now: time.Now, NewID: func() string { return id }}
	for range 2 {
		made, err := s.Create(t.Context(), "acme", collection.Fields{Name: "wiki", Description: "Team wiki"}, nil, collection.IdempotencyKey{})
		if err != nil || made.ID != id {
			t.Fatalf("%+v, %v", made, err)
		}
	}
	ids, err := s.Defaults(t.Context(), "acme")
	if err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
}
