package app_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"docent/shared/app"
	"docent/shared/table"
	"docent/shared/team"
)

// freeingLog notes of which methods the requests free room.
type freeingLog struct {
	slog.Handler
	mu      sync.Mutex
	freeing map[string]bool // by method
}

func (l *freeingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *freeingLog) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "method" {
			l.freeing[a.Value.String()] = table.IsFreeing(ctx)
		}
		return true
	})
	return nil
}

// TestEveryDeleteHasTheRoomThatIsKeptForAFullDisk, and nothing else has.
func TestEveryDeleteHasTheRoomThatIsKeptForAFullDisk(t *testing.T) {
	t.Parallel()
	log := &freeingLog{Handler: slog.DiscardHandler, freeing: map[string]bool{}}
	local := openLocal(t, log)
	acme, _, err := local.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	handler := local.Handler("https://docent.test/v1")
	for _, method := range []string{"GET", "DELETE", "PATCH"} {
		r := httptest.NewRequestWithContext(t.Context(), method, "/v1/documents/0198f0a4-0000-7000-8000-000000000000", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if want := map[string]bool{"GET": false, "DELETE": true, "PATCH": false}; !maps.Equal(log.freeing, want) {
		t.Errorf("requests that free room: %v, want %v", log.freeing, want)
	}
}

// TestObjectsDoNotTakeTheRoomThatIsKeptForAFullDisk, neither segments nor files; they can be read and removed.
func TestObjectsDoNotTakeTheRoomThatIsKeptForAFullDisk(t *testing.T) {
	t.Parallel()
	local := openLocal(t, slog.DiscardHandler)
	objects, ok := local.Index.Blobs.(app.Spared)
	if !ok {
		t.Fatalf("objects are stored by %T", local.Index.Blobs)
	}
	if err := objects.Put(t.Context(), "a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	objects = objects.Without(table.ErrFull)
	if err := objects.Put(t.Context(), "b", nil); !errors.Is(err, table.ErrFull) {
		t.Errorf("a segment: %v", err)
	}
	if err := objects.PutFrom(t.Context(), "b", strings.NewReader("a file")); !errors.Is(err, table.ErrFull) {
		t.Errorf("a file: %v", err)
	}
	if data, err := objects.Get(t.Context(), "a"); err != nil || string(data) != "kept" {
		t.Errorf("read %q, %v", data, err)
	}
	if err := objects.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}
