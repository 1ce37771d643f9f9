package source_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table"
)

var everything = []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "b/1", "b/2", "b/3", "b/4"}

func TestSyncsReadEverythingAndThenWhatChanged(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	if d := l.shown(); d.State != source.Connecting || d.Sync == nil || d.Sync.State != source.SyncWaiting || d.LastSync != nil {
		t.Errorf("before: %+v", d)
	}
	if l.work() != 1 { // the creation has sent it
		t.Fatal("no message of the creation")
	}
	l.wantItems(everything...)
	d := l.shown()
	if d.State != source.Ready || d.LastSync == nil || d.LastError != nil || d.Sync.Read != 11 || !d.Sync.Next.Equal(l.clock.Now().Add(15*time.Minute)) {
		t.Errorf("after: %+v %+v", d, d.Sync)
	}
	if l.swept() != 0 || l.work() != 0 {
		t.Error("a sync before its time")
	}
	l.shelf.asked = nil
	l.shelf.changed["a"], l.shelf.removed["b"] = []string{"https://shelf.test/a/8"}, []string{"https://shelf.test/b/2"}
	l.clock.Advance(16*time.Minute + time.Second)
	if l.swept() != 1 || l.work() != 1 {
		t.Error("no sync at its time")
	}
	l.wantItems("a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8", "b/1", "b/3", "b/4")
	if want := []string{"a 0", "b 0"}; !slices.Equal(l.shelf.asked, want) {
		t.Errorf("asked for %q, want %q", l.shelf.asked, want)
	}
}

func TestSyncsResumeWhereverTheyStop(t *testing.T) {
	t.Parallel()
	count := newLibrary(t, newShelf())
	count.plan.Watch()
	count.mustSync()
	calls := count.plan.Seen()
	if len(calls) < 20 {
		t.Fatalf("%d calls", len(calls))
	}
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			t.Run(fmt.Sprintf("%d %s %s", at+1, name, mode), func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, newShelf())
				l.plan.Arm(mode, at+1)
				first := l.sync()
				l.plan.Disarm()
				l.clock.Advance(3 * time.Minute) // until the lease of the stopped sync has ended
				for range 3 {
					l.swept()
					l.work()
					l.clock.Advance(20 * time.Minute)
				}
				l.clock.Advance(25 * time.Hour) // the next full scan deletes leftover marks
				l.swept()
				l.work()
				l.wantItems(everything...)
				if d := l.shown(); d.State != source.Ready || d.LastError != nil || d.Sync.State != source.SyncWaiting {
					t.Errorf("after %v: %+v %+v", first, d, d.Sync)
				}
				if marks := slices.DeleteFunc(l.left(), func(key string) bool { return !strings.HasPrefix(key, "seen#") }); len(marks) > 0 {
					t.Errorf("left: %q", marks)
				}
			})
		}
	}
}

// TestFullScansKnowTheCheckpointBefore checks that every full scan does, except the first one and one
// that the connector asks for.
func TestFullScansKnowTheCheckpointBefore(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	const changes, all = `{"Next":0,"Done":true}`, `{"Next":7,"Done":true}`
	for _, tt := range []struct {
		name  string
		after time.Duration
		fail  string // the page that fails once
		lost  bool
		want  []string
	}{
		{"the first", 0, "", false, []string{""}},
		{"changes", time.Hour, "", false, []string{""}},
		{"a full scan", 25 * time.Hour, "", false, []string{changes}},
		{"one that is interrupted", 25 * time.Hour, "a 3", false, []string{all, all}},
		{"one that the connector asks for", time.Hour, "", true, []string{"", ""}},
	} {
		l.shelf.before = nil
		if tt.lost {
			l.shelf.lost = true
		}
		if tt.fail != "" {
			l.shelf.at[tt.fail] = func() error { return &source.SyncError{Code: source.Unreadable, Detail: "Broken."} }
		}
		l.clock.Advance(tt.after)
		l.mustSync()
		if tt.fail != "" {
			l.clock.Advance(5 * time.Minute)
			l.mustSync()
		}
		if !slices.Equal(l.shelf.before, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, l.shelf.before, tt.want)
		}
	}
	l.wantItems(everything...)
}

func TestDeletedItemsAreRemoved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(p *shelf)
		want   []string
		asked  []string
	}{
		{"deleted", func(p *shelf) { p.parts["a"] = p.parts["a"][:5] }, []string{"a/1", "a/2", "a/3", "a/4", "a/5", "b/1", "b/2", "b/3", "b/4"}, []string{"a/6", "a/7"}},
		{"missed by the full scan", func(p *shelf) { p.hide["https://shelf.test/b/2"] = true }, everything, []string{"b/2"}},
		{"not listed by an exact full scan", func(p *shelf) { p.exact, p.parts["b"] = true, p.parts["b"][1:] },
			[]string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "b/2", "b/3", "b/4"}, nil},
		{"a part that cannot be read loses nothing", func(p *shelf) {
			p.parts["a"] = nil
			p.at["a 0"] = func() error { return &source.SyncError{Code: source.NotThere, Detail: "No such part."} }
		}, everything, nil},
		{"everything of a part", func(p *shelf) { p.parts["b"] = nil }, everything[:7], []string{"b/1", "b/2", "b/3", "b/4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.mustSync()
			l.clock.Advance(25 * time.Hour)
			tt.change(l.shelf)
			l.shelf.asked = nil
			l.mustSync()
			l.wantItems(tt.want...)
			var asked []string
			for _, uri := range l.shelf.asked {
				if name, ok := strings.CutPrefix(uri, "https://shelf.test/"); ok {
					asked = append(asked, name)
				}
			}
			slices.Sort(asked)
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked for %v, want %v", asked, tt.asked)
			}
			if got, want := l.shown().Sync.Removed, len(everything)-len(tt.want); got != want {
				t.Errorf("removed %d, want %d", got, want)
			}
		})
	}
}

func TestItemsAddedDuringAFullScanStay(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.clock.Advance(25 * time.Hour)
	l.shelf.exact = true
	l.shelf.at["a 3"] = func() error { // as a webhook might
		l.clock.Advance(time.Second)
		line := `{"uri":"https://shelf.test/a/new","title":"New","body":"New.","sourceType":"documentation"}`
		_, err := l.syncer.Import(t.Context(), l.team, l.id, "", []byte(line))
		return errors.Join(err, &source.SyncError{Code: source.Unreadable, Detail: "Broken."})
	}
	l.mustSync()
	l.clock.Advance(time.Minute)
	l.mustSync()
	l.wantItems(append([]string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/new"}, everything[7:]...)...)
}

func TestSyncsWaitForTheProvidersRateLimit(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	until := l.clock.Now().Add(40 * time.Minute)
	l.shelf.at["a 6"] = func() error {
		return &source.SyncError{Code: source.RateLimited, Detail: "Later.", RetryAt: until, AllParts: true}
	}
	if l.work() != 1 {
		t.Fatal("no message")
	}
	l.wantItems(everything[:6]...)
	d := l.shown()
	if d.State != source.Connecting || code(d) != source.RateLimited || !d.Sync.Next.Equal(until) || d.LastSync != nil {
		t.Errorf("limited: %+v %+v", d, d.Sync)
	}
	if err := l.syncer.SyncSoon(t.Context(), l.team, l.id); err != nil {
		t.Fatal(err)
	}
	l.clock.Advance(39 * time.Minute)
	if l.swept() != 0 || l.work() != 0 {
		t.Error("read again before its time")
	}
	l.shelf.asked = nil
	l.clock.Advance(3 * time.Minute)
	if l.swept() != 1 || l.work() != 1 {
		t.Error("not read again at its time")
	}
	l.wantItems(everything...)
	if want := []string{"a 6", "b 0", "b 3"}; !slices.Equal(l.shelf.asked, want) {
		t.Errorf("asked for %q, want %q", l.shelf.asked, want)
	}
	if d := l.shown(); d.State != source.Ready || d.LastError != nil {
		t.Errorf("after: %+v", d)
	}
}

func TestTheSourceShowsFailuresOfTheProvider(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fail  error
		items []string
		code  string
		state source.State
		sync  bool // a part was read to its end
	}{
		{"one part", &source.SyncError{Code: source.Unreadable, Detail: "Broken."}, append(slices.Clone(everything[:3]), everything[7:]...), source.Unreadable, source.Failed, true},
		{"every part", &source.SyncError{Code: source.Unauthorized, Detail: "No.", AllParts: true}, everything[:3], source.Unauthorized, source.Failed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.shelf.at["a 3"] = func() error { return tt.fail }
			l.mustSync()
			l.wantItems(tt.items...)
			d := l.shown()
			if d.State != tt.state || code(d) != tt.code || (d.LastSync != nil) != tt.sync || !strings.HasPrefix(d.LastError.Detail, "a: ") || !d.LastError.At.Equal(l.clock.Now()) {
				t.Errorf("failed: %+v %+v", d, d.LastError)
			}
			if !d.Sync.Next.Equal(l.clock.Now().Add(time.Minute)) {
				t.Errorf("next at %s", d.Sync.Next)
			}
			l.shelf.asked = nil
			l.clock.Advance(2 * time.Minute)
			l.mustSync()
			l.wantItems(everything...)
			if d := l.shown(); d.State != source.Ready || d.LastError != nil || d.LastSync == nil {
				t.Errorf("after the failure: %+v", d)
			}
			if slices.Contains(l.shelf.asked, "a 0") {
				t.Errorf("read again from the start: %q", l.shelf.asked)
			}
		})
	}
}

func TestSyncsThatKeepFailingAreRetriedLessOften(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	var pauses []time.Duration
	for range 6 {
		l.shelf.at["a 0"] = func() error { return &source.SyncError{Code: source.Unauthorized, Detail: "No.", AllParts: true} }
		l.mustSync()
		pauses = append(pauses, l.shown().Sync.Next.Sub(l.clock.Now()))
		l.clock.Advance(time.Hour)
	}
	want := []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute}
	if !slices.Equal(pauses, want) {
		t.Errorf("pauses %v, want %v", pauses, want)
	}
}

func TestInvalidItemsAreLeftOutAndShown(t *testing.T) {
	t.Parallel()
	p := newShelf()
	p.parts["a"] = []string{"https://shelf.test/a/1", "javascript:alert(1)", "https://shelf.test/a/2"}
	l := newLibrary(t, p)
	l.mustSync()
	l.wantItems(append([]string{"a/1", "a/2"}, everything[7:]...)...)
	if d := l.shown(); d.State != source.Ready || code(d) != source.ItemRejected || d.Sync.Rejected != 1 || d.Sync.Read != 7 {
		t.Errorf("got %+v %+v", d, d.Sync)
	}
}

// TestAnItemWhoseDeletionTheProviderNeverConfirms does not block its part for ever: it stays, and the next full scan asks again.
func TestAnItemWhoseDeletionTheProviderNeverConfirms(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	two := "https://shelf.test/a/2"
	l.shelf.unsaid = map[string]bool{two: true}
	l.shelf.parts["a"] = slices.DeleteFunc(uris("a", 7), func(uri string) bool { return uri == two || uri == "https://shelf.test/a/3" })
	without := func(gone ...string) []string {
		return slices.DeleteFunc(slices.Clone(everything), func(uri string) bool { return slices.Contains(gone, uri) })
	}
	for n, tt := range []struct {
		after   time.Duration
		decided bool
		code    string
		want    []string
	}{
		{25 * time.Hour, false, source.Unreadable, nil}, // the other one may be asked first
		{20 * time.Minute, false, source.Unreadable, nil},
		{50 * time.Minute, false, source.ItemRejected, without("a/3")},
		{20 * time.Minute, false, "", append(without("a/3"), "a/8")}, // changes are read again
		{25 * time.Hour, true, "", append(without("a/2", "a/3"), "a/8")},
	} {
		if n == 3 {
			l.shelf.changed["a"] = []string{"https://shelf.test/a/8"}
			l.shelf.parts["a"] = append(l.shelf.parts["a"], "https://shelf.test/a/8")
		}
		if tt.decided {
			l.shelf.unsaid = nil
		}
		l.clock.Advance(tt.after)
		l.mustSync()
		if got := code(l.shown()); got != tt.code {
			t.Errorf("sync %d: %q, want %q", n, got, tt.code)
		}
		if slices.Sort(tt.want); tt.want != nil {
			l.wantItems(tt.want...)
		}
	}
}

// TestAFullScanIsDueAfterTheClockWasAhead, and not only when the time of the last one is reached.
func TestAFullScanIsDueAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.clock.Advance(365 * 24 * time.Hour)
	l.mustSync()
	l.clock.Advance(-364 * 24 * time.Hour)
	l.shelf.asked = nil
	if l.mustSync(); !slices.Contains(l.shelf.asked, "a 3") {
		t.Errorf("asked %q", l.shelf.asked)
	}
}

// TestWhatIsAskedAboutIsNotAskedAgain after the turn of the run is over, or a rate limit: each run goes on from where the one before was.
func TestWhatIsAskedAboutIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]bool{"a turn": false, "a rate limit": true} {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			for _, uri := range uris("a", 7) {
				l.shelf.hide[uri] = true
			}
			l.shelf.parts["a"] = uris("a", 6)
			l.clock.Advance(25 * time.Hour)
			asked := 0
			l.shelf.ask = func(context.Context) error {
				if asked++; limited && asked%3 == 0 {
					return &source.SyncError{Code: source.RateLimited, AllParts: true, RetryAt: l.clock.Now().Add(time.Hour)}
				}
				if !limited {
					time.Sleep(90 * time.Second)
				}
				return nil
			}
			for runs := 1; ; runs++ {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				_, err := l.syncer.Sync(ctx, l.team, l.id, nil)
				cancel()
				if err == nil && code(l.shown()) == "" {
					break
				}
				if l.clock.Advance(2 * time.Hour); runs > 5 {
					t.Fatalf("%s: after %d runs and %d questions: %v", name, runs, asked, err)
				}
			}
			if asked > 10 {
				t.Errorf("%s: asked %d times about 7 items", name, asked)
			}
			l.wantItems(slices.DeleteFunc(slices.Clone(everything), func(uri string) bool { return uri == "a/7" })...)
		})
	}
}

// TestADeadlineWhileDeletedItemsAreRemovedIsNoFailure: the next run goes on, whether the one before has only read, or saved an answer or a
// removal.
func TestADeadlineWhileDeletedItemsAreRemovedIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]string{"answers": uris("a", 7), "removals": nil} {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			for _, uri := range uris("a", 7) {
				l.shelf.hide[uri] = true
			}
			l.shelf.parts["a"] = left
			l.clock.Advance(25 * time.Hour)
			asked := 0
			l.shelf.ask = func(context.Context) error {
				if asked++; asked == 1 || asked == 3 {
					time.Sleep(5 * time.Minute)
					return context.DeadlineExceeded
				}
				return nil
			}
			for run, want := range []error{source.ErrUnfinished, source.ErrUnfinished, nil} {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("%s: run %d: %v", name, run+1, err)
				}
				cancel()
			}
			if d := l.shown(); d.State != source.Ready || asked != 9 {
				t.Errorf("%s: %q %+v, asked %d times", name, d.State, d.LastError, asked)
			}
			l.wantItems(everything[len(uris("a", 7))-len(left):]...)
		})
	}
}

// TestAnItemThatBecomesInvalidIsRemoved: its earlier version would keep readers who may no longer be allowed to read it.
func TestAnItemThatBecomesInvalidIsRemoved(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.shelf.labels = map[string]string{"https://shelf.test/a/2": strings.Repeat("x", source.MaxLabel+1)}
	l.clock.Advance(25 * time.Hour)
	l.mustSync()
	l.wantItems(append([]string{"a/1"}, everything[2:]...)...)
	l.shelf.labels = nil
	l.clock.Advance(25 * time.Hour)
	l.mustSync()
	l.wantItems(everything...)
}

// TestAnItemThatIsListedAgainComesBack: it was in the trash, or hidden from the account, which is no change of it.
func TestAnItemThatIsListedAgainComesBack(t *testing.T) {
	t.Parallel()
	p := newShelf()
	l := newLibrary(t, p)
	p.edited = l.clock.Now().Add(-time.Hour)
	all := p.parts["a"]
	l.mustSync()
	for _, tt := range []struct {
		parts []string
		want  []string
	}{{all[:5], append(slices.Clone(everything[:5]), everything[7:]...)}, {all, everything}} {
		l.clock.Advance(25 * time.Hour)
		p.parts["a"] = tt.parts
		l.mustSync()
		l.wantItems(tt.want...)
	}
	// One that a delivery removed while the sync read it does not.
	p.at["b 0"] = func() error {
		l.clock.Advance(time.Second)
		_, err := l.syncer.Documents.Remove(t.Context(), l.team, l.id, "https://shelf.test/b/1", l.clock.Now(), "")
		return err
	}
	l.clock.Advance(25 * time.Hour)
	l.mustSync()
	l.wantItems(append(slices.Clone(everything[:7]), everything[8:]...)...)
}

// TestWhatIsListedLaterCounts: the last version of an attachment may be deleted, so that an older one is current.
func TestWhatIsListedLaterCounts(t *testing.T) {
	t.Parallel()
	p := newShelf()
	l := newLibrary(t, p)
	for n, label := range []string{"of noon", "of eleven"} {
		p.edited = time.Date(2026, 11, 21, 12-n, 0, 0, 0, time.UTC)
		p.labels = map[string]string{"https://shelf.test/a/2": label}
		l.mustSync()
		for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
			if err != nil || e.URI == "https://shelf.test/a/2" && !slices.Equal(e.Facts.Labels, []string{label}) {
				t.Errorf("%s: %+v %v", label, e.Facts, err)
			}
		}
		l.clock.Advance(25 * time.Hour)
	}
}

func TestANoticeShowsUntilItIsOver(t *testing.T) {
	t.Parallel()
	p := newShelf()
	p.notice = &source.SyncError{Code: source.Renamed, Detail: "a is called b now."}
	l := newLibrary(t, p)
	l.mustSync()
	l.wantItems(everything...)
	if d := l.shown(); d.State != source.Ready || code(d) != source.Renamed || d.LastError.Detail != "a is called b now." || d.LastSync == nil {
		t.Errorf("got %+v %+v", d, d.LastError)
	}
	p.notice = nil
	l.clock.Advance(time.Hour)
	l.mustSync()
	if d := l.shown(); d.State != source.Ready || d.LastError != nil {
		t.Errorf("then %+v %+v", d, d.LastError)
	}
}

func TestAFailureIsShownInAdditionToANoticeOfTheSameCode(t *testing.T) {
	t.Parallel()
	p := newShelf()
	p.notice = &source.SyncError{Code: source.Renamed, Detail: "a is called b now."}
	p.at["b 0"] = func() error { return &source.SyncError{Code: source.Renamed, Detail: "c is not there."} }
	l := newLibrary(t, p)
	_ = l.sync() // whose result is what is shown
	if d := l.shown(); d.State != source.Failed || code(d) != source.Renamed || d.LastError.Detail != "b: c is not there." {
		t.Errorf("got %+v %+v", d, d.LastError)
	}
}

// TestAPartThatWasPassedOverIsShownAfterARateLimit of another part: the sync that resumes then does not read the first one again.
func TestAPartThatWasPassedOverIsShownAfterARateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, newShelf())
		l.shelf.at["a 0"] = func() error { time.Sleep(5 * time.Minute); return context.DeadlineExceeded }
		l.shelf.at["b 0"] = func() error {
			return &source.SyncError{Code: source.RateLimited, RetryAt: l.clock.Now().Add(time.Minute), AllParts: true}
		}
		for n, tt := range []struct {
			want  error
			code  string
			state source.State
		}{
			{source.ErrUnfinished, "", source.Connecting},
			{nil, source.Unreadable, source.Failed}, // and the rate limit
			{nil, source.Unreadable, source.Failed},
			{nil, "", source.Ready}, // the next sync reads it
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("run %d: %v", n+1, err)
			}
			cancel()
			if d := l.shown(); code(d) != tt.code || d.State != tt.state {
				t.Errorf("run %d: %q %+v", n+1, d.State, d.LastError)
			}
			l.clock.Advance(2 * time.Minute)
		}
		l.wantItems(everything...)
	})
}

func TestASyncResumesAfterItsDeadline(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	pages := 0
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // too short for another page
		_, err := l.syncer.Sync(ctx, l.team, l.id, nil)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, source.ErrUnfinished) || pages > 10 {
			t.Fatalf("after %d pages: %v", pages, err)
		}
		pages++
	}
	l.wantItems(everything...)
	if len(l.shelf.asked) > 7 {
		t.Errorf("read twice: %q", l.shelf.asked)
	}
}

func TestOneSyncAtATime(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.shelf.at["a 3"] = func() error {
		var held *source.LeaseHeldError
		if err := l.sync(); !errors.As(err, &held) {
			t.Errorf("a second sync: %v", err)
		}
		return nil
	}
	l.mustSync()
	// A sync whose lease ended continues after another one has taken over.
	l.clock.Advance(25 * time.Hour)
	l.shelf.at["a 3"] = func() error {
		l.clock.Advance(5 * time.Minute)
		l.mustSync()
		return nil
	}
	if err := l.sync(); err == nil {
		t.Error("the sync without a lease continued")
	}
	l.wantItems(everything...)
	if d := l.shown(); d.State != source.Ready || d.Sync.State != source.SyncWaiting {
		t.Errorf("got %+v %+v", d, d.Sync)
	}
}

func TestASyncRequestedWhileOneRunsFollowsIt(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.clock.Advance(time.Minute)
	l.work() // the message of the creation
	for _, running := range []bool{false, true} {
		if running {
			l.shelf.at["b 0"] = func() error { return l.syncer.SyncSoon(t.Context(), l.team, l.id) }
			l.mustSync()
		} else if err := l.syncer.SyncSoon(t.Context(), l.team, l.id); err != nil {
			t.Fatal(err)
		}
		l.clock.Advance(time.Second)
		l.shelf.asked = nil
		if n := l.work(); n != 1 || len(l.shelf.asked) != 2 {
			t.Errorf("running %t: %d messages, asked for %q", running, n, l.shelf.asked)
		}
		l.clock.Advance(time.Minute)
	}
}

func TestADeletedSourceLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"between syncs", "during one", "paused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			remove := func() error { return l.syncer.Delete(t.Context(), l.team, l.id, "") }
			if name == "during one" {
				l.shelf.at["a 3"] = remove
			} else {
				l.mustSync()
				if name == "paused" {
					l.clock.Advance(time.Minute)
					l.mustChange(pause(true))
				}
				if err := remove(); err != nil {
					t.Fatal(err)
				}
			}
			l.clock.Advance(20 * time.Minute)
			for range 3 {
				l.swept()
				l.work()
				l.clock.Advance(20 * time.Minute)
			}
			if keys := l.left(); len(keys) > 0 {
				t.Errorf("left: %q", keys)
			}
			if err := l.sync(); !apierr.IsCode(err, apierr.CodeNotFound) {
				t.Errorf("synced: %v", err)
			}
		})
	}
}

func TestALostCheckpointStartsAFullScan(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.clock.Advance(time.Hour)
	l.shelf.lost, l.shelf.parts["a"] = true, uris("a", 2)
	l.mustSync()
	l.wantItems(append([]string{"a/1", "a/2"}, everything[7:]...)...)
}

func TestSourcesCreatedWithoutConnectorsAreSynced(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	d, _, err := (&source.Service{Providers: l.syncer.Providers, Table: l.store, Collections: l.syncer.Collections, Work: l.syncer.Work, Now: l.clock.Now, NewID: uuid.NewString,
		Seal: l.syncer.Seal, Warn: l.syncer.Warn}).Create(t.Context(), l.team, source.DataSource{Provider: "shelf", Name: "old",
		Settings: source.Settings{}}, source.Secrets{})
	if err != nil {
		t.Fatal(err)
	}
	l.work() // the sync of the other source
	l.clock.Advance(2 * time.Minute)
	if n := l.swept(); n != 0 {
		t.Fatalf("%d sent before it is planned", n)
	}
	for range 2 { // the second changes nothing
		if err := l.syncer.PlanMissing(t.Context(), l.team); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.swept(); n != 1 {
		t.Fatalf("%d sent", n)
	}
	l.work()
	list, err := l.syncer.List(t.Context(), l.team, table.Window{Limit: 10}, func(id string) bool { return id == d.ID })
	if err != nil || len(list.Entries) != 1 || list.Entries[0].Value.LastSync == nil {
		t.Errorf("after the sync: %+v %v", list.Entries, err)
	}
}

func TestSourcesWithoutTheirConnectorsSettingsAreFilledByImport(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.work() // the sync of its source
	l.syncer.Providers[0].Connected = func(s source.Settings, _ source.Secrets) bool { return s.Text("at") != "" }
	l.syncer.Providers[0].Settings = []source.Setting{{Name: "at", Flag: "at", Help: "where"}}
	made := map[string]source.DataSource{}
	for name, settings := range map[string]source.Settings{"imported": {}, "synced": source.NewSettings(map[string]any{"at": "here"})} {
		d, _, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "shelf", Name: name, Settings: settings}, source.Secrets{})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = d
	}
	if err := l.syncer.PlanMissing(t.Context(), l.team); err != nil {
		t.Fatal(err)
	}
	if n := l.work(); n != 1 {
		t.Errorf("%d syncs", n)
	}
	list, err := l.syncer.List(t.Context(), l.team, table.Window{Limit: 10}, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Entries {
		if d := e.Value; d.Name == "imported" && (d.State != source.Ready || d.Sync != nil) || d.Name == "synced" && (d.Sync == nil || d.LastSync == nil) {
			t.Errorf("%s: %+v", d.Name, d)
		}
	}
	if made["imported"].State != source.Ready || made["synced"].State != source.Connecting {
		t.Errorf("made %+v", made)
	}
}
