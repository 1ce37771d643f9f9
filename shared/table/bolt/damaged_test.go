package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

// ofDocument returns an item of a document.
func ofDocument(sort string) table.Item {
	return table.Item{Key: table.Key{Table: table.Documents, Partition: "team/list", Sort: sort}, Version: 7, Body: []byte("The invoice is due after 30 days."),
		Numbers: map[string]int64{"bytes": 33}, Strings: map[string]string{"id": sort, "title": "Invoices"}, Expires: time.Unix(4_000_000_000, 0).UTC()}
}

// TestNoFlippedBitIsServed: whichever bit of an item of a document is flipped, the item is the one that was written, or it is damaged.
func TestNoFlippedBitIsServed(t *testing.T) {
	t.Parallel()
	s, item := bolttest.Open(t), ofDocument("a")
	if err := s.Write(t.Context(), table.Put{Item: item}); err != nil {
		t.Fatal(err)
	}
	data, err := s.Raw(item.Key)
	if err != nil {
		t.Fatal(err)
	}
	unnoticed := 0
	for bit := range 8 * len(data) {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if err := s.Ruin(item.Key, flipped); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), item.Key)
		if table.AsDamaged(err) != nil {
			continue
		}
		if unnoticed++; err != nil || !reflect.DeepEqual(got, item) {
			t.Errorf("bit %d: %v, %v", bit, got, err)
		}
	}
	if unnoticed > 1 { // that says that there is a checksum
		t.Errorf("%d flips were not noticed", unnoticed)
	}
	// The flag is all that tells a program that knows no checksums from this one.
	data[1] &^= 2
	if err := s.Ruin(item.Key, data); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), item.Key); err != nil || !reflect.DeepEqual(got, item) {
		t.Errorf("without the flag: %v, %v", got, err)
	}
	data[1] |= 2
	other := item.Key
	other.Partition = "team2/list"
	if err := s.Ruin(other, data); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), other); table.AsDamaged(err) == nil {
		t.Errorf("under another key: %v", err)
	}
}

// TestReadsReturnWhatIsNotDamaged: a reader that goes on without damaged items is told of each, and gets all others.
func TestReadsReturnWhatIsNotDamaged(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	var keys []table.Key
	for n := range 6 {
		item := ofDocument(fmt.Sprint(n))
		keys = append(keys, item.Key)
		if err := s.Write(t.Context(), table.Put{Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []table.Key{keys[1], keys[5]} {
		if err := s.Ruin(k, []byte{9}); err != nil {
			t.Fatal(err)
		}
	}
	var told []table.Key
	whole := table.Undamaged(s, func(_ context.Context, d *table.DamagedError) { told = append(told, d.Keys...) })
	names := func(items []table.Item) (sorts []string) {
		for _, item := range items {
			sorts = append(sorts, item.Sort)
		}
		return sorts
	}
	items, err := whole.BatchGet(t.Context(), keys)
	if err != nil || !slices.Equal(names(items), []string{"0", "2", "3", "4"}) || !slices.Equal(told, []table.Key{keys[1], keys[5]}) {
		t.Errorf("batch: %q, %v, told %v", names(items), err, told)
	}
	for _, descending := range []bool{false, true} {
		told, items = nil, nil
		q := table.Query{Table: table.Documents, Partition: "team/list", Limit: 2, Descending: descending}
		for item, err := range table.All(t.Context(), whole, q) {
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, item)
		}
		slices.SortFunc(told, func(a, b table.Key) int { return int(a.Sort[0]) - int(b.Sort[0]) })
		if len(items) != 4 || !slices.Equal(told, []table.Key{keys[1], keys[5]}) {
			t.Errorf("list: %q, told %v", names(items), told)
		}
	}
	yielded, failed := 0, 0
	for _, err := range table.All(t.Context(), s, table.Query{Table: table.Documents, Partition: "team/list"}) {
		if yielded++; err != nil {
			failed++
		}
	}
	if yielded != 5 || failed != 1 {
		t.Errorf("yielded %d, %d of them errors", yielded, failed)
	}
}

// TestADamagedItemCanBeReplacedAndExpires: otherwise nothing could ever remove one.
func TestADamagedItemCanBeReplacedAndExpires(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	s := bolttest.OpenAt(t, func() time.Time { return time.Unix(1_000_000_000+passed.Load(), 0) })
	item := ofDocument("a")
	item.Expires = time.Unix(1_000_000_060, 0).UTC()
	put := func(op table.Op) error { return s.Write(t.Context(), op) }
	ruin := func() {
		t.Helper()
		if err := errors.Join(put(table.Put{Item: item}), s.Ruin(item.Key, []byte{9})); err != nil {
			t.Fatal(err)
		}
	}
	for name, op := range map[string]table.Op{
		"put if absent": table.Put{Item: item, If: table.Absent()}, "put if it exists": table.Put{Item: item, If: table.Exists()},
		"delete a version": table.Delete{Key: item.Key, If: table.VersionIs(7)}, "check": table.Check{Key: item.Key},
		"add": table.Add{Key: item.Key, By: map[string]int64{"n": 1}},
	} {
		ruin()
		if err := put(op); table.AsDamaged(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := put(table.Delete{Key: item.Key}); err != nil {
		t.Errorf("delete: %v", err)
	}
	ruin()
	later := item
	later.Expires = item.Expires.Add(time.Hour)
	if err := put(table.Put{Item: later}); err != nil {
		t.Errorf("put: %v", err)
	}
	passed.Add(120)
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if items, expiring, err := s.Stored(t.Context(), table.Documents); items != 1 || expiring != 1 || err != nil {
		t.Errorf("%d items, %d expire, %v", items, expiring, err)
	}
	if err := s.Ruin(item.Key, []byte{9}); err != nil {
		t.Fatal(err)
	}
	passed.Add(7200)
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if items, expiring, err := s.Stored(t.Context(), table.Documents); items != 0 || expiring != 0 || err != nil {
		t.Errorf("%d items, %d expire, %v", items, expiring, err)
	}
}
