package moving

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/pending"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

var moved = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// newHome returns an empty home without secrets.
func newHome(t *testing.T) Home {
	t.Helper()
	objects, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
	return Home{Rows: bolttest.OpenAt(t, func() time.Time { return moved }), Blobs: objects}
}

var (
	teamItem = table.Item{Key: table.Key{Table: table.Identities, Partition: "team", Sort: "team"}}
	keyItem  = table.Item{Key: table.Key{Table: table.Identities, Partition: "key/k", Sort: "key"}}
	listItem = table.Item{Key: table.Key{Table: table.Identities, Partition: "teams", Sort: "team"}}
	document = table.Item{Key: table.Key{Table: table.Documents, Partition: "team/doc", Sort: "record"}, Body: []byte("old")}
	regular  = table.Item{Key: pending.SweepsKey, Numbers: map[string]int64{"last": 1, "since": 1}}
	syncing  = pending.Work{Kind: pending.SyncSource, TeamID: "team", ID: "source", At: 1}
	nextSync = pending.Work{Kind: pending.SyncSource, TeamID: "team", ID: "source", At: 2}
	indexing = pending.Work{Kind: pending.IndexDocument, TeamID: "team", ID: "doc", Version: 1, At: 1}
)

// newMove returns a move of an installation with one item of each stage and pending work in two
// tables, and the milestones that it notes.
func newMove(t *testing.T) (*Move, *[]Milestone) {
	t.Helper()
	m, noted := &Move{From: newHome(t), To: newHome(t), Now: moved}, &[]Milestone{}
	m.Note = func(at Milestone) error {
		*noted = append(*noted, at)
		return nil
	}
	put(t, m.From, teamItem, keyItem, listItem, document, regular, syncing.Promise().Item, indexing.Promise().Item)
	return m, noted
}

func put(t *testing.T, h Home, items ...table.Item) {
	t.Helper()
	if err := h.Rows.PutAll(t.Context(), items); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, h Home, keys ...table.Key) {
	t.Helper()
	if err := h.Rows.DeleteAll(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
}

// keys returns the keys of all items of a home, in order.
func keys(t *testing.T, h Home) (all []table.Key) {
	t.Helper()
	for _, name := range table.Names {
		for item, err := range h.Rows.Scan(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, item.Key)
		}
	}
	return all
}

func wantKeys(t *testing.T, h Home, want ...table.Key) {
	t.Helper()
	got := keys(t, h)
	for _, k := range got {
		if !slices.Contains(want, k) {
			t.Errorf("the new home has %v", k)
		}
	}
	for _, k := range want {
		if !slices.Contains(got, k) {
			t.Errorf("the new home lacks %v", k)
		}
	}
}

// hookedRows calls put before it stores items, and done afterwards. Both may be nil.
type hookedRows struct {
	Rows
	put  func([]table.Item) error
	done func([]table.Item)
}

// PutAll implements Rows.
func (r hookedRows) PutAll(ctx context.Context, items []table.Item) error {
	if r.put != nil {
		if err := r.put(items); err != nil {
			return err
		}
	}
	err := r.Rows.PutAll(ctx, items)
	if r.done != nil {
		r.done(items)
	}
	return err
}

// The workers of the new home take pending work as soon as it is there, and promise what follows.
func TestFinishKeepsWhatWorkersPromise(t *testing.T) {
	t.Parallel()
	m, noted := newMove(t)
	into := m.To
	m.To.Rows = hookedRows{Rows: into.Rows, done: func(items []table.Item) {
		for _, item := range items {
			switch item.Key {
			case keyItem.Key: // a request promises work at once
				put(t, into, pending.Work{Kind: pending.IndexDocument, TeamID: "team", ID: "new", At: 1}.Promise().Item)
			case syncing.Key():
				remove(t, into, syncing.Key())
				put(t, into, nextSync.Promise().Item)
			}
		}
	}}
	if _, err := m.Copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, into, document.Key)
	put(t, into, regular) // resets the sweeper's patience; otherwise it would give up old work at once
	if _, err := m.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := pending.Work{Kind: pending.IndexDocument, TeamID: "team", ID: "new", At: 1}
	wantKeys(t, into, teamItem.Key, keyItem.Key, listItem.Key, document.Key, nextSync.Key(), indexing.Key(), asked.Key())
	if want := []Milestone{Entering, Entered}; !slices.Equal(*noted, want) {
		t.Errorf("noted %q, want %q", *noted, want)
	}
}

var errStopped = errors.New("stopped")

// A Finish that was interrupted continues without changing what the new home has written since.
func TestARepeatedFinishKeepsWhatTheNewHomeWrote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stopAt  table.Key // before this item is copied
		reached Milestone
	}{
		"in access":  {keyItem.Key, Entering},
		"in work":    {indexing.Key(), Entered},
		"in arrival": {listItem.Key, Entered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, noted := newMove(t)
			into := m.To
			m.To.Rows = hookedRows{Rows: into.Rows, put: func(items []table.Item) error {
				if slices.ContainsFunc(items, func(i table.Item) bool { return i.Key == c.stopAt }) {
					return errStopped
				}
				return nil
			}}
			if _, err := m.Finish(t.Context()); !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			if last := (*noted)[len(*noted)-1]; last != c.reached {
				t.Fatalf("noted %q, want %q", last, c.reached)
			}
			changed, added, revoked := document, document, c.reached == Entered
			changed.Body, added.Partition = []byte("new"), "team/new"
			put(t, into, changed, added, nextSync.Promise().Item)
			want := []table.Key{teamItem.Key, listItem.Key, document.Key, added.Key, syncing.Key(), nextSync.Key(), indexing.Key()}
			if revoked {
				remove(t, into, keyItem.Key)
			} else {
				want = append(want, keyItem.Key)
			}

			again := &Move{From: m.From, To: into, Now: moved, Note: m.Note, Reached: c.reached}
			if _, err := again.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantKeys(t, into, want...)
			if item, err := into.Rows.Get(t.Context(), document.Key); err != nil || string(item.Body) != "new" {
				t.Errorf("the changed document is %q, %v", item.Body, err)
			}
		})
	}
}

// What an earlier Finish left in a home that nothing opens before the end is corrected.
func TestFinishCorrectsAHomeThatDoesNotLive(t *testing.T) {
	t.Parallel()
	m, _ := newMove(t)
	m.Note = nil
	other, gone := keyItem, keyItem
	other.Body, gone.Partition = []byte("old"), "key/revoked"
	done := pending.Work{Kind: pending.IndexDocument, TeamID: "team", ID: "done", At: 1}
	put(t, m.To, other, gone, done.Promise().Item)
	for range 2 {
		if _, err := m.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := keys(t, m.From)
		wantKeys(t, m.To, slices.DeleteFunc(want, func(k table.Key) bool { return k == pending.SweepsKey })...)
	}
}

// TestFinishMendsObjectsOfTheCopy damages what was copied, in ways that a disk and a person do: another bit, a cut, a lost and an added
// object. The copy of an object with another bit has its name and size.
func TestFinishMendsObjectsOfTheCopy(t *testing.T) {
	t.Parallel()
	m, _ := newMove(t)
	names := []string{"segments/bit", "segments/cut", "segments/lost", "segments/sound"}
	for _, name := range names {
		if err := m.From.Blobs.Put(t.Context(), name, []byte("content of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.To.Blobs.Delete(t.Context(), names[:3]...); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"segments/bit": "CONTENT OF segments/bit", "segments/cut": "content", "segments/added": "more"} {
		if err := m.To.Blobs.Put(t.Context(), name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := m.Finish(t.Context())
	if err != nil || report.Removed != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	var listed []string
	for object, err := range m.To.Blobs.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, object.Name)
		if content, err := m.To.Blobs.Get(t.Context(), object.Name); err != nil || string(content) != "content of "+object.Name {
			t.Errorf("%s: %q, %v", object.Name, content, err)
		}
	}
	if !slices.Equal(listed, names) {
		t.Errorf("objects %q, want %q", listed, names)
	}
}

func TestFinishStopsWhereTheHomesDiffer(t *testing.T) {
	t.Parallel()
	m, noted := newMove(t)
	into := m.To
	m.To.Rows = hookedRows{Rows: into.Rows, done: func(items []table.Item) {
		changed := items[0]
		changed.Body = []byte("damaged")
		put(t, into, changed)
	}}
	if _, err := m.Finish(t.Context()); !errors.Is(err, ErrDiffers) {
		t.Fatal(err)
	}
	wantKeys(t, into, document.Key)
	if len(*noted) > 0 {
		t.Errorf("noted %q", *noted)
	}
}

// hookedObjects calls put instead of storing an object.
type hookedObjects struct {
	blob.Store
	put func(name string) error
}

// Put implements blob.Store.
func (s hookedObjects) Put(_ context.Context, name string, _ []byte) error { return s.put(name) }

func TestObjectsThatAreNotStoredAreAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ put, want error }{
		"refused": {errStopped, errStopped},
		"lost":    {nil, ErrDiffers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, noted := newMove(t)
			if err := m.From.Blobs.Put(t.Context(), "segments/a", []byte("a")); err != nil {
				t.Fatal(err)
			}
			m.To.Blobs = hookedObjects{m.To.Blobs, func(string) error { return c.put }}
			if _, err := m.Finish(t.Context()); !errors.Is(err, c.want) || len(*noted) > 0 {
				t.Errorf("noted %q, %v, want %v", *noted, err, c.want)
			}
		})
	}
}
