// Package blobtest is the contract suite of blob.Store, which every engine passes.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/blob"
	"docent/shared/table"
)

// Run tests an engine. Each call of open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	cases := []struct {
		name string
		run  func(t *testing.T, s blob.Store)
	}{
		{"put only if absent", putIfAbsent},
		{"one of many concurrent puts wins", concurrentPuts},
		{"get returns what was put", get},
		{"ranges", ranges},
		{"missing object", missing},
		{"a name and names below it coexist", sideBySide},
		{"list by prefix in order over pages", list},
		{"list stops when the caller stops", listStops},
		{"delete", deletes},
		{"a name is free again after delete", putAfterDelete},
		{"delete more than one request holds", deleteMany},
		{"a reader never sees half an object", wholeOrNothing},
		{"bad names", badNames},
		{"cancelled context", cancelled},
		{"calls are counted", counted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

func put(t *testing.T, s blob.Store, name string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), name, data); err != nil {
		t.Fatalf("Put(%.60s): %v", name, err)
	}
}

func wantObject(t *testing.T, s blob.Store, name string, want []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("Get(%.60s): %v", name, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Get(%.60s): %d bytes that differ from the %d put", name, len(got), len(want))
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// pattern returns n bytes in which every aligned 8 bytes differ, so that a shifted or
// repeated part is noticed.
func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>(8*(i%4)) + i*31)
	}
	return data
}

func putIfAbsent(t *testing.T, s blob.Store) {
	put(t, s, "a/first", []byte("one"))
	wantError(t, "second Put", s.Put(t.Context(), "a/first", []byte("two")), blob.ErrExists)
	wantError(t, "Put of the same bytes", s.Put(t.Context(), "a/first", []byte("one")), blob.ErrExists)
	wantObject(t, s, "a/first", []byte("one"))
	put(t, s, "a/second", []byte("two"))
	wantObject(t, s, "a/second", []byte("two"))
}

func concurrentPuts(t *testing.T, s blob.Store) {
	const writers = 16
	errs := make([]error, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			errs[i] = s.Put(t.Context(), "race", bytes.Repeat([]byte{byte('a' + i)}, 1000))
		})
	}
	wait.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Fatalf("writers %d and %d both won", winner, i)
		default:
			wantError(t, "a losing Put", err, blob.ErrExists)
		}
	}
	if winner < 0 {
		t.Fatal("no writer won")
	}
	wantObject(t, s, "race", bytes.Repeat([]byte{byte('a' + winner)}, 1000))
}

func get(t *testing.T, s blob.Store) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	objects := map[string][]byte{
		"empty":                  {},
		"one":                    {0},
		"every-byte":             all,
		"large/20MB":             pattern(20 << 20),
		strings.Repeat("n", 512): []byte("longest name"),
		strings.Repeat("abcdefghijklmno/", 31) + "last": []byte("deep"),
	}
	for name, data := range objects {
		put(t, s, name, data)
	}
	for name, data := range objects {
		wantObject(t, s, name, data)
	}
	got, err := s.Get(t.Context(), "every-byte")
	if err != nil {
		t.Fatal(err)
	}
	got[0] = 'x'
	wantObject(t, s, "every-byte", all)
}

func ranges(t *testing.T, s blob.Store) {
	data := pattern(1000)
	put(t, s, "thousand", data)
	put(t, s, "empty", nil)
	for _, c := range []struct {
		name           string
		offset, length int64
		valid          bool
	}{
		{"thousand", 0, 1, true},
		{"thousand", 0, 1000, true},
		{"thousand", 999, 1, true},
		{"thousand", 123, 456, true},
		{"thousand", 0, 0, true},
		{"thousand", 1000, 0, true},
		{"thousand", 0, 1001, false},
		{"thousand", 999, 2, false},
		{"thousand", 1000, 1, false},
		{"thousand", 1001, 0, false},
		{"thousand", -1, 1, false},
		{"thousand", 0, -1, false},
		{"thousand", math.MaxInt64, 1, false},
		{"thousand", 1, math.MaxInt64, false},
		{"thousand", math.MaxInt64, math.MaxInt64, false},
		{"empty", 0, 0, true},
		{"empty", 0, 1, false},
	} {
		got, err := s.GetRange(t.Context(), c.name, c.offset, c.length)
		if !c.valid {
			if !errors.Is(err, blob.ErrInvalid) {
				t.Errorf("GetRange(%s, %d, %d): error %v, want ErrInvalid", c.name, c.offset, c.length, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("GetRange(%s, %d, %d): %v", c.name, c.offset, c.length, err)
			continue
		}
		if c.name == "thousand" && !bytes.Equal(got, data[c.offset:c.offset+c.length]) || c.name == "empty" && len(got) > 0 {
			t.Errorf("GetRange(%s, %d, %d): other bytes than were put", c.name, c.offset, c.length)
		}
	}
}

func missing(t *testing.T, s blob.Store) {
	put(t, s, "a/b", []byte("x"))
	for _, name := range []string{"none", "a", "a/b/c", "a/B"} {
		_, err := s.Get(t.Context(), name)
		wantError(t, "Get "+name, err, blob.ErrNotFound)
		_, err = s.GetRange(t.Context(), name, 0, 1)
		wantError(t, "GetRange "+name, err, blob.ErrNotFound)
		_, err = s.GetRange(t.Context(), name, 0, 0)
		wantError(t, "GetRange of nothing "+name, err, blob.ErrNotFound)
		_, err = s.GetRange(t.Context(), name, -1, 1)
		wantError(t, "GetRange of no range "+name, err, blob.ErrInvalid)
	}
}

func sideBySide(t *testing.T, s blob.Store) {
	names := []string{"A", "A/b", "a", "a-b", "a/.b", "a/B", "a/b", "a/b/c", "aa"}
	for _, name := range slices.Backward(names) {
		put(t, s, name, []byte(name))
	}
	for _, name := range names {
		wantObject(t, s, name, []byte(name))
	}
	wantList(t, s, "", names)
	wantList(t, s, "a/", []string{"a/.b", "a/B", "a/b", "a/b/c"})
	wantList(t, s, "a/.", []string{"a/.b"})
	wantList(t, s, "A", []string{"A", "A/b"})
}

func deletes(t *testing.T, s blob.Store) {
	for _, name := range []string{"d/1", "d/2", "d/3"} {
		put(t, s, name, []byte(name))
	}
	for range 2 {
		if err := s.Delete(t.Context(), "d/1", "d/3", "d/none"); err != nil {
			t.Fatalf("Delete: %v", err)
		}
		wantList(t, s, "", []string{"d/2"})
	}
	if err := s.Delete(t.Context()); err != nil {
		t.Errorf("Delete of nothing: %v", err)
	}
	wantError(t, "Delete with a bad name", s.Delete(t.Context(), "d/2", "../d/2"), blob.ErrInvalid)
	wantObject(t, s, "d/2", []byte("d/2"))
}

func putAfterDelete(t *testing.T, s blob.Store) {
	put(t, s, "again", []byte("one"))
	if err := s.Delete(t.Context(), "again"); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	put(t, s, "again", []byte("two"))
	wantObject(t, s, "again", []byte("two"))
}

func wholeOrNothing(t *testing.T, s blob.Store) {
	data := pattern(4 << 20)
	names := []string{"w/1", "w/2", "w/3", "w/4"}
	written := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(written)
		for _, name := range names {
			if err := s.Put(t.Context(), name, data); err != nil {
				t.Errorf("Put(%s): %v", name, err)
			}
		}
	})
	for _, name := range names {
		wait.Go(func() {
			for {
				got, err := s.Get(t.Context(), name)
				if err == nil {
					if !bytes.Equal(got, data) {
						t.Errorf("a reader of %s saw %d bytes that are not the whole object", name, len(got))
					}
					return
				}
				if !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("Get(%s): %v", name, err)
					return
				}
				select {
				case <-written:
					if _, err := s.Get(t.Context(), name); err != nil {
						t.Errorf("Get(%s) after Put: %v", name, err)
					}
					return
				default:
				}
			}
		})
	}
	wait.Wait()
}

func badNames(t *testing.T, s blob.Store) {
	for _, name := range []string{
		"", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a b", "é", "a\x00b", "a=", strings.Repeat("n", 513),
	} {
		wantError(t, "Put "+name, s.Put(t.Context(), name, []byte("x")), blob.ErrInvalid)
		_, err := s.Get(t.Context(), name)
		wantError(t, "Get "+name, err, blob.ErrInvalid)
		_, err = s.GetRange(t.Context(), name, 0, 1)
		wantError(t, "GetRange "+name, err, blob.ErrInvalid)
		wantError(t, "Delete "+name, s.Delete(t.Context(), name), blob.ErrInvalid)
	}
	for _, prefix := range []string{"/", "a//", "../", "é", strings.Repeat("p", 513)} {
		_, err := collect(t.Context(), s, prefix)
		wantError(t, "List "+prefix, err, blob.ErrInvalid)
	}
	wantList(t, s, "", nil)
}

func cancelled(t *testing.T, s blob.Store) {
	put(t, s, "there", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Put", s.Put(ctx, "new", []byte("x")), context.Canceled)
	_, err := s.Get(ctx, "there")
	wantError(t, "Get", err, context.Canceled)
	_, err = s.GetRange(ctx, "there", 0, 1)
	wantError(t, "GetRange", err, context.Canceled)
	_, err = collect(ctx, s, "")
	wantError(t, "List", err, context.Canceled)
	wantError(t, "Delete", s.Delete(ctx, "there"), context.Canceled)
	wantList(t, s, "", []string{"there"})
}

func counted(t *testing.T, s blob.Store) {
	for _, c := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"Put", func(ctx context.Context) error { return s.Put(ctx, "counted", []byte("x")) }},
		{"Get", func(ctx context.Context) error { _, err := s.Get(ctx, "counted"); return err }},
		{"GetRange", func(ctx context.Context) error { _, err := s.GetRange(ctx, "counted", 0, 1); return err }},
		{"List", func(ctx context.Context) error { _, err := collect(ctx, s, ""); return err }},
		{"Delete", func(ctx context.Context) error { return s.Delete(ctx, "counted") }},
	} {
		ctx, meter := table.WithMeter(t.Context())
		if err := c.call(ctx); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if cost := meter.Read(); cost != (table.Cost{Calls: 1, RoundTrips: 1}) {
			t.Errorf("%s cost %+v, want one call", c.name, cost)
		}
	}
}

// clockSlack is the tolerance for the clock of a protocol server.
const clockSlack = time.Minute
