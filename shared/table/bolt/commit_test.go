package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
	"docent/shared/table/bolt/bolttest"
)

// hold keeps the committer within the Write of one item until release.
func hold(t *testing.T, s *bolt.Store) (release func()) {
	t.Helper()
	letGo, err := s.HoldWriter(table.Put{Item: item("first", nil)})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := letGo(); err != nil {
			t.Error(err)
		}
	}
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("waited a minute in vain")
		}
	}
}

func TestWaitingWritesShareOneTransaction(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	release := hold(t, s)
	before, err := s.Commits()
	if err != nil {
		t.Fatal(err)
	}
	const writers = 40
	errs := make([]error, writers)
	finished := make(chan int, writers)
	for n := range writers {
		go func() {
			// Every fourth fails and must not disturb the others.
			condition := table.Absent()
			if n%4 == 0 {
				condition = table.Exists()
			}
			errs[n] = s.Write(t.Context(),
				table.Add{Key: item("count", nil).Key, By: map[string]int64{"n": 1}},
				table.Put{Item: item(fmt.Sprint(n), nil), If: condition})
			finished <- n
		}()
	}
	waitFor(t, func() bool { return s.Waiting() == writers })
	release()
	for range writers {
		<-finished
	}
	for n, err := range errs {
		if failed := table.AsConditionFailed(err); (failed != nil) != (n%4 == 0) || (err != nil && failed == nil) {
			t.Errorf("writer %d: %v", n, err)
		}
	}
	count, err := s.Get(t.Context(), item("count", nil).Key)
	if err != nil || count.Numbers["n"] != writers*3/4 {
		t.Errorf("counted %v, %v", count.Numbers, err)
	}
	after, err := s.Commits()
	if err != nil || after-before != 2 {
		t.Errorf("%d transactions (%v), want the first and one for all others", after-before, err)
	}
}

func TestWriteWithdrawnBeforeItsTurnWritesNothing(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	release := hold(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() { answer <- s.Write(ctx, table.Put{Item: item("a", nil)}) }()
	waitFor(t, func() bool { return s.Waiting() == 1 })
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	release()
	if _, err := s.Get(t.Context(), item("a", nil).Key); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

func TestWriterDoesNotBlockReaders(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	if err := s.Write(t.Context(), table.Put{Item: item("first", []byte("old"))}); err != nil {
		t.Fatal(err)
	}
	release := hold(t, s)
	// The writer stays within a transaction.
	got, err := s.Get(t.Context(), item("first", nil).Key)
	if err != nil || string(got.Body) != "old" {
		t.Errorf("get: %q, %v", got.Body, err)
	}
	page, err := s.Query(t.Context(), table.Query{Table: table.Documents, Partition: "p"})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("query: %d items, %v", len(page.Items), err)
	}
	release()
}

func TestReaderSeesAWriteWhole(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	written := make(chan error, 1)
	go func() {
		for version := range int64(200) {
			var ops []table.Op
			for n := range 20 {
				next := item(fmt.Sprint(n), make([]byte, 200))
				next.Version = version
				ops = append(ops, table.Put{Item: next})
			}
			if err := s.Write(t.Context(), ops...); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for {
		page, err := s.Query(t.Context(), table.Query{Table: table.Documents, Partition: "p"})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range page.Items {
			if got.Version != page.Items[0].Version || len(page.Items) != 20 {
				t.Fatalf("versions %d and %d on one page of %d", got.Version, page.Items[0].Version, len(page.Items))
			}
		}
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/docent.db"
	s := open(t, path)
	release := hold(t, s)
	answer := make(chan error, 1)
	go func() { answer <- s.Write(t.Context(), table.Put{Item: item("a", nil)}) }()
	waitFor(t, func() bool { return s.Waiting() == 1 })
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	release()
	if err := errors.Join(<-answer, <-closed); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Get(t.Context(), item("a", nil).Key); err != nil {
		t.Errorf("get: %v", err)
	}
}

func TestDamagedItemIsReportedByEveryCall(t *testing.T) {
	t.Parallel()
	s := bolttest.Open(t)
	k := item("a", nil).Key
	for name, data := range map[string][]byte{
		"unknown format": {9, 0, 0, 0, 0, 0},
		"cut short":      {1, 0, 0, 200, 1},
		"too long":       {1, 0, 0, 0, 0, 0, 7},
		"endless list":   {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		if err := s.Ruin(k, data); err != nil {
			t.Fatal(err)
		}
		_, getErr := s.Get(t.Context(), k)
		_, batchErr := s.BatchGet(t.Context(), []table.Key{k})
		_, queryErr := s.Query(t.Context(), table.Query{Table: k.Table, Partition: k.Partition})
		writeErr := s.Write(t.Context(), table.Add{Key: k, By: map[string]int64{"n": 1}})
		for call, err := range map[string]error{"get": getErr, "batch": batchErr, "query": queryErr, "write": writeErr} {
			if err == nil || errors.Is(err, table.ErrNotFound) || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s, %s: %v", name, call, err)
			}
		}
	}
	if err := s.Write(t.Context(), table.Put{Item: item("b", nil)}); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
}
