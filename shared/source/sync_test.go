package source_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/app/faulttest"
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
