package source_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/search"
	"docent/shared/source"
)

// failing is a provider of one part with three items on one page, of which some cannot be read.
type failing struct {
	broken map[string]bool // uris
	text   string
	reader string
	before [][]string // Access.Failed of each reading
}

func (f *failing) Parts(source.Settings) []string { return []string{"a"} }

func (f *failing) Retries() {}

func (f *failing) PartContains(source.Settings, string, string) bool { return true }

func (f *failing) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

func (f *failing) Read(_ context.Context, a source.Access, _ string, _ []byte) iter.Seq2[source.SyncPage, error] {
	f.before = append(f.before, a.Failed)
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		page := source.SyncPage{Last: true, Checkpoint: []byte("{}")}
		for _, uri := range uris("a", 3) {
			i := source.Item{URI: uri, Title: uri, Body: f.text, SourceType: "documentation", Access: &access.Names{Users: []string{f.reader}, Groups: []string{}}}
			if f.broken[uri] {
				err := error(&source.SyncError{Code: source.Unreadable, Detail: "Broken."})
				if !a.LeavesOut(uri, err) {
					return err
				}
				page.Failed, i.KeepBody = append(page.Failed, source.FailedAgain(uri, "broken")), true
			}
			page.Items = append(page.Items, i)
		}
		yield(page)
		return nil
	})
}

// TestAnItemThatFailsIsLeftOutByTheNextSync: what is stored of it keeps its text and gets its new readers, and it is known in a full scan
// as well.
func TestAnItemThatFailsIsLeftOutByTheNextSync(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	f := &failing{broken: map[string]bool{}, text: "First.", reader: "ada"}
	c := l.syncer.Connections["shelf"]
	c.Connector = f
	l.syncer.Connections["shelf"] = c
	stored := func() (out []string) {
		t.Helper()
		for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
			if err != nil {
				t.Fatal(err)
			}
			found, err := l.syncer.Documents.Find(t.Context(), l.team, []string{e.ID}, true)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(e.URI[len("https://shelf.test/"):], " ", found[e.ID].Excerpt, e.Access.Names().Users))
		}
		slices.Sort(out)
		return out
	}
	two := "https://shelf.test/a/2"
	for n, tt := range []struct {
		broken       bool
		text, reader string
		after        time.Duration
		code         string
		want, before []string
	}{
		{true, "First.", "ada", 0, source.Unreadable, nil, nil},
		{true, "First.", "ada", time.Hour, source.ItemRejected, []string{"a/1 First.[ada]", "a/3 First.[ada]"}, []string{two}},
		{false, "First.", "ada", time.Hour, "", []string{"a/1 First.[ada]", "a/2 First.[ada]", "a/3 First.[ada]"}, []string{two}},
		{true, "Second.", "eve", time.Hour, source.Unreadable, []string{"a/1 First.[ada]", "a/2 First.[ada]", "a/3 First.[ada]"}, nil},
		{true, "Second.", "eve", 25 * time.Hour, source.ItemRejected, []string{"a/1 Second.[eve]", "a/2 First.[eve]", "a/3 Second.[eve]"}, []string{two}},
		{true, "Second.", "eve", 25 * time.Hour, source.ItemRejected, []string{"a/1 Second.[eve]", "a/2 First.[eve]", "a/3 Second.[eve]"}, []string{two}},
		{false, "Second.", "eve", time.Hour, "", []string{"a/1 Second.[eve]", "a/2 Second.[eve]", "a/3 Second.[eve]"}, []string{two}},
		{false, "Second.", "eve", time.Hour, "", []string{"a/1 Second.[eve]", "a/2 Second.[eve]", "a/3 Second.[eve]"}, nil},
	} {
		f.broken[two], f.text, f.reader = tt.broken, tt.text, tt.reader
		l.clock.Advance(tt.after)
		l.mustSync()
		if got := stored(); code(l.shown()) != tt.code || !slices.Equal(got, tt.want) || !slices.Equal(f.before[len(f.before)-1], tt.before) {
			t.Errorf("%d: %q %q, failed before: %q", n, code(l.shown()), got, f.before[len(f.before)-1])
		}
	}
}

// TestOnlyFailuresOfOneItemAreRemembered: a rate limit, or a token that is rejected, is about all.
func TestOnlyFailuresOfOneItemAreRemembered(t *testing.T) {
	t.Parallel()
	a := source.Access{Failed: []string{"x"}}
	for _, e := range []*source.SyncError{{Code: source.RateLimited, RetryAt: time.Now(), AllParts: true}, {Code: source.Unauthorized},
		{Code: source.Unauthorized, AllParts: true}, {Code: source.Unreadable, RetryAt: time.Now()}, {Code: source.Blocked, AllParts: true}} {
		if a.LeavesOut("x", e) || e.URI != "" {
			t.Errorf("%+v", e)
		}
	}
	if e := (&source.SyncError{Code: source.Refused}); a.LeavesOut("y", e) || e.URI != "y" || !a.LeavesOut("x", e) {
		t.Errorf("%+v", e)
	}
}
