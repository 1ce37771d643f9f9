package source_test

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/search"
	"docent/shared/source"
)

// closing is a shelf whose part b gets readers, once, before it is read.
type closing struct {
	*shelf
	readers *access.Names
	narrow  bool
}

func (p *closing) Read(ctx context.Context, a source.Access, part string, checkpoint []byte) iter.Seq2[source.SyncPage, error] {
	return func(yield func(source.SyncPage, error) bool) {
		closed := []byte(`{"Done":true,"Closed":true}`)
		if part == "b" && bytes.Equal(checkpoint, closed) {
			p.readers = nil
		}
		if part == "b" && p.readers != nil {
			if !yield(source.SyncPage{Readers: p.readers, Narrow: p.narrow, Checkpoint: closed}, nil) {
				return
			}
			checkpoint = closed
		}
		p.shelf.Read(ctx, a, part, checkpoint)(yield)
	}
}

func newClosing(t *testing.T) (*library, *closing) {
	t.Helper()
	p := &closing{shelf: newShelf()}
	l := newLibrary(t, p.shelf)
	c := l.syncer.Connections["shelf"]
	c.Connector = p
	l.syncer.Connections["shelf"] = c
	return l, p
}

// TestAllItemsOfAPartGetNewReaders before anything else of it is read, also if the process ends at any call of the store.
func TestAllItemsOfAPartGetNewReaders(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, arm func(*library)) *library {
		t.Helper()
		l, p := newClosing(t)
		l.mustSync()
		p.readers = &access.Names{Users: []string{"ada"}, Groups: []string{}}
		l.clock.Advance(20 * time.Minute)
		arm(l)
		_ = l.sync()
		l.plan.Disarm()
		return l
	}
	check := func(t *testing.T, l *library, what string) {
		t.Helper()
		for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
			if err != nil {
				t.Fatal(err)
			}
			if n := e.Access.Names(); (n != nil && slices.Equal(n.Users, []string{"ada"})) != (e.URI[len("https://shelf.test/")] == 'b') {
				t.Errorf("%s: %s is read by %v", what, e.URI, n)
			}
		}
		l.wantItems(everything...)
	}
	l := run(t, func(l *library) { l.plan.Watch() })
	check(t, l, "without a kill")
	calls := l.plan.Seen()
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			l := run(t, func(l *library) { l.plan.Arm(mode, at+1) })
			for range 2 {
				l.clock.Advance(5 * time.Minute)
				_ = l.sync()
			}
			check(t, l, name)
		}
	}
	t.Logf("%d calls", len(calls))
}

// TestNarrowReadersAreThoseThatStay: nobody gets to read an item by it.
func TestNarrowReadersAreThoseThatStay(t *testing.T) {
	t.Parallel()
	l, p := newClosing(t)
	l.mustSync()
	for _, tt := range []struct {
		readers []string
		narrow  bool
		want    []string
	}{
		{[]string{"ada", "ben"}, true, []string{"ada", "ben"}}, // everybody before
		{[]string{"ben", "eve"}, true, []string{"ben"}},
		{[]string{"ada", "ben", "eve"}, true, []string{"ben"}},
		{[]string{"ada", "eve"}, false, []string{"ada", "eve"}},
		{[]string{}, true, []string{}},
	} {
		p.readers, p.narrow = &access.Names{Users: tt.readers, Groups: []string{}}, tt.narrow
		l.clock.Advance(20 * time.Minute)
		l.mustSync()
		for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
			if err != nil {
				t.Fatal(err)
			}
			if n := e.Access.Names(); e.URI == "https://shelf.test/b/2" && (n == nil || !slices.Equal(n.Users, tt.want)) {
				t.Errorf("%+v: read by %v", tt, n)
			}
		}
	}
}
