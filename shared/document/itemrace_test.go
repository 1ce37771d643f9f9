package document_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/table"
)

// between is a table in which call is called before the first Get of key.
type between struct {
	table.Store
	key  table.Key
	call func()
	met  atomic.Bool
}

func (b *between) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if k == b.key && !b.met.Swap(true) {
		b.call()
	}
	return b.Store.Get(ctx, k, opts...)
}

// eachDamage runs test with an item whose body is damaged, and with one whose record is. in is how the item was put, and keeping is a put
// that keeps its content and has another rule.
func eachDamage(t *testing.T, test func(t *testing.T, h *fixture, id string, in, keeping document.Input)) {
	for name, ruined := range map[string]func(id string) func(table.Item) bool{"its body": chunksOf, "its record": recordOf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			in := h.item("doc", long("word"), h.clock.Now())
			id, _ := h.put(in)
			h.ruin(ruined(id))
			keeping := in
			keeping.Body, keeping.KeepContent, keeping.Access = "", true, &access.Rule{Users: []access.Entry{{Name: "ada"}}}
			test(t, h, id, in, keeping)
		})
	}
}

// TestWhatIsStoredAfterDamageIsKept: only what was found damaged goes, and the new version gets the rule.
func TestWhatIsStoredAfterDamageIsKept(t *testing.T) {
	t.Parallel()
	eachDamage(t, func(t *testing.T, h *fixture, id string, in, keeping document.Input) {
		plain := h.Table
		h.Table = &between{Store: plain, key: table.Key{Table: table.Documents, Partition: teamID + "/" + id, Sort: "record"}, call: func() {
			h.Table = plain
			again := in
			again.Body = long("other")
			h.put(again)
		}}
		if err := h.KeepOrForget(t.Context(), teamID, keeping); err != nil {
			t.Fatal(err)
		}
		if d := h.read(id); d.Body != long("other") || !d.Access.Equal(keeping.Access) {
			t.Errorf("it is for %v and has %q", d.Access, d.Body)
		}
	})
}

// TestADamagedItemThatNothingReplacesIsForgotten, and it can be put again.
func TestADamagedItemThatNothingReplacesIsForgotten(t *testing.T) {
	t.Parallel()
	eachDamage(t, func(t *testing.T, h *fixture, id string, in, keeping document.Input) {
		if err := h.KeepOrForget(t.Context(), teamID, keeping); err != nil {
			t.Fatal(err)
		}
		if found, err := h.Find(t.Context(), teamID, []string{id}, false); err != nil || len(found) > 0 {
			t.Errorf("left: %v, %v", found, err)
		}
		h.put(in)
		h.read(id)
	})
}

// beforeDrop is a table in which call is called before the first Write that only deletes key. damaged then receives that another Write
// found key damaged.
type beforeDrop struct {
	table.Store
	key     table.Key
	call    func()
	called  atomic.Bool
	damaged chan struct{}
}

func (b *beforeDrop) Write(ctx context.Context, ops ...table.Op) error {
	if drop, ok := ops[0].(table.Delete); ok && len(ops) == 1 && drop.Key == b.key && !b.called.Swap(true) {
		b.call()
	}
	err := b.Store.Write(ctx, ops...)
	if found := table.AsDamaged(err); found != nil && b.called.Load() && slices.Contains(found.Keys, b.key) {
		b.damaged <- struct{}{}
	}
	return err
}

// TestARemovalDuringADropOfItsDamagedMarkCounts: the item does not come back by a change that was made before, although the drop had read
// the damaged mark when the removal came.
func TestARemovalDuringADropOfItsDamagedMarkCounts(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.item("gone", "body", h.clock.Now())
	id, _ := h.put(in)
	h.remove(in, h.clock.Now())
	mark := h.ruin(func(i table.Item) bool { return i.Sort == "removed" })[0]
	damaged, removed := make(chan struct{}, 1), make(chan error, 1)
	h.Table = &beforeDrop{Store: h.Table, key: mark, damaged: damaged, call: func() {
		go func() {
			_, err := h.Remove(t.Context(), teamID, h.issue, in.URI, h.clock.Now().Add(time.Minute), "r")
			removed <- err
		}()
		<-damaged
		if !h.DropsMark() { // the removal waits for nothing
			removed <- <-removed
		}
	}}
	h.put(in)
	if err := <-removed; err != nil {
		t.Fatal(err)
	}
	if _, err := h.Read(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it came back: %v", err)
	}
}
