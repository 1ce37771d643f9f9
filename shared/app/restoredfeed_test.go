package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docent/shared/audit"
)

// recorded records n events of a team and returns the ids of all events in its feed, and a cursor
// after them.
func (l *Local) recorded(t *testing.T, teamID string, n int) (ids []string, cursor string) {
	t.Helper()
	for range n {
		if err := l.events.Write(t.Context(), teamID, []audit.Event{{Type: audit.TeamUpdated}}); err != nil {
			t.Fatal(err)
		}
	}
	return l.feed(t, teamID, audit.Query{Limit: 200})
}

func (l *Local) feed(t *testing.T, teamID string, q audit.Query) (ids []string, cursor string) {
	t.Helper()
	page, err := l.events.Feed(t.Context(), teamID, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		ids = append(ids, e.ID())
	}
	return ids, page.Next
}

// TestARestoredFeedUsesNoIDAgain: events are lost with the disk, and the backup is restored twice. No
// new event has the id of an earlier one, and a collector with any old cursor gets all new events.
func TestARestoredFeedUsesNoIDAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l := openHere(t, folder)
	acme, _, err := l.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	kept, atBackup := l.recorded(t, acme.ID, 10)
	var backup bytes.Buffer
	if err := l.Backup(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	used := map[string]string{}
	note := func(when string, ids []string) {
		for i, id := range ids {
			if i < len(kept) {
				if id != kept[i] {
					t.Errorf("%s: event %d has another id than in the backup", when, i)
				}
				continue
			}
			if used[id] != "" {
				t.Errorf("%s: %s was used %s", when, id, used[id])
			}
			used[id] = when
		}
	}
	lost, afterLost := l.recorded(t, acme.ID, 20)
	note("before the loss", lost)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"after the first restore", "after the second restore"} {
		restored := filepath.Join(t.TempDir(), "new")
		if _, err := Restore(t.Context(), restored, time.Now(), bytes.NewReader(backup.Bytes())); err != nil {
			t.Fatal(err)
		}
		l := openHere(t, restored)
		if ids, _ := l.feed(t, acme.ID, audit.Query{Limit: 200, After: afterLost}); len(ids) > 0 {
			t.Errorf("%s, nothing is new: %v", when, ids)
		}
		ids, next := l.recorded(t, acme.ID, 30)
		note(when, ids)
		for name, q := range map[string]audit.Query{
			"the cursor of the backup": {After: atBackup}, "the cursor after what is lost": {After: afterLost}, "the last id": {Since: lost[len(lost)-1]},
		} {
			q.Limit = 200
			if ids, _ := l.feed(t, acme.ID, q); len(ids) != 30 {
				t.Errorf("%s, from %s: %d events, want 30", when, name, len(ids))
			}
		}
		if ids, _ := l.feed(t, acme.ID, audit.Query{Limit: 200, Since: before.Format(time.RFC3339)}); len(ids) != len(kept)+30 {
			t.Errorf("%s, since a time: %d events, want %d", when, len(ids), len(kept)+30)
		}
		afterLost, lost = next, ids
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARestoreThatFailsAtItsEndIsRepeated: nothing is used until the feeds continue.
func TestARestoreThatFailsAtItsEndIsRepeated(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	stops := &stopsAtEnd{Reader: bytes.NewReader(backup), stop: cancel}
	if _, err := Restore(ctx, folder, time.Now(), stops); !errors.Is(err, context.Canceled) {
		t.Fatalf("restored: %v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Fatalf("left %v, %v", entries, err)
	}
	if _, err := Restore(t.Context(), folder, time.Now(), bytes.NewReader(backup)); err != nil {
		t.Error(err)
	}
}

// stopsAtEnd is a backup that calls stop when it has been read.
type stopsAtEnd struct {
	io.Reader
	stop func()
}

func (s *stopsAtEnd) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		s.stop()
	}
	return n, err
}
