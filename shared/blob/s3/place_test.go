package s3_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"docent/shared/blob/s3"
	"docent/shared/memory"
	"docent/shared/memory/memorytest"
)

// TestWaitingForS3TakesNoPlace: the process handles other requests during a call, and the place is taken again
// after it.
func TestWaitingForS3TakesNoPlace(t *testing.T) {
	t.Parallel()
	var calls, during atomic.Int64
	var taken atomic.Pointer[memory.Pool]
	client := serve(t, func(http.ResponseWriter, *http.Request) bool {
		calls.Add(1)
		if places := taken.Load(); places != nil {
			during.Add(places.Held())
		}
		return false
	})
	store := s3.New(client, newBucket(t, client), "")
	ctx, places := memorytest.OnePlace(t)
	taken.Store(places)
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"put", func() error { return store.Put(ctx, "a", []byte("text")) }},
		{"get", func() error { _, err := store.Get(ctx, "a"); return err }},
		{"get a range", func() error { _, err := store.GetRange(ctx, "a", 1, 2); return err }},
		{"get no bytes", func() error { _, err := store.GetRange(ctx, "a", 0, 0); return err }},
		{"list", func() error {
			for _, err := range store.List(ctx, "") {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"delete", func() error { return store.Delete(ctx, "a") }},
	} {
		before := calls.Load()
		if err := c.call(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if calls.Load() == before || during.Load() != 0 || places.Held() != 1 {
			t.Errorf("%s: %d calls; %d places are taken during them, %d afterwards", c.name, calls.Load()-before, during.Swap(0), places.Held())
		}
	}
}
