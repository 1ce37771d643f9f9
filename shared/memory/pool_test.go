package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"docent/shared/memory"
)

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestAPoolIsFilledExactly(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(100, 0)
	first, second := p.Lease("a"), p.Lease("b")
	if err := first.Try(60); err != nil {
		t.Fatal(err)
	}
	if err := second.Try(41); !errors.Is(err, memory.ErrBusy) {
		t.Errorf("one unit too many: %v", err)
	}
	if err := second.Take(ended(t), 41); !errors.Is(err, memory.ErrBusy) {
		t.Errorf("one unit too many, waiting: %v", err)
	}
	if err := second.Take(ended(t), 40); err != nil {
		t.Errorf("exactly what is left: %v", err)
	}
	first.Shrink(10)
	if err := second.Try(50); err != nil || p.Held() != 100 {
		t.Errorf("what was given back: %v, %d held", err, p.Held())
	}
	first.End()
	second.End()
	if p.Held() != 0 {
		t.Errorf("%d held in the end", p.Held())
	}
}

// TestAnOwnerLeavesRoom: a single owner gets at most four fifths of a pool with share 4. However
// many owners take as much as they can, another one still gets some.
func TestAnOwnerLeavesRoom(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(1000, 4)
	var leases []*memory.Lease
	for n := range 3 {
		l := p.Lease(fmt.Sprint(n))
		leases = append(leases, l)
		got := int64(0)
		for l.Try(1) == nil && l.Held() > got {
			got = l.Held()
		}
		if n == 0 && got != 800 {
			t.Errorf("the first owner got %d of 1000", got)
		}
		if got == 0 {
			t.Errorf("owner %d got nothing", n)
		}
	}
	for _, l := range leases {
		l.End()
	}
}

// TestSmallOwnersAreServedFromTheSpare: a full pool serves only owners that hold less than the
// floor.
func TestSmallOwnersAreServedFromTheSpare(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(2, 0).WithSpare(2, 1)
	var leases []*memory.Lease
	for _, step := range []struct {
		owner string
		ok    bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", true}, {"d", false}} {
		l := p.Lease(step.owner)
		leases = append(leases, l)
		if err := l.Take(ended(t), 1); (err == nil) != step.ok {
			t.Errorf("one more of %s: %v", step.owner, err)
		}
	}
	for _, l := range leases {
		l.End()
	}
	if p.Held() != 0 {
		t.Errorf("%d held in the end", p.Held())
	}
}

func TestMoreThanAShareIsAllOfIt(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(1000, 4)
	l := p.Lease("a")
	if err := l.Take(ended(t), 5000); err != nil || l.Held() != 800 {
		t.Errorf("%d held, %v", l.Held(), err)
	}
	if err := l.Take(ended(t), 1); err != nil || l.Held() != 800 {
		t.Errorf("%d held after one more, %v", l.Held(), err)
	}
}

// TestTheOwnerThatHoldsLeastIsServedFirst, even if its request is the last one.
func TestTheOwnerThatHoldsLeastIsServedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := memory.NewPool(1, 0)
		held := p.Lease("busy")
		if err := held.Try(1); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		wait := func(name string) {
			all.Go(func() {
				l := p.Lease(name)
				if err := l.Take(t.Context(), 1); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				l.End()
			})
			synctest.Wait()
		}
		for range 3 {
			wait("busy")
		}
		wait("quiet")
		wait("other")
		held.End()
		all.Wait()
		if want := []string{"quiet", "other", "busy", "busy", "busy"}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
	})
}

// TestASmallRequestPassesALargeOne: with a floor, a small request does not wait behind a large
// one of any owner.
func TestASmallRequestPassesALargeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := memory.NewPool(100, 0).WithSpare(10, 5)
		held := p.Lease("holder")
		if err := held.Try(90); err != nil {
			t.Fatal(err)
		}
		large := p.Lease("a")
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if err := large.Take(t.Context(), 50); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		for _, owner := range []string{"a", "b"} {
			if err := p.Lease(owner).Take(ended(t), 5); err != nil {
				t.Errorf("5 units of %s: %v", owner, err)
			}
			if err := p.Lease(owner).Take(ended(t), 1); err == nil {
				t.Errorf("%s got more than the floor before the large one", owner)
			}
		}
		held.End()
		waiting.Wait()
		if large.Held() != 50 {
			t.Errorf("the large one holds %d in the end", large.Held())
		}
	})
}

// TestALargeRequestIsServed, although small requests keep arriving after it.
func TestALargeRequestIsServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := memory.NewPool(100, 0)
		held, large := p.Lease("a"), p.Lease("b")
		if err := held.Try(60); err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- large.Take(t.Context(), 90) }()
		synctest.Wait()
		if err := p.Lease("c").Try(10); !errors.Is(err, memory.ErrBusy) {
			t.Errorf("a small one came first: %v", err)
		}
		held.End()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestALeaseThatHasEndedTakesNothing(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(100, 0)
	l := p.Lease("a")
	l.End()
	if err := l.Try(10); err != nil || p.Held() != 0 {
		t.Errorf("%v, %d held", err, p.Held())
	}
}

// TestNothingIsLost: however requests take, shrink, end and give up waiting, the pool never hands
// out more than its size, and at the end everything is returned.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.Int64Range(1, 50).Draw(r, "size")
		p := memory.NewPool(size, rapid.Int64Range(0, 4).Draw(r, "share"))
		var leases []*memory.Lease
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			switch step := rapid.IntRange(0, 3).Draw(r, "step"); {
			case step == 0 || len(leases) == 0:
				leases = append(leases, p.Lease(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "owner")))
			default:
				l := rapid.SampledFrom(leases).Draw(r, "lease")
				n := rapid.Int64Range(0, 60).Draw(r, "n")
				switch step {
				case 1:
					_ = l.Try(n)
				case 2:
					_ = l.Take(ended(t), n)
				case 3:
					l.Shrink(n)
				}
			}
			sum := int64(0)
			for _, l := range leases {
				sum += l.Held()
			}
			if p.Held() != sum || sum > size {
				r.Fatalf("%d held of %d, %d in leases", p.Held(), size, sum)
			}
		}
		for _, l := range leases {
			l.End()
		}
		if p.Held() != 0 {
			r.Fatalf("%d held in the end", p.Held())
		}
	})
}

func TestAPoolIsWholeAfterARace(t *testing.T) {
	t.Parallel()
	p := memory.NewPool(100, 4)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			for step := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if step%3 == 0 {
					go cancel()
				}
				l := p.Lease(fmt.Sprint("owner", n%4))
				_ = l.Take(ctx, int64(1+step%30))
				if held := p.Held(); held > 100 {
					t.Errorf("%d held of 100", held)
				}
				l.End()
				cancel()
			}
		})
	}
	all.Wait()
	if p.Held() != 0 {
		t.Errorf("%d held in the end", p.Held())
	}
}
