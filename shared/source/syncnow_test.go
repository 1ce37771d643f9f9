package source_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/source"
)

func TestASyncIsAskedFor(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.mustSync()
	l.clock.Advance(time.Minute)
	l.shelf.asked = nil
	if l.work(); len(l.shelf.asked) > 0 {
		t.Fatalf("read before its time: %q", l.shelf.asked)
	}
	d, err := l.syncer.SyncNow(t.Context(), l.team, l.id)
	if err != nil || d.Sync == nil || !d.Sync.Next.Equal(l.clock.Now()) {
		t.Fatalf("%+v, %v", d.Sync, err)
	}
	if l.work() != 1 || len(l.shelf.asked) == 0 {
		t.Errorf("not read: %q", l.shelf.asked)
	}

	l.shelf.asked = nil
	l.mustChange(pause(true))
	l.syncer.Providers = append(l.syncer.Providers, source.Provider{Name: "post"})
	imported, _, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "post", Name: "imported"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"a paused source": l.id, "a source that is imported": imported.ID} {
		if _, err := l.syncer.SyncNow(t.Context(), l.team, id); !apierr.IsCode(err, apierr.CodeNotSynced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{uuid.NewString(), "nothing"} {
		if _, err := l.syncer.SyncNow(t.Context(), l.team, id); !apierr.IsCode(err, apierr.CodeNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if l.settle(); len(l.shelf.asked) > 0 {
		t.Errorf("a paused source was read: %q", l.shelf.asked)
	}
}

func TestASyncThatIsAskedForWaitsForTheProvider(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	until := l.clock.Now().Add(40 * time.Minute)
	l.shelf.at["a 6"] = func() error {
		return &source.SyncError{Code: source.RateLimited, Detail: "Later.", RetryAt: until, AllParts: true}
	}
	l.work()
	if d, err := l.syncer.SyncNow(t.Context(), l.team, l.id); err != nil || !d.Sync.Next.Equal(until) {
		t.Errorf("%+v, %v", d.Sync, err)
	}
	if l.work() != 0 {
		t.Error("read before the provider allows it")
	}
}
