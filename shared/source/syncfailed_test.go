package source_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/access"
	"docent/shared/search"
	"docent/shared/source"
)

// failing is a provider of parts with items on one page, of which some cannot be read.
type failing struct {
	parts  int              // 0: one
	items  int              // 0: three
	broken map[string]bool  // uris
	hangs  map[string]bool  // uris of those that are never returned
	during func(uri string) // called with each request
	text   string
	reader string
	before [][]string // Access.Failed of each reading
}

func (f *failing) Parts(source.Settings) []string { return []string{"a", "b"}[:max(1, f.parts)] }

func (f *failing) Retries() {}

func (f *failing) PartContains(source.Settings, string, string) bool { return true }

func (f *failing) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

func (f *failing) Read(ctx context.Context, a source.Access, part string, _ []byte) iter.Seq2[source.SyncPage, error] {
	f.before = append(f.before, a.Failed)
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		page := source.SyncPage{Last: true, Checkpoint: []byte("{}")}
		var first error
		for _, uri := range uris(part, cmp.Or(f.items, 3)) {
			i := source.Item{URI: uri, Title: uri, Body: f.text, SourceType: "documentation", Access: &access.Names{Users: []string{f.reader}, Groups: []string{}}}
			leftOut, err := a.Try(ctx, uri, func(ctx context.Context) error { return f.request(ctx, uri) })
			switch {
			case leftOut:
				page.Failed, i.KeepBody = append(page.Failed, source.FailedAgain(uri, "broken")), true
			case source.IsOfOne(err):
				first = cmp.Or(first, err)
				continue
			case err != nil:
				return err
			}
			page.Items = append(page.Items, i)
		}
		if first == nil {
			yield(page)
		}
		return first
	})
}

// request asks for one item.
func (f *failing) request(ctx context.Context, uri string) error {
	if f.during != nil {
		f.during(uri)
	}
	switch {
	case f.hangs[uri]:
		<-ctx.Done()
		return ctx.Err()
	case f.broken[uri]:
		return &source.SyncError{Code: source.Unreadable, Detail: "Broken."}
	}
	return nil
}

// TestAnItemThatFailsIsLeftOutByTheNextSync: what is stored of it keeps its text and gets its new readers, and it is known in a full scan
// as well.
func TestAnItemThatFailsIsLeftOutByTheNextSync(t *testing.T) {
	t.Parallel()
	f := &failing{broken: map[string]bool{}, text: "First.", reader: "ada"}
	l := failingLibrary(t, f)
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
	try := func(uri string, e *source.SyncError) (bool, error) {
		return a.Try(t.Context(), uri, func(context.Context) error { return e })
	}
	for _, e := range []*source.SyncError{{Code: source.RateLimited, RetryAt: time.Now(), AllParts: true},
		{Code: source.Unauthorized, AllParts: true}, {Code: source.Unreadable, RetryAt: time.Now()}, {Code: source.Blocked, AllParts: true}} {
		if leftOut, err := try("x", e); leftOut || source.IsOfOne(err) || !errors.Is(err, e) {
			t.Errorf("%+v", e)
		}
	}
	for _, code := range []string{source.Refused, source.Unauthorized} {
		if leftOut, err := try("y", &source.SyncError{Code: code}); leftOut || !source.IsOfOne(err) {
			t.Errorf("%s: %t %v", code, leftOut, err)
		}
		if leftOut, err := try("x", &source.SyncError{Code: code}); !leftOut || err != nil {
			t.Errorf("%s: %t %v", code, leftOut, err)
		}
	}
}

// failingLibrary returns a library that is read by f.
func failingLibrary(t *testing.T, f *failing) *library {
	l := newLibrary(t, newShelf())
	c := l.syncer.Connections["shelf"]
	c.Connector = f
	l.syncer.Connections["shelf"] = c
	return l
}

// TestManyFailingItemsDoNotHoldUpOthers: the first sync says that one fails. The second one goes on without all that do.
func TestManyFailingItemsDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 120} {
		f := &failing{items: n + 1, broken: map[string]bool{}, text: "Text.", reader: "ada"}
		for _, uri := range uris("a", n+1)[1:] {
			f.broken[uri] = true
		}
		l := failingLibrary(t, f)
		l.mustSync()
		if got := code(l.shown()); got != source.Unreadable {
			t.Errorf("%d: first %q", n, got)
		}
		l.clock.Advance(2 * time.Minute)
		l.mustSync()
		if got := code(l.shown()); got != source.ItemRejected {
			t.Errorf("%d: then %q", n, got)
		}
		l.wantItems("a/1")
	}
}

// TestItemsThatAreNeverReturnedHoldUpNoOther: each run of a sync gets beyond one more of them, though the turn of a run is over after
// some minutes.
func TestItemsThatAreNeverReturnedHoldUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hanging = 5
		f := &failing{items: hanging + 1, hangs: map[string]bool{}, text: "Text.", reader: "ada"}
		for _, uri := range uris("a", hanging+1)[:hanging] {
			f.hangs[uri] = true
		}
		l := failingLibrary(t, f)
		runs := 0
		for ; runs < 2*hanging && code(l.shown()) != source.ItemRejected; runs++ {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) {
				t.Errorf("run %d: %v", runs, err)
			}
			cancel()
			l.clock.Advance(2 * time.Minute)
		}
		if runs > hanging+1 {
			t.Errorf("%d runs", runs)
		}
		l.wantItems("a/6")
	})
}

// TestAnOutageOfSingleRecordsIsAFailure in each sync, though lists are returned: a sync that goes on for hours would show that it reads.
// When it is over, everything is read.
func TestAnOutageOfSingleRecordsIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{items: 30, hangs: map[string]bool{}, text: "Text.", reader: "ada"}
		for _, uri := range uris("a", 30) {
			f.hangs[uri] = true
		}
		l := failingLibrary(t, f)
		for n := range 5 {
			l.clock.Advance(20 * time.Minute)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil {
				t.Errorf("sync %d: %v", n+1, err)
			}
			cancel()
			if d := l.shown(); d.State != source.Failed || code(d) != source.Unreadable || !d.LastError.At.Equal(l.clock.Now()) || d.Sync.State != source.SyncWaiting {
				t.Errorf("sync %d: %+v %+v", n+1, d.LastError, d.Sync)
			}
		}
		clear(f.hangs)
		l.clock.Advance(20 * time.Minute)
		l.mustSync()
		if d := l.shown(); d.LastError != nil || d.Sync.Read != 30 {
			t.Errorf("afterwards: %+v %+v", d.LastError, d.Sync)
		}
	})
}

// TestAPageThatTakesLongKeepsItsLease: another process that is asked to sync meanwhile does not interrupt it.
func TestAPageThatTakesLongKeepsItsLease(t *testing.T) {
	t.Parallel()
	f := &failing{items: 5, text: "Text.", reader: "ada"}
	l := failingLibrary(t, f)
	asked := 0
	f.during = func(string) {
		asked++
		l.clock.Advance(85 * time.Second)
		during := f.during
		f.during = nil
		var held *source.LeaseHeldError
		if err := l.sync(); !errors.As(err, &held) {
			t.Errorf("after %d items: %v", asked, err)
		}
		f.during = during
	}
	l.mustSync()
	if l.wantItems("a/1", "a/2", "a/3", "a/4", "a/5"); asked != 5 {
		t.Errorf("asked %d times", asked)
	}
}

// TestATurnThatEndsIsNoFailure: what there is no time for is tried by the next run.
func TestATurnThatEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{parts: 2, items: 1, hangs: map[string]bool{"https://shelf.test/b/1": true}, text: "Text.", reader: "ada"}
		f.during = func(uri string) {
			if !f.hangs[uri] {
				time.Sleep(3 * time.Minute)
			}
		}
		l := failingLibrary(t, f)
		for run, want := range []error{source.ErrUnfinished, nil} {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("run %d: %v", run, err)
			}
			cancel()
		}
		if d := l.shown(); code(d) != source.Unreadable || !strings.Contains(d.LastError.Detail, "b/1") {
			t.Errorf("the source shows %+v", d.LastError)
		}
		l.wantItems("a/1")
	})
}

// files is a provider that forgets what fails, with some files on one page that it never returns.
type files struct{ *failing }

func (f files) Retries(string) {} // not those of a source.Retrier

func (f files) Read(context.Context, source.Access, string, []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		yield(pageOfFiles(5))
		return nil
	})
}

// pageOfFiles returns the last page of a part, with files that are never returned.
func pageOfFiles(n int) source.SyncPage {
	page := source.SyncPage{Last: true, Checkpoint: []byte("{}")}
	for _, uri := range uris("a", n) {
		page.Items = append(page.Items, source.Item{URI: uri, Title: uri, SourceType: "documentation", Access: &access.Names{Users: []string{"ada"}, Groups: []string{}},
			File: &source.File{MediaType: "text/plain", Bytes: 1, Read: func(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }}})
	}
	return page
}

// longer is a provider with such files on a page before the last one.
type longer struct{ *failing }

func (longer) Read(_ context.Context, _ source.Access, _ string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(yield func(source.SyncPage) bool) error {
		if first := pageOfFiles(4); at == nil {
			if first.Last, first.Checkpoint = false, []byte("1"); !yield(first) {
				return source.ErrStopped
			}
		}
		yield(pageOfFiles(0))
		return nil
	})
}

// TestAPageThatIsReadAgainIsNoCircle: each reading of the page finds out of one more file that it is not returned.
func TestAPageThatIsReadAgainIsNoCircle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, newShelf())
		c := l.syncer.Connections["shelf"]
		c.Connector = longer{&failing{}}
		l.syncer.Connections["shelf"] = c
		for run := range 8 {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) {
				t.Fatal(err)
			}
			cancel()
			if d := l.shown(); d.LastError != nil && strings.Contains(d.LastError.Detail, "earlier one") {
				t.Fatalf("run %d: %+v", run, d.LastError)
			}
			l.clock.Advance(20 * time.Minute)
		}
		if d := l.shown(); d.LastSync == nil {
			t.Errorf("never read to the end: %+v", d.LastError)
		}
	})
}

// TestFilesThatAreNeverReturnedAreAFailure: a run that reads them all in vain would be over before that is said.
func TestFilesThatAreNeverReturnedAreAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, newShelf())
		c := l.syncer.Connections["shelf"]
		c.Connector = files{&failing{}}
		l.syncer.Connections["shelf"] = c
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil {
			t.Error(err)
		}
		if d := l.shown(); code(d) != source.Unreadable || !strings.Contains(d.LastError.Detail, "a/1") {
			t.Errorf("the source shows %+v", d.LastError)
		}
	})
}
