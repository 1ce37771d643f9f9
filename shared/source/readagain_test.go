package source_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

// longText is too long for the record of a document.
var longText = strings.Repeat("It is long.\n\n", 1000)

// ruinChunks damages the chunks of all stored items.
func (l *library) ruinChunks() {
	l.t.Helper()
	items, err := l.store.(*bolt.Store).Items(l.t.Context(), table.Documents)
	if err != nil {
		l.t.Fatal(err)
	}
	damaged := &faulttest.DamagedTable{Store: l.store}
	for _, i := range items {
		if _, isChunk := i.Strings["passages"]; isChunk {
			damaged.Damage(i.Key)
		}
	}
	l.syncer.Documents.Table, l.syncer.Documents.Fallible = damaged, true
}

// readable returns the shortened uris of the items that can be read.
func (l *library) readable() (uris []string) {
	l.t.Helper()
	for _, uri := range l.items() {
		id, err := document.ID(l.team, "https://shelf.test/"+uri)
		if err != nil {
			l.t.Fatal(err)
		}
		if _, err := l.syncer.Documents.Read(l.t.Context(), l.team, id, document.Anyone()); err == nil {
			uris = append(uris, uri)
		}
	}
	return uris
}

// downloads returns what makes each item a text file, counts the downloads, and fails them while down is set.
func downloads(count *int, down *bool, edited time.Time) func(*source.Item) {
	return func(i *source.Item) {
		i.Body, i.UpdatedAt = "", edited
		i.File = &source.File{Bytes: int64(len(longText)), Read: func(context.Context) ([]byte, error) {
			if *down {
				return nil, &source.SyncError{Code: source.Unreadable, Detail: "Broken."}
			}
			*count++
			return []byte(longText), nil
		}}
	}
}

// TestASourceThatIsReadAgainMendsItsItems: the next sync stores anew what is damaged, files too, and leaves the rest alone.
func TestASourceThatIsReadAgainMendsItsItems(t *testing.T) {
	t.Parallel()
	var downloaded int
	for name, made := range map[string]func(l *library) func(*source.Item){
		"texts": func(*library) func(*source.Item) { return func(i *source.Item) { i.Body = longText } },
		"files": func(l *library) func(*source.Item) { return downloads(&downloaded, new(bool), l.clock.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			l.shelf.made = made(l)
			l.mustSync()
			l.ruinChunks()
			l.clock.Advance(time.Hour)
			if got := l.readable(); len(got) > 0 {
				t.Fatalf("readable: %q", got)
			}
			l.mustSync()
			if got := l.readable(); len(got) > 0 {
				t.Fatalf("readable after a sync of what has changed: %q", got)
			}
			if synced, paused, err := l.syncer.ReadAgain(t.Context(), l.team, l.id); err != nil || !synced || paused {
				t.Fatalf("read again: %v, paused: %v, %v", synced, paused, err)
			}
			l.shelf.asked = nil
			l.settle()
			if got := l.readable(); !slices.Equal(got, everything) {
				t.Errorf("readable: %q", got)
			}
			if asked := []string{"a 0", "a 3", "a 6", "b 0", "b 3"}; !slices.Equal(l.shelf.asked[:min(len(asked), len(l.shelf.asked))], asked) {
				t.Errorf("asked for %q", l.shelf.asked)
			}
			if left := l.left(); slices.ContainsFunc(left, func(key string) bool { return strings.HasPrefix(key, "replaced#") }) {
				t.Errorf("left: %q", left)
			}
			if name == "files" && downloaded != 2*len(everything) {
				t.Errorf("%d downloads of %d files", downloaded, len(everything))
			}
		})
	}
}

// TestAPausedSourceIsReadAgainWhenItResumes, and one that no connector reads is left alone.
func TestAPausedSourceIsReadAgainWhenItResumes(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.settle()
	l.mustChange(pause(true))
	for range 2 {
		if synced, paused, err := l.syncer.ReadAgain(t.Context(), l.team, l.id); err != nil || !synced || !paused {
			t.Fatalf("read again: %v, paused: %v, %v", synced, paused, err)
		}
	}
	l.shelf.asked = nil
	l.settle()
	if len(l.shelf.asked) > 0 {
		t.Errorf("asked for %q while it is paused", l.shelf.asked)
	}
	l.mustChange(pause(false))
	l.settle()
	if !slices.Contains(l.shelf.asked, "a 3") {
		t.Errorf("asked for %q", l.shelf.asked)
	}
	if synced, _, err := l.syncer.ReadAgain(t.Context(), l.team, "another"); err != nil || synced {
		t.Errorf("another source: %v, %v", synced, err)
	}
}

// TestAnItemWhoseTextIsDamagedAndCannotBeReadFailsNoSync: what is left of it goes, because it has an earlier rule, and the rest is synced.
func TestAnItemWhoseTextIsDamagedAndCannotBeReadFailsNoSync(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	l.shelf.made = func(i *source.Item) { i.Body = longText }
	l.mustSync()
	l.ruinChunks()
	l.clock.Advance(25 * time.Hour)
	l.shelf.made = func(i *source.Item) {
		i.Body, i.Access = longText, &access.Names{Users: []string{"ada"}}
		if strings.HasSuffix(i.URI, "/2") {
			i.Body, i.KeepBody = "", true
		}
	}
	l.mustSync()
	want := slices.DeleteFunc(slices.Clone(everything), func(uri string) bool { return strings.HasSuffix(uri, "/2") })
	if got := l.readable(); !slices.Equal(got, want) {
		t.Errorf("readable: %q", got)
	}
	l.wantItems(want...)
}

// TestAPartThatIsNotListedIsReadAgainToo: it is still there, and its items are removed once it is gone.
func TestAPartThatIsNotListedIsReadAgainToo(t *testing.T) {
	t.Parallel()
	l, p := newListing(t)
	p.listed = []string{"a", "b"}
	l.mustSync()
	p.listed = []string{"a"}
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	if synced, _, err := l.syncer.ReadAgain(t.Context(), l.team, l.id); err != nil || !synced {
		t.Fatalf("read again: %v, %v", synced, err)
	}
	p.asked = nil
	l.mustSync()
	l.wantItems(everything...)
	if asked := []string{source.PartList, "a 0", "a 3", "a 6", "b 0", "b 3"}; !slices.Equal(p.asked, asked) {
		t.Errorf("asked for %q, want %q", p.asked, asked)
	}
	p.gone = []string{"b"}
	l.clock.Advance(20 * time.Minute)
	l.mustSync()
	l.wantItems(everything[:7]...)
}

// TestReadersThatWereBeingGivenAreGivenAlsoWhenTheSourceIsReadAgain: b/1 is not listed, so that no page has its readers.
func TestReadersThatWereBeingGivenAreGivenAlsoWhenTheSourceIsReadAgain(t *testing.T) {
	t.Parallel()
	run := func(arm func(*library)) *library {
		l, p := newClosing(t)
		l.mustSync()
		p.readers, p.narrow = &access.Names{Users: []string{"ada"}, Groups: []string{}}, true
		l.clock.Advance(20 * time.Minute)
		arm(l)
		_ = l.sync()
		l.plan.Disarm()
		l.shelf.hide["https://shelf.test/b/1"] = true
		state, err := l.store.Get(t.Context(), table.Key{Table: table.Collections, Partition: l.team + "/source/" + l.id, Sort: "part#b"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(state.Body), `"readers"`) {
			p.readers = nil // the provider does not say so again
		}
		if synced, _, err := l.syncer.ReadAgain(t.Context(), l.team, l.id); err != nil || !synced {
			t.Fatalf("read again: %v, %v", synced, err)
		}
		for range 2 {
			l.clock.Advance(5 * time.Minute)
			_ = l.sync()
		}
		return l
	}
	calls := run(func(l *library) { l.plan.Watch() }).plan.Seen()
	for at, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			l := run(func(l *library) { l.plan.Arm(mode, at+1) })
			for e, err := range l.syncer.Documents.Items(t.Context(), l.team, l.id, search.Documentation, true) {
				if err != nil {
					t.Fatal(err)
				}
				if e.URI == "https://shelf.test/b/1" && e.Access == nil {
					t.Errorf("%s at call %d (%s): everyone reads %s", mode, at+1, name, e.URI)
				}
			}
		}
	}
}
