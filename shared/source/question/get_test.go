package question_test

import (
	"context"
	"errors"
	"testing"

	"docent/shared/memory"
	"docent/shared/source/question"
)

// One request names ten pages of 2 MB each, and their servers may be slow.
func TestAPageIsFetchedOnceThereIsMemoryForIt(t *testing.T) {
	t.Parallel()
	const all, page = 100 << 20, 2 << 20
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(all, 0)}
	work := room.Work("a")
	defer work.End()
	ctx := memory.WithWork(t.Context(), work)
	fetched := 0
	s := question.Service{Fetch: func(context.Context, string) (question.Page, error) {
		fetched++
		if held := room.Bytes.Held(); held < page {
			t.Errorf("%d bytes are held", held)
		}
		return question.Page{}, nil
	}}
	if _, err := s.FetchPage(ctx, "https://a.example/"); err != nil || fetched != 1 || room.Bytes.Held() != 0 {
		t.Errorf("%v, fetched %d times, %d bytes are held in the end", err, fetched, room.Bytes.Held())
	}
	if err := room.Bytes.Lease("b").Try(all); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FetchPage(ctx, "https://a.example/"); !errors.Is(err, memory.ErrBusy) || fetched != 1 {
		t.Errorf("without memory: %v, fetched %d times", err, fetched)
	}
}
