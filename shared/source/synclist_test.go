package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/source"
)

// listing is a shelf that lists its parts.
type listing struct {
	*shelf
	listed []string
	most   int      // on a page
	gone   []string // parts that are no longer there
}

func (p *listing) Parts(s source.Settings) []string {
	if list := s.List("parts"); list != nil {
		return list
	}
	return []string{source.PartList}
}

func (p *listing) PartContains(s source.Settings, part, uri string) bool {
	return part == source.PartList || p.shelf.PartContains(s, part, uri)
}

func (p *listing) Read(ctx context.Context, a source.Access, part string, checkpoint []byte) iter.Seq2[source.SyncPage, error] {
	if part != source.PartList {
		if slices.Contains(p.gone, part) {
			err := source.ErrPartGone
			if a.Settings.List("parts") != nil {
				err = fmt.Errorf("%w: %w", source.ErrPartGone, &source.SyncError{Code: source.NotThere, Detail: "It is hidden."})
			}
			return func(yield func(source.SyncPage, error) bool) { yield(source.SyncPage{}, err) }
		}
		return p.shelf.Read(ctx, a, part, checkpoint)
	}
	return source.Pages(func(page func(source.SyncPage) bool) error {
		var next int
		if checkpoint != nil && json.Unmarshal(checkpoint, &next) != nil {
			panic("an invalid checkpoint")
		}
		for {
			p.asked = append(p.asked, part)
			end := min(next+p.most, len(p.listed))
			out := source.SyncPage{Parts: p.listed[next:end], Last: end == len(p.listed)}
			if next = end; out.Last {
				next = 0
			}
			out.Checkpoint, _ = json.Marshal(next)
			if !page(out) || out.Last {
				return nil
			}
		}
	})
}

func newListing(t *testing.T) (*library, *listing) {
	t.Helper()
	p := &listing{shelf: newShelf(), listed: []string{"a"}, most: 2}
	l := newLibrary(t, p.shelf)
	c := l.syncer.Connections["shelf"]
	c.Connector = p
	l.syncer.Connections["shelf"] = c
	return l, p
}

func TestListedPartsAreReadUntilTheyAreGone(t *testing.T) {
	t.Parallel()
	a, b := everything[:7], everything[7:]
	l, p := newListing(t)
	step := func(what string, items []string, asked ...string) {
		t.Helper()
		p.asked = nil
		l.clock.Advance(20 * time.Minute)
		l.mustSync()
		l.wantItems(items...)
		if !slices.Equal(p.asked, asked) {
			t.Errorf("%s: asked for %q, want %q", what, p.asked, asked)
		}
		if d := l.shown(); d.State != source.Ready || d.LastError != nil {
			t.Errorf("%s: %+v %+v", what, d, d.LastError)
		}
	}
	step("first", a, source.PartList, "a 0", "a 3", "a 6")
	p.listed = []string{"empty", "a", "b"}
	step("a new part", everything, source.PartList, source.PartList, "a 0", "b 0", "b 3", "empty 0")
	p.listed = []string{"b"}
	step("no longer listed, but there", everything, source.PartList, "a 0", "b 0", "empty 0")
	p.gone = []string{"a"}
	step("gone", b, source.PartList, "b 0", "empty 0")
	if left := l.left(); slices.ContainsFunc(left, func(key string) bool { return strings.HasPrefix(key, "part#a") || strings.HasPrefix(key, "seen#a") }) {
		t.Errorf("left: %q", left)
	}
	p.gone, p.listed = nil, []string{"a", "b"}
	step("back", everything, source.PartList, "a 0", "a 3", "a 6", "b 0", "empty 0")
	l.clock.Advance(25 * time.Hour)
	step("full scan", everything, source.PartList, "a 0", "a 3", "a 6", "b 0", "b 3", "empty 0")
}

func TestChoosingPartsKeepsWhatWasListed(t *testing.T) {
	t.Parallel()
	l, p := newListing(t)
	p.listed = []string{"a", "b"}
	l.mustSync()
	choose := func(parts string, items []string, asked ...string) {
		t.Helper()
		c := source.Change{Settings: settings(parts)}
		if parts == "{}" {
			c.Without = []string{"parts"}
		}
		l.mustChange(c)
		p.asked = nil
		l.clock.Advance(time.Minute)
		l.mustSync()
		l.wantItems(items...)
		if !slices.Equal(p.asked, asked) {
			t.Errorf("%s: asked for %q, want %q", parts, p.asked, asked)
		}
	}
	choose(`{"parts":["b"]}`, everything[7:], "b 0")
	choose(`{}`, everything, source.PartList, "a 0", "a 3", "a 6", "b 0")
	p.listed = []string{"a"}
	choose(`{"parts":["c"]}`, nil, "c 0")
	p.changed["c"] = uris("c", 2)
	choose(`{"parts":["c","a"]}`, append(slices.Clone(everything[:7]), "c/1", "c/2"), "c 0", "a 0", "a 3", "a 6")
	p.asked = nil
	choose(`{}`, everything[:7], source.PartList, "a 0") // c is not among those that are listed
}

// TestAChosenPartThatIsGoneIsRemoved: the source says why, and reads it again when it is back.
func TestAChosenPartThatIsGoneIsRemoved(t *testing.T) {
	t.Parallel()
	l, p := newListing(t)
	p.listed = []string{"a", "b"}
	l.mustSync()
	l.mustChange(source.Change{Settings: settings(`{"parts":["a","b"]}`)})
	for _, step := range []struct {
		what  string
		gone  []string
		later time.Duration
		items []string
		code  string
	}{
		{what: "there", items: everything},
		{what: "gone", gone: []string{"a"}, items: everything[7:], code: source.NotThere},
		{what: "gone still", gone: []string{"a"}, items: everything[7:], code: source.NotThere},
		{what: "back", items: everything},
		{what: "gone at a full scan", gone: []string{"a"}, later: 25 * time.Hour, items: everything[7:], code: source.NotThere},
	} {
		p.gone = step.gone
		l.clock.Advance(20*time.Minute + step.later)
		l.mustSync()
		l.wantItems(step.items...)
		if got := code(l.shown()); got != step.code {
			t.Errorf("%s: the source shows %q, want %q", step.what, got, step.code)
		}
	}
}

func TestAFailedListStopsNoPart(t *testing.T) {
	t.Parallel()
	l, p := newListing(t)
	l.mustSync()
	p.listed, p.most = uris("more", source.MaxParts), source.MaxParts
	p.changed["a"] = uris("a", 8)[7:]
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	l.wantItems(append(slices.Clone(everything[:7]), "a/8")...)
	if d := l.shown(); code(d) != source.TooLarge {
		t.Errorf("%+v", d.LastError)
	}
}

// TestListedPartsSurviveAKillAtEachCall ends the process before and after each call of the
// store, while parts are listed, read and removed.
func TestListedPartsSurviveAKillAtEachCall(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, arm func(*library)) (*library, *listing) {
		t.Helper()
		l, p := newListing(t)
		p.listed = []string{"a"}
		l.mustSync()
		p.listed, p.gone = []string{"c", "b", "d"}, []string{"a"}
		p.parts["c"] = uris("c", 4)
		l.clock.Advance(20 * time.Minute)
		arm(l)
		_ = l.sync()
		return l, p
	}
	count, _ := run(t, func(l *library) { l.plan.Watch() })
	calls := count.plan.Seen()
	kills := 0
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			kills++
			l, _ := run(t, func(l *library) { l.plan.Arm(mode, at+1) })
			l.plan.Disarm()
			for range 3 {
				l.clock.Advance(5 * time.Minute)
				_ = l.sync()
			}
			l.wantItems("b/1", "b/2", "b/3", "b/4", "c/1", "c/2", "c/3", "c/4")
			if left := l.left(); slices.ContainsFunc(left, func(key string) bool { return strings.HasPrefix(key, "part#a") || strings.HasPrefix(key, "seen#a") }) {
				t.Errorf("%s of call %d (%s) left %q", mode, at+1, name, left)
			}

			l, p := run(t, func(l *library) { l.plan.Arm(mode, at+1) }) // and the part is back before it was removed completely
			l.plan.Disarm()
			p.gone, p.listed = nil, append(p.listed, "a")
			for range 3 {
				l.clock.Advance(5 * time.Minute)
				_ = l.sync()
			}
			l.wantItems(append(slices.Clone(everything), "c/1", "c/2", "c/3", "c/4")...)
		}
	}
	t.Logf("%d kills", kills)
}
