package memory_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/memory"
)

func newRoom() *memory.Room {
	return &memory.Room{Places: memory.NewPool(2, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0),
		Bytes: memory.NewPool(1000, 4), Free: 10, Small: 100, Patience: time.Second}
}

func (h held) of(r *memory.Room) held {
	return held{r.Places.Held(), r.Turns.Held(), r.Writes.Held(), r.Bytes.Held()}
}

type held struct{ places, turns, writes, bytes int64 }

func begun(t *testing.T, r *memory.Room, owner string) (context.Context, *memory.Work) {
	t.Helper()
	w := r.Work(owner)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return memory.WithWork(t.Context(), w), w
}

func TestWhatWorkHolds(t *testing.T) {
	t.Parallel()
	r := newRoom()
	ctx, w := begun(t, r, "a")
	var retake func() error
	for _, step := range []struct {
		name string
		do   func() error
		want held
	}{
		{"the free part", func() error { return memory.Reserve(ctx, 10) }, held{1, 0, 0, 0}},
		{"a byte more", func() error { return memory.Reserve(ctx, 1) }, held{1, 0, 0, 1}},
		{"up to a small request", func() error { return memory.Reserve(ctx, 89) }, held{1, 0, 0, 90}},
		{"reads that are not charged", func() error { return memory.ReserveRead(ctx, 500) }, held{1, 0, 0, 90}},
		{"a large request", func() error { return memory.ReserveRead(memory.WithReads(ctx, 5), 1) }, held{0, 1, 0, 95}},
		{"less again", func() error { memory.Return(ctx, 50); return nil }, held{0, 1, 0, 45}},
		{"a turn that it has", func() error { return memory.WaitTurn(ctx) }, held{0, 1, 0, 45}},
		{"waiting for other work", func() error { retake = memory.LeaveTurn(ctx); return nil }, held{0, 0, 0, 45}},
		{"little more", func() error { return memory.Reserve(ctx, 1) }, held{0, 0, 0, 46}},
		{"no longer waiting", func() error { return retake() }, held{0, 1, 0, 46}},
		{"less once more", func() error { memory.Return(ctx, 1); return nil }, held{0, 1, 0, 45}},
		{"writing", func() error { return memory.WaitWrites(ctx) }, held{0, 0, 1, 45}},
		{"writing more", func() error { return memory.WaitWrites(ctx) }, held{0, 0, 1, 45}},
		{"large, but writing", func() error { return memory.Reserve(ctx, 500) }, held{0, 0, 1, 545}},
		{"waiting", func() error { memory.Yield(ctx); return nil }, held{0, 0, 1, 545}},
		{"the end", func() error { w.End(); return nil }, held{}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := (held{}).of(r); got != step.want {
			t.Fatalf("%s: %+v, want %+v", step.name, got, step.want)
		}
	}
}

// TestWhatIsReturnedIsFreeWhileMoreIsReserved: what one part of a work returns is free, although another part of it waits.
func TestWhatIsReturnedIsFreeWhileMoreIsReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.Bytes = memory.NewPool(100, 0)
		ctx, _ := begun(t, r, "a")
		if err := memory.Reserve(ctx, 60); err != nil {
			t.Fatal(err)
		}
		other := r.Bytes.Lease("b")
		defer other.End()
		if err := other.Try(50); err != nil {
			t.Fatal(err)
		}
		reserved := make(chan error, 1)
		go func() { reserved <- memory.Reserve(ctx, 20) }()
		synctest.Wait()
		memory.Return(ctx, 30)
		synctest.Wait()
		select {
		case err := <-reserved:
			if err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatal("it still waits for what the same work returned")
		}
		other.End()
		if got := r.Bytes.Held(); got != 60-30+20-10 { // but for the free part
			t.Errorf("%d held", got)
		}
	})
}

func TestAPartReturnsWhatItReserved(t *testing.T) {
	t.Parallel()
	r := newRoom()
	ctx, _ := begun(t, r, "a")
	in, end := memory.Part(ctx)
	for _, step := range []struct {
		name string
		do   func() error
		want int64 // bytes beyond the free ones
	}{
		{"before", func() error { return memory.Reserve(ctx, 15) }, 5},
		{"inside", func() error { return memory.Reserve(in, 20) }, 25},
		{"returned inside", func() error { memory.Return(in, 8); return nil }, 17},
		{"outside", func() error { return memory.Reserve(ctx, 3) }, 20},
		{"the end of the part", func() error { end(); return nil }, 8},
		{"once more", func() error { end(); return nil }, 8},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := r.Bytes.Held(); got != step.want {
			t.Fatalf("%s: %d, want %d", step.name, got, step.want)
		}
	}
}

func TestWithoutWorkNothingIsCharged(t *testing.T) {
	t.Parallel()
	ctx := memory.WithReads(t.Context(), 1)
	memory.Yield(ctx)
	memory.Return(ctx, 1)
	if err := errors.Join(memory.Reserve(ctx, 1<<40), memory.ReserveRead(ctx, 1<<40), memory.WaitTurn(ctx), memory.WaitWrites(ctx)); err != nil {
		t.Error(err)
	}
}

// TestWaitingForTheDiskTakesNoPlace: the place is given up and taken again, once.
func TestWaitingForTheDiskTakesNoPlace(t *testing.T) {
	t.Parallel()
	r := newRoom()
	ctx, w := begun(t, r, "a")
	resume, again := memory.Pause(ctx), memory.Pause(ctx)
	if r.Places.Held() != 0 {
		t.Error("the place is not given up")
	}
	again()
	resume()
	if r.Places.Held() != 1 {
		t.Errorf("%d places are taken", r.Places.Held())
	}
	memory.Yield(ctx)
	memory.Pause(ctx)()
	if r.Places.Held() != 0 {
		t.Error("a place is taken that was given up permanently")
	}
	w.End()
}

// TestWaitingForMemoryTakesNoPlace: other requests of the owner are handled meanwhile, which may have few places.
func TestWaitingForMemoryTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		filling := r.Bytes.Lease("other")
		if err := filling.Try(790); err != nil {
			t.Fatal(err)
		}
		ctx, w := begun(t, r, "a")
		got := make(chan error, 1)
		go func() { got <- memory.Reserve(ctx, 90) }()
		synctest.Wait()
		if held := (held{}).of(r); held.places != 1 {
			t.Errorf("memory was free, and %+v are held", held)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		blocked := r.Bytes.Lease("third")
		if err := blocked.Try(104); err != nil {
			t.Fatal(err)
		}
		waiting, late := begun(t, r, "b")
		go func() { got <- memory.Reserve(waiting, 90) }()
		synctest.Wait()
		if held := (held{}).of(r); held.places != 1 {
			t.Errorf("%+v are held; what waits for memory has no place", held)
		}
		blocked.End()
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if held := (held{}).of(r); held.places != 2 {
			t.Errorf("%+v are held; what has its memory continues with a place", held)
		}
		w.End()
		late.End()
		filling.End()
		if got := (held{}).of(r); got != (held{}) {
			t.Errorf("%+v are held at the end", got)
		}
	})
}

// TestWorkResumesBeforeOtherWorkBegins: half-done work of an owner continues first.
func TestWorkResumesBeforeOtherWorkBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		ctx, paused := begun(t, r, "a")
		resume := memory.Pause(ctx)
		later, pausedLater := begun(t, r, "a")
		resumeLater := memory.Pause(later)
		_, first := begun(t, r, "a")
		_, second := begun(t, r, "a")
		var order []string
		var all sync.WaitGroup
		all.Go(func() {
			next := r.Work("a")
			if err := next.Begin(t.Context()); err != nil {
				t.Error(err)
			}
			order = append(order, "begun")
			next.End()
		})
		synctest.Wait()
		all.Go(func() {
			resume()
			order = append(order, "resumed")
			paused.End()
		})
		synctest.Wait()
		all.Go(func() {
			resumeLater()
			order = append(order, "resumed later")
			pausedLater.End()
		})
		synctest.Wait()
		first.End()
		all.Wait()
		second.End()
		if !slices.Equal(order, []string{"resumed", "resumed later", "begun"}) {
			t.Errorf("in the order %v", order)
		}
	})
}

// TestWorkResumesAlthoughNoPlaceIsFree: it may hold what the work with a place waits for. Its place counts, so that no other work begins
// before two are free.
func TestWorkResumesAlthoughNoPlaceIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		ctx, paused := begun(t, r, "a")
		resume := memory.Pause(ctx)
		_, first := begun(t, r, "b")
		_, second := begun(t, r, "c")
		began := time.Now()
		resume()
		if waited := time.Since(began); waited != r.Patience || r.Places.Held() != 3 {
			t.Errorf("resumed after %v, %d places are taken", waited, r.Places.Held())
		}
		first.End()
		if next := r.Work("d"); !errors.Is(next.Begin(t.Context()), memory.ErrBusy) {
			t.Error("more work began than there are places")
		}
		second.End()
		paused.End()
		if r.Places.Held() != 0 {
			t.Errorf("%d places are taken at the end", r.Places.Held())
		}
	})
}

// TestAWorkThatResumesTwiceTakesOnePlace: two of its goroutines waited for the disk.
func TestAWorkThatResumesTwiceTakesOnePlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		ctx, w := begun(t, r, "a")
		resume, again := memory.Pause(ctx), memory.Pause(ctx)
		_, first := begun(t, r, "b")
		_, second := begun(t, r, "c")
		var resumed atomic.Int32
		var all sync.WaitGroup
		for _, resume := range []func(){resume, again} {
			all.Go(func() {
				resume()
				resumed.Add(1)
			})
		}
		synctest.Wait()
		if resumed.Load() != 0 {
			t.Error("one continued without a place")
		}
		first.End()
		all.Wait()
		if r.Places.Held() != 2 {
			t.Errorf("%d places are taken", r.Places.Held())
		}
		second.End()
		w.End()
	})
}

// TestWorkThatYieldsWhileItResumesHasNoPlace: another of its goroutines will wait for other machines, so the place is given up permanently.
func TestWorkThatYieldsWhileItResumesHasNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		ctx, w := begun(t, r, "a")
		resume := memory.Pause(ctx)
		_, first := begun(t, r, "b")
		_, second := begun(t, r, "c")
		var all sync.WaitGroup
		all.Go(resume)
		synctest.Wait()
		memory.Yield(ctx)
		first.End()
		all.Wait()
		_, third := begun(t, r, "d")
		began := time.Now()
		memory.Pause(ctx)()
		if waited := time.Since(began); waited != 0 || r.Places.Held() != 2 {
			t.Errorf("it waited %v for a place, %d are taken", waited, r.Places.Held())
		}
		second.End()
		third.End()
		w.End()
	})
}

// TestPatienceEnds: a request that waits longer than Patience is refused and holds nothing, and
// small requests are handled in the meantime.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		ctx, first := begun(t, r, "a")
		if err := memory.Reserve(ctx, 400); err != nil {
			t.Fatal(err)
		}
		for name, wait := range map[string]func(context.Context) error{
			"bytes": func(ctx context.Context) error { return memory.Reserve(ctx, 400) }, "a turn": memory.WaitTurn,
		} {
			before, began := (held{}).of(r), time.Now()
			ctx, w := begun(t, r, "b")
			if err := wait(ctx); !errors.Is(err, memory.ErrBusy) || time.Since(began) != r.Patience {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			if got := (held{}).of(r); got != before {
				t.Errorf("%s: %+v are held by what is refused, %+v before", name, got, before)
			}
			w.End()
			if got := (held{}).of(r); got != before {
				t.Errorf("%s: %+v are held, %+v before", name, got, before)
			}
		}
		small, w := begun(t, r, "b")
		if err := memory.Reserve(small, 100); err != nil {
			t.Errorf("a small request: %v", err)
		}
		w.End()
		first.End()
	})
}

// TestPlacesOfThoseWhoWaitForATurn: large requests that wait take no place from
// small ones.
func TestPlacesOfThoseWhoWaitForATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				ctx, w := begun(t, r, "a")
				defer w.End()
				if err := memory.WaitTurn(ctx); err == nil {
					time.Sleep(10 * time.Second) // in the bubble
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		_, w := begun(t, r, "b")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("a small request waited %v", waited)
		}
		w.End()
		all.Wait()
	})
}
