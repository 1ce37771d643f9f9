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
	w := &wholeTest{T: t, s: open(t, clock.Now), mark: uuid.NewString(), live: map[table.Key]table.Item{}}
	items := w.items(clock.Now())
	if err := w.s.PutAll(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	clock.Advance(65 * time.Second) // 21 have expired
	var doomed []table.Key
	for n, item := range items {
		if item.Expires.IsZero() || item.Expires.After(clock.Now()) {
			w.live[item.Key] = item
			if n%2 == 0 {
				doomed = append(doomed, item.Key)
			}
		}
	}
	w.checkScan()
	if err := w.s.DeleteAll(t.Context(), append(doomed, table.Key{Table: table.Usage, Partition: w.mark, Sort: "missing"})); err != nil {
		t.Fatal(err)
	}
	for _, k := range doomed {
		delete(w.live, k)
	}
	w.checkScan()
	w.checkEdges()
}

// wholeTest is a run of RunWhole.
type wholeTest struct {
	*testing.T
	s    Whole
	mark string                   // begins the partitions of this test
	live map[table.Key]table.Item // the items that a scan must yield
}

// items returns items of every form, of which a third expire, three seconds apart.
func (w *wholeTest) items(now time.Time) []table.Item {
	var items []table.Item
	for n := range 130 {
		item := table.Item{Key: table.Key{Table: table.Usage, Partition: fmt.Sprintf("%s/%d", w.mark, n%7), Sort: fmt.Sprintf("%04d", n)}, Version: int64(n)}
		switch n % 3 {
		case 0:
			item.Body = bytes.Repeat([]byte{byte(n)}, 30_000) // of several pages
		case 1:
			item.Numbers, item.Strings = map[string]int64{"n": -int64(n)}, map[string]string{"s": "ü"}
		case 2:
			item.Expires = now.Add(time.Duration(n) * time.Second)
		}
		items = append(items, item)
	}
	return items
}

// checkScan checks that a scan yields the live items, each once.
func (w *wholeTest) checkScan() {
	w.Helper()
	found := map[table.Key]table.Item{}
	for item, err := range w.s.Scan(w.Context(), table.Usage) {
		if err != nil {
			w.Fatal(err)
		}
		if _, twice := found[item.Key]; twice {
			w.Errorf("%v is yielded twice", item.Key)
		}
		if strings.HasPrefix(item.Partition, w.mark) {
			found[item.Key] = item
		}
	}
	if len(found) != len(w.live) {
		w.Errorf("%d items, want %d", len(found), len(w.live))
	}
	for k, want := range w.live {
		if got := found[k]; fmt.Sprint(got) != fmt.Sprint(want) {
			w.Errorf("%v: %.200v, want %.200v", k, got, want)
		}
	}
}

// checkEdges checks a scan that is stopped, one of an unknown table, and writes of nothing.
func (w *wholeTest) checkEdges() {
	for _, err := range w.s.Scan(w.Context(), table.Usage) {
		if err != nil {
			w.Error(err)
		}
		break // a reader may stop
	}
	for _, err := range w.s.Scan(w.Context(), "unknown") {
		if err == nil {
			w.Error("an unknown table is scanned")
		}
	}
	if w.s.PutAll(w.Context(), nil) != nil || w.s.DeleteAll(w.Context(), nil) != nil {
		w.Error("nothing cannot be written")
	}
}
