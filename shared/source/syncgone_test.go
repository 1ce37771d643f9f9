package source_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/source"
)

// TestAQuestionThatIsNeverAnsweredHoldsUpNothing: a run that waits for the answer ends before its deadline, says so, and after an hour
// changes are read again.
func TestAQuestionThatIsNeverAnsweredHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]time.Duration{"long turns": 4 * time.Minute, "short turns": 50 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			for _, uri := range uris("a", 7) {
				l.shelf.hide[uri] = true
			}
			l.shelf.ask = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			l.clock.Advance(25 * time.Hour)
			for run := 0; code(l.shown()) != source.ItemRejected; run++ {
				ctx, cancel := context.WithTimeout(t.Context(), turn)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) || run > 8 {
					t.Fatalf("%s: run %d: %v", name, run, err)
				}
				cancel()
				l.clock.Advance(20 * time.Minute)
			}
			l.shelf.changed["a"] = []string{"https://shelf.test/a/8"}
			l.mustSync()
			l.wantItems(slices.Insert(slices.Clone(everything), 7, "a/8")...)
		})
	}
}

// TestAQuestionThatIsNeverAnsweredKeepsNoOtherItem: those that are deleted are removed, whatever is asked about before.
func TestAQuestionThatIsNeverAnsweredKeepsNoOtherItem(t *testing.T) {
	t.Parallel()
	for _, hanging := range uris("a", 7)[3:] {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			l.shelf.parts["a"] = uris("a", 3)
			l.shelf.ask = func(ctx context.Context) error {
				if l.shelf.asked[len(l.shelf.asked)-1] != hanging {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			l.clock.Advance(25 * time.Hour)
			for range 6 {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) {
					t.Fatal(err)
				}
				cancel()
				l.clock.Advance(20 * time.Minute)
			}
			l.wantItems("a/1", "a/2", "a/3", strings.TrimPrefix(hanging, "https://shelf.test/"), "b/1", "b/2", "b/3", "b/4")
		})
	}
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

// TestQuestionsThatAreNeverAnsweredKeepNoOtherItem: three of them take all the time that a run has for such questions.
func TestQuestionsThatAreNeverAnsweredKeepNoOtherItem(t *testing.T) {
	t.Parallel()
	for _, deleted := range uris("a", 7) {
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, newShelf())
			l.mustSync()
			l.shelf.parts["a"] = nil
			l.shelf.ask = func(ctx context.Context) error {
				if l.shelf.asked[len(l.shelf.asked)-1] == deleted {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			for range 24 { // some full scans
				l.clock.Advance(3 * time.Hour)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); err != nil && !errors.Is(err, source.ErrUnfinished) {
					t.Fatal(err)
				}
				cancel()
			}
			if stored := l.items(); slices.Contains(stored, strings.TrimPrefix(deleted, "https://shelf.test/")) || len(stored) != 10 {
				t.Errorf("without %s: %q", deleted, stored)
			}
		})
	}
}
