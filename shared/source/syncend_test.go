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

// TestTheWaitForARateLimitGrows if the provider always names the same short one, and none of the runs after it reads anything.
func TestTheWaitForARateLimitGrows(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	limited := func() error {
		return &source.SyncError{Code: source.RateLimited, Detail: "Later.", RetryAt: l.clock.Now(), AllParts: true}
	}
	waits := func(at string, n int) (all []time.Duration) {
		for range n {
			l.shelf.at[at] = limited
			l.mustSync()
			wait := l.shown().Sync.Next.Sub(l.clock.Now())
			l.clock.Advance(wait)
			all = append(all, wait)
		}
		return all
	}
	const s = time.Second
	if got := waits("a 3", 12); !slices.Equal(got, []time.Duration{s, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 512 * s, 15 * time.Minute}) {
		t.Errorf("waits %v", got)
	}
	if got := waits("a 6", 3); !slices.Equal(got, []time.Duration{s, s, 2 * s}) { // it has read a page
		t.Errorf("then %v", got)
	}
	paused := false
	if _, err := l.syncer.Update(t.Context(), l.team, l.id, source.Change{Settings: source.NewSettings(map[string]any{"token": "new"}), Paused: &paused}); err != nil {
		t.Fatal(err)
	}
	if got := waits("a 6", 2); !slices.Equal(got, []time.Duration{s, 2 * s}) {
		t.Errorf("with a new token %v", got)
	}
	l.mustSync()
	l.wantItems(everything...)
}

// TestTheWaitForARateLimitStaysShort if runs that read something are in between, also if they do not finish the sync.
func TestTheWaitForARateLimitStaysShort(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	for _, at := range []string{"a 0", "a 3", "a 6"} {
		l.shelf.at[at] = func() error {
			return &source.SyncError{Code: source.RateLimited, Detail: "Later.", RetryAt: l.clock.Now(), AllParts: true}
		}
		l.mustSync()
		wait := l.shown().Sync.Next.Sub(l.clock.Now())
		if wait != time.Second {
			t.Errorf("at %s: %s", at, wait)
		}
		l.clock.Advance(wait)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // for one page
		if _, err := l.syncer.Sync(ctx, l.team, l.id, nil); !errors.Is(err, source.ErrUnfinished) {
			t.Fatalf("at %s: %v", at, err)
		}
		cancel()
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
