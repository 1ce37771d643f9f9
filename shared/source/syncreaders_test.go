package source_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/filter"
	"docent/shared/search"
	"docent/shared/source"
)

// closing is a shelf whose part b gets readers, once, before it is read.
type closing struct {
	*shelf
	readers *access.Names
	narrow  bool
	marked  string
}

func (p *closing) Read(ctx context.Context, a source.Access, part string, checkpoint []byte) iter.Seq2[source.SyncPage, error] {
	return func(yield func(source.SyncPage, error) bool) {
		closed := []byte(`{"Done":true,"Closed":true}`)
		if part == "b" && bytes.Equal(checkpoint, closed) {
			p.readers = nil
		}
		if part == "b" && p.readers != nil {
			if !yield(source.SyncPage{Readers: p.readers, Narrow: p.narrow, Marked: p.marked, Checkpoint: closed}, nil) {
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

// TestNarrowReadersOfMarkedItems: what is not marked keeps its readers, and so does what is marked with something else.
func TestNarrowReadersOfMarkedItems(t *testing.T) {
	t.Parallel()
	l, p := newClosing(t)
	p.made = func(i *source.Item) {
		i.Access = &access.Names{Users: []string{"ada", "ben"}, Groups: []string{}}
		i.Metadata = map[string]filter.Metadata{"https://shelf.test/b/1": {"secret": filter.Bool(true)}, "https://shelf.test/b/2": {"secret": filter.Bool(false)},
			"https://shelf.test/b/3": {"secret": filter.Text("true")}, "https://shelf.test/a/1": {"secret": filter.Bool(true)}}[i.URI]
	}
	l.mustSync()
	p.readers, p.narrow, p.marked = &access.Names{Users: []string{"ben", "eve"}, Groups: []string{}}, true, "secret"
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"ada", "ben"}
		if e.URI == "https://shelf.test/b/1" {
			want = []string{"ben"}
		}
		if n := e.Access.Names(); n == nil || !slices.Equal(n.Users, want) {
			t.Errorf("%s is read by %v, want %q", e.URI, n, want)
		}
	}
	p.made, p.readers, p.marked = nil, &access.Names{Users: []string{"eve"}, Groups: []string{}}, "" // the mark is not kept
	p.narrow = false
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
		if err != nil {
			t.Fatal(err)
		}
		if n := e.Access.Names(); strings.HasPrefix(e.URI, "https://shelf.test/b/") && (n == nil || !slices.Equal(n.Users, []string{"eve"})) {
			t.Errorf("%s is read by %v later", e.URI, n)
		}
	}
}

// TestItemsOfAPartThatIsNotShownAreHidden after an hour, also if the process ends at any call of the store, and until the part is shown again.
func TestItemsOfAPartThatIsNotShownAreHidden(t *testing.T) {
	t.Parallel()
	hidden := func() error {
		return fmt.Errorf("%w: %w", source.ErrPartHidden, &source.SyncError{Code: source.NotThere, Detail: "It is not there."})
	}
	// fail syncs after a time, in which part a is not shown.
	fail := func(l *library, after time.Duration) {
		l.clock.Advance(after)
		l.shelf.at["a 0"] = hidden
		_ = l.sync()
	}
	check := func(t *testing.T, l *library, what string, want bool) {
		t.Helper()
		for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
			if err != nil {
				t.Fatal(err)
			}
			closed := e.Access != nil && len(e.Access.Users)+len(e.Access.Groups) == 0
			if closed != (want && strings.HasPrefix(e.URI, "https://shelf.test/a/")) {
				t.Errorf("%s: %s is hidden: %t", what, e.URI, closed)
			}
		}
		l.wantItems(everything...)
	}
	run := func(t *testing.T, arm func(*library)) *library {
		l := newLibrary(t, newShelf())
		l.mustSync()
		fail(l, 20*time.Minute)
		fail(l, 50*time.Minute)
		check(t, l, "within an hour", false)
		arm(l)
		fail(l, 20*time.Minute)
		l.plan.Disarm()
		return l
	}
	l := run(t, func(l *library) { l.plan.Watch() })
	check(t, l, "after an hour", true)
	if d := l.shown(); d.State != source.Failed || code(d) != source.NotThere {
		t.Errorf("shown %+v", d)
	}
	calls := l.plan.Seen()
	fail(l, 20*time.Minute) // once more changes nothing
	check(t, l, "later", true)
	l.shelf.asked = nil
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	check(t, l, "shown again", false)
	if !slices.Contains(l.shelf.asked, "a 6") {
		t.Errorf("shown again, %q was read", l.shelf.asked)
	}
	fail(l, 20*time.Minute) // the time begins anew
	check(t, l, "not shown again", false)
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			l := run(t, func(l *library) { l.plan.Arm(mode, at+1) })
			for range 2 {
				fail(l, 5*time.Minute)
			}
			check(t, l, name, true)
		}
	}
	t.Logf("%d calls", len(calls))
}
