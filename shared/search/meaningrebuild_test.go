package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/clocktest"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/search"
)

// servers publishes n documents by words that only the meaning of "proxy" finds.
func servers(t testing.TB, x *search.Index, lib *library, n int) {
	t.Helper()
	for i := range n {
		publish(t, x, lib, doc("wiki", fmt.Sprint("t", i), "nginx", 1))
	}
}

// withModel returns x with a model.
func withModel(x *search.Index, e *topics) *search.Index {
	x = again(x, 0)
	x.Embedder, x.Model = e, e.Model()
	return x
}

// plan plans what is to be rebuilt.
func plan(t testing.TB, x *search.Index) *search.Rebuilder {
	t.Helper()
	if err := x.PlanRebuilds(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	return rebuilder(x)
}

func wantByMeaning(t testing.TB, x *search.Index, want int) {
	t.Helper()
	if titles, _ := ask(t, x, search.Query{Text: "proxy", Limit: 50}); len(titles) != want {
		t.Errorf("found %d documents by meaning, want %d", len(titles), want)
	}
}

func TestDocumentsFromBeforeTheModelGetVectors(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	servers(t, x, lib, 7)
	e := &topics{name: "topics"}
	x = withModel(x, e)
	wantByMeaning(t, x, 0)
	rebuild(t, plan(t, x))
	wantByMeaning(t, x, 7)
	if rebuild(t, plan(t, x)); e.made != 7+2 {
		t.Errorf("made %d vectors of 7 passages and 2 questions", e.made)
	}
}

func TestDocumentsPutWithoutTheModelGetVectorsLater(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "before", "nginx", 1))
	merge(t, x)
	rebuild(t, rebuilder(x))
	x = again(x, 0)
	x.Embedder, x.Model.Name = nil, ""
	publish(t, x, lib, doc("wiki", "without", "nginx", 1))
	merge(t, x)
	x = withModel(x, e)
	rebuild(t, plan(t, x))
	wantByMeaning(t, x, 2)
}

func TestAnotherModelMakesAllVectorsAgain(t *testing.T) {
	t.Parallel()
	x, lib, _ := newMeaningIndex(t)
	for i := range 5 {
		publishBoth(t, x, lib, doc("wiki", fmt.Sprint("t", i), "nginx", 1))
	}
	x = withModel(x, &topics{name: "another"})
	x.OnFault = func(_ context.Context, err error) { t.Errorf("reported %v", err) }
	wantByMeaning(t, x, 0)
	if titles, _ := ask(t, x, search.Query{Text: "nginx"}); len(titles) != 5 {
		t.Errorf("found %d by words", len(titles))
	}
	rebuild(t, plan(t, x))
	wantByMeaning(t, x, 5)
	if got := outdated(t, x); got["of another model"] != 0 {
		t.Errorf("segments: %v", got)
	}
}

func TestDamagedVectorsAreMadeAgain(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	faults := 0
	x.OnFault = func(context.Context, error) { faults++ }
	for i := range 3 {
		publishBoth(t, x, lib, doc("wiki", fmt.Sprint("t", i), "nginx", 1))
	}
	spoilUnder(t, x, "vectors/")
	x = withModel(x, e)
	wantByMeaning(t, x, 0)
	if titles, _ := ask(t, x, search.Query{Text: "nginx"}); len(titles) != 3 || faults == 0 {
		t.Errorf("found %d by words, %d faults", len(titles), faults)
	}
	for range 10 { // until a merge meets the damage
		publishBoth(t, x, lib, doc("wiki", "t0", "nginx", 2))
	}
	merge(t, x)
	rebuild(t, plan(t, x))
	wantByMeaning(t, x, 3)
}

// TestVectorsAreMadeWhereverItStops makes every call of a scan for documents without vectors fail
// in every way, and ends the process before and after every call.
func TestVectorsAreMadeWhereverItStops(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*search.Index, *faulttest.Plan, *clocktest.Clock) {
		x, lib, clock := newIndex(t)
		x.Embedder = &topics{name: "old"}
		x.Model = x.Embedder.Model()
		for i := range 2 {
			publishBoth(t, x, lib, doc("wiki", fmt.Sprint("old", i), "nginx", 1))
		}
		servers(t, x, lib, 3)
		x = withModel(x, &topics{name: "topics"})
		plan(t, x)
		p := &faulttest.Plan{}
		x.Table, x.Blobs = faulttest.Table{Store: x.Table, Plan: p}, faulttest.Blob{Store: x.Blobs, Plan: p}
		return x, p, clock
	}
	work := func(t *testing.T, x *search.Index) error {
		works, err := x.PendingRebuilds(t.Context(), team)
		for _, w := range works {
			if err == nil {
				_, err = rebuilder(x).SliceOf(1).Run(t.Context(), w)
			}
		}
		return err
	}
	x, p, _ := start(t)
	p.Watch()
	if err := work(t, x); err != nil {
		t.Fatal(err)
	}
	calls := p.Seen()
	p.Disarm()
	wantByMeaning(t, x, 5)
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			t.Run(fmt.Sprintf("%d %s %s", at+1, name, mode), func(t *testing.T) {
				t.Parallel()
				x, p, clock := start(t)
				p.Arm(mode, at+1)
				first := work(t, x)
				if p.Disarm() == "" {
					t.Fatal("nothing went wrong")
				}
				clock.Advance(3 * time.Minute) // past the lease of the stopped worker
				if err := work(t, x); err != nil {
					t.Fatalf("after %v: %v", first, err)
				}
				wantByMeaning(t, x, 5)
				if left := works(t, x); len(left) > 0 {
					t.Errorf("after %v still planned: %v", first, left)
				}
			})
		}
	}
}

// TestVectorsOfAnotherSizeAreMadeAgain: the same model can be asked for vectors of another size. They are never compared, and
// stand in the way of no merge.
func TestVectorsOfAnotherSizeAreMadeAgain(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	sized := func(size int) *search.Index {
		y := again(x, 0)
		y.Embedder = embedtest.New(embed.Model{Name: "words", Size: size})
		y.Model = y.Embedder.Model()
		return y
	}
	x = sized(128)
	for i := range 12 {
		publishBoth(t, x, lib, doc("wiki", fmt.Sprint("old", i), "the zebra eats grass", 1))
		if i == 7 {
			x = sized(64)
		}
	}
	for range 2 {
		merge(t, x)
	}
	rebuild(t, rebuilder(x))
	merge(t, x)
	_, r := ask(t, x, search.Query{Text: "zebra grass", Limit: 20, Explain: true})
	if len(r.Hits) != 12 {
		t.Errorf("found %d", len(r.Hits))
	}
	for _, h := range r.Hits {
		if h.Explanation.Cosine == nil {
			t.Errorf("%s has no vector of this size", h.Title)
		}
	}
	if got := outdated(t, x); len(got) != 1 || got[""] == 0 {
		t.Errorf("segments: %v", got)
	}
}
