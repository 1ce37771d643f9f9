package audit_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/table"
)

// interrupted is a store in which something happens just before a mark is stored.
type interrupted struct {
	table.Store
	before func()
}

func (s *interrupted) Write(ctx context.Context, ops ...table.Op) error {
	if happens := s.before; happens != nil && strings.HasSuffix(table.KeyOf(ops[0]).Partition, "/marks") {
		s.before = nil
		happens()
	}
	return s.Store.Write(ctx, ops...)
}

// TestMarksMadeAtOnceKeepTheirOrder: while events are written, two readers make marks for
// nearby times, and the reader of the later time has read the feed first. A collector whose
// windows end at both times gets each event once.
func TestMarksMadeAtOnceKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{true, false} {
		w := newWorld(t)
		begin := w.clock.now().Add(-10 * time.Minute)
		first, second := w.clock.now().Add(time.Minute), w.clock.now().Add(2*time.Minute)
		mine, other := second, first
		if !later {
			mine, other = first, second
		}
		w.write(numbered(1, 10)...)
		store := &interrupted{Store: w.store}
		store.before = func() {
			w.write(numbered(11, 15)...)
			w.feed(audit.Query{Until: stamp(other)})
			w.write(numbered(16, 20)...)
		}
		if _, err := w.newLog(store, 0).Feed(t.Context(), teamID, audit.Query{Limit: 100, Until: stamp(mine)}); err != nil {
			t.Fatal(err)
		}
		w.clock.advance(time.Hour)
		var got []string
		ends := []time.Time{begin, first, second, w.clock.now()}
		for i := range ends[1:] {
			got = append(got, w.all(audit.Query{Since: stamp(ends[i]), Until: stamp(ends[i+1])})...)
		}
		if !slices.Equal(got, numbered(1, 20)) {
			t.Errorf("the later time is kept last: %t: windows have %v", later, got)
		}
	}
}

// TestOneReaderHidesNothingFromAnother: what one reader's window made, be its clock ahead or its window begin later, leaves out no event
// of another window.
func TestOneReaderHidesNothingFromAnother(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]struct {
		first  func(now time.Time) audit.Query // before the events 11 to 20
		second func(now time.Time) audit.Query // after them
	}{
		"the clock of another reader is ahead": {
			func(now time.Time) audit.Query { return audit.Query{Until: stamp(now.Add(4 * time.Minute))} },
			func(now time.Time) audit.Query { return audit.Query{Until: stamp(now.Add(time.Second))} },
		},
		"and its window has passed": {
			func(now time.Time) audit.Query { return audit.Query{Until: stamp(now.Add(4 * time.Minute))} },
			func(now time.Time) audit.Query { return audit.Query{Until: stamp(now.Add(3 * time.Minute))} },
		},
		"another window begins later": {
			func(now time.Time) audit.Query {
				return audit.Query{Since: stamp(now.Add(time.Minute)), Until: stamp(now.Add(2 * time.Minute))}
			},
			func(now time.Time) audit.Query { return audit.Query{Until: stamp(now.Add(30 * time.Second))} },
		},
	} {
		w := newWorld(t)
		w.write(numbered(1, 10)...)
		w.feed(read.first(w.clock.now()))
		w.write(numbered(11, 20)...)
		if got := w.all(read.second(w.clock.now())); !slices.Equal(got, numbered(1, 20)) {
			t.Errorf("%s: the second reader sees %v", name, got)
		}
	}
	// A window that begins looks back two minutes. One that ends just before it has those minutes nevertheless.
	w := newWorld(t)
	w.write(numbered(1, 10)...)
	w.clock.advance(3 * time.Second)
	at := w.clock.now()
	w.feed(audit.Query{Since: stamp(at), Until: "9999-12-31T00:00:00Z"})
	if got := w.all(audit.Query{Since: stamp(at.Add(-10 * time.Minute)), Until: stamp(at.Add(-time.Second))}); !slices.Equal(got, numbered(1, 10)) {
		t.Errorf("before a window that begins: %v", got)
	}
}

// TestTheMarkOfAnotherReaderRepeatsNothing: the mark of a reader whose clock is ahead lies between two ends of a collector's windows, and
// has fewer events than the earlier of them.
func TestTheMarkOfAnotherReaderRepeatsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := w.clock.now().Add(-10 * time.Minute)
	w.write(numbered(1, 10)...)
	w.feed(audit.Query{Until: stamp(w.clock.now().Add(2 * time.Minute))})
	fast := w.newLog(w.store, 4*time.Minute)
	for _, id := range numbered(11, 20) {
		if err := fast.Write(t.Context(), teamID, []audit.Event{about(id)}, thing(id)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, end := range []time.Time{w.clock.now().Add(time.Minute), w.clock.now().Add(3 * time.Minute), w.clock.now().Add(time.Hour)} {
		got = append(got, w.all(audit.Query{Since: stamp(begin), Until: stamp(end)})...)
		w.clock.advance(3 * time.Minute)
		begin = end
	}
	if !slices.Equal(got, numbered(1, 20)) {
		t.Errorf("windows have %v", got)
	}
}
