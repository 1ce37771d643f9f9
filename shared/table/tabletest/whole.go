package tabletest

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/table"

	"github.com/google/uuid"
)

// Whole is a store that can be copied as a whole.
type Whole interface {
	table.Store
	Scan(ctx context.Context, tableName string) iter.Seq2[table.Item, error]
	PutAll(ctx context.Context, items []table.Item) error
	DeleteAll(ctx context.Context, keys []table.Key) error
}

// RunWhole checks what a copy of a whole store uses. Other tests may use the tables too.
func RunWhole(t *testing.T, open func(t *testing.T, now func() time.Time) Whole) {
	clock := clocktest.New(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	s := open(t, clock.Now)
	mark := uuid.NewString()
	var items []table.Item
	for n := range 130 {
		item := table.Item{Key: table.Key{Table: table.Usage, Partition: fmt.Sprintf("%s/%d", mark, n%7), Sort: fmt.Sprintf("%04d", n)}, Version: int64(n)}
		switch n % 3 {
		case 0:
			item.Body = bytes.Repeat([]byte{byte(n)}, 30_000) // of several pages
		case 1:
			item.Numbers, item.Strings = map[string]int64{"n": -int64(n)}, map[string]string{"s": "ü"}
		case 2:
			item.Expires = clock.Now().Add(time.Duration(n) * time.Second)
		}
		items = append(items, item)
	}
	if err := s.PutAll(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	clock.Advance(65 * time.Second) // 21 have expired
	scan := func() map[table.Key]table.Item {
		found := map[table.Key]table.Item{}
		for item, err := range s.Scan(t.Context(), table.Usage) {
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := found[item.Key]; twice {
				t.Errorf("%v is yielded twice", item.Key)
			}
			if strings.HasPrefix(item.Partition, mark) {
				found[item.Key] = item
			}
		}
		return found
	}
	live := map[table.Key]table.Item{}
	var doomed []table.Key
	for n, item := range items {
		if item.Expires.IsZero() || item.Expires.After(clock.Now()) {
			live[item.Key] = item
			if n%2 == 0 {
				doomed = append(doomed, item.Key)
			}
		}
	}
	check := func(found map[table.Key]table.Item) {
		t.Helper()
		if len(found) != len(live) {
			t.Errorf("%d items, want %d", len(found), len(live))
		}
		for k, want := range live {
			if got := found[k]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v: %.200v, want %.200v", k, got, want)
			}
		}
	}
	check(scan())
	if err := s.DeleteAll(t.Context(), append(doomed, table.Key{Table: table.Usage, Partition: mark, Sort: "missing"})); err != nil {
		t.Fatal(err)
	}
	for _, k := range doomed {
		delete(live, k)
	}
	check(scan())
	for _, err := range s.Scan(t.Context(), table.Usage) {
		if err != nil {
			t.Error(err)
		}
		break // a reader may stop
	}
	for _, err := range s.Scan(t.Context(), "unknown") {
		if err == nil {
			t.Error("an unknown table is scanned")
		}
	}
	if s.PutAll(t.Context(), nil) != nil || s.DeleteAll(t.Context(), nil) != nil {
		t.Error("nothing cannot be written")
	}
}
