package source_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/search"
	"docent/shared/source"
)

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
