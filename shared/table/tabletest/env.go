package tabletest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"docent/shared/table"
)

func (e *env) key(sort string) table.Key {
	return table.Key{Table: table.Documents, Partition: e.partition, Sort: sort}
}

// item returns an item with a value in every field.
func (e *env) item(sort string) table.Item {
	return table.Item{
		Key:     e.key(sort),
		Version: 3,
		Body:    []byte("body of " + sort),
		Numbers: map[string]int64{"n": 7},
		Strings: map[string]string{"state": "open"},
	}
}

func (e *env) write(t *testing.T, ops ...table.Op) {
	t.Helper()
	if err := e.store.Write(t.Context(), ops...); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func (e *env) put(t *testing.T, items ...table.Item) {
	t.Helper()
	for _, item := range items {
		e.write(t, table.Put{Item: item})
	}
}

func (e *env) get(t *testing.T, k table.Key) table.Item {
	t.Helper()
	item, err := e.store.Get(t.Context(), k)
	if err != nil {
		t.Fatalf("get %q %q: %v", k.Partition, k.Sort, err)
	}
	return item
}

// same fails the test unless want is stored under its key.
func (e *env) same(t *testing.T, want table.Item) {
	t.Helper()
	if got := e.get(t, want.Key); !equal(got, want) {
		t.Fatalf("stored:\n%swant:\n%s", show(got), show(want))
	}
}

func (e *env) missing(t *testing.T, keys ...table.Key) {
	t.Helper()
	for _, k := range keys {
		if item, err := e.store.Get(t.Context(), k); !errors.Is(err, table.ErrNotFound) {
			t.Fatalf("get %q %q: %v, want not found: %s", k.Partition, k.Sort, err, show(item))
		}
	}
}

// failed fails the test unless err reports the key k and old, the item under it,
// nil for none.
func (e *env) failed(t *testing.T, err error, k table.Key, old *table.Item) {
	t.Helper()
	f := table.AsConditionFailed(err)
	switch {
	case f == nil:
		t.Fatalf("error %v, want a failed condition", err)
	case f.Key != k:
		t.Fatalf("the condition on %v failed, want %v", f.Key, k)
	case e.options.NoOldItem:
	case (f.Item == nil) != (old == nil):
		t.Fatalf("the existing item: %v, want %v", f.Item, old)
	case old != nil && !equal(*f.Item, *old):
		t.Fatalf("the existing item:\n%swant:\n%s", show(*f.Item), show(*old))
	}
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// sorts returns the sort keys of all pages of q, within the case's partition
// unless q names one.
func (e *env) sorts(t *testing.T, q table.Query) []string {
	t.Helper()
	var sorts []string
	for item, err := range table.All(t.Context(), e.store, e.within(q)) {
		if err != nil {
			t.Fatalf("query: %v", err)
		}
		sorts = append(sorts, item.Sort)
	}
	return sorts
}

func (e *env) within(q table.Query) table.Query {
	if q.Table == "" {
		q.Table = table.Documents
	}
	if q.Partition == "" {
		q.Partition = e.partition
	}
	return q
}

// equal compares all stored fields; nil and empty are the same.
func equal(a, b table.Item) bool {
	return a.Key == b.Key && a.Version == b.Version && bytes.Equal(a.Body, b.Body) &&
		maps.Equal(a.Numbers, b.Numbers) && maps.Equal(a.Strings, b.Strings) && a.Expires.Equal(b.Expires)
}

// show renders an item for messages, with long values cut.
func show(item table.Item) string {
	return fmt.Sprintf("  %s %.60q %.60q version %d, body %d bytes %.60q, numbers %v, strings %.200q, expires %v\n",
		item.Table, item.Partition, item.Sort, item.Version, len(item.Body), item.Body, item.Numbers, fmt.Sprint(item.Strings), item.Expires)
}

// together runs do n times in parallel and waits for all.
func together(n int, do func(int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}
