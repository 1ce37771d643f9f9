package tabletest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"docent/shared/memory"
	"docent/shared/table"
)

var contextCases = []testCase{
	{"the memory of items read is charged to the request", 0, func(t *testing.T, e *env) {
		large := e.item("large")
		large.Body = make([]byte, 10_000)
		e.put(t, large)
		room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0),
			Bytes: memory.NewPool(1<<20, 0), Small: 1 << 20, Patience: time.Second}
		for name, read := range map[string]func(context.Context) error{
			"batch get": func(ctx context.Context) error { _, err := e.store.BatchGet(ctx, []table.Key{large.Key}); return err },
			"query":     func(ctx context.Context) error { _, err := e.store.Query(ctx, e.within(table.Query{})); return err },
		} {
			work := room.Work("team")
			if err := work.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx := memory.WithWork(t.Context(), work)
			if err := read(ctx); err != nil || room.Bytes.Held() != 0 {
				t.Errorf("%s: %d bytes are held of a read that is not kept, %v", name, room.Bytes.Held(), err)
			}
			if err := read(memory.WithReads(ctx, 3)); err != nil || room.Bytes.Held() != 3*int64(table.Size(large)) {
				t.Errorf("%s: %d bytes are held, %v", name, room.Bytes.Held(), err)
			}
			work.End()
		}
	}},
	{"a call under an ended context fails and writes nothing", 0, func(t *testing.T, e *env) {
		kept := e.item("kept")
		e.put(t, kept)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		add := table.Add{Key: kept.Key, By: map[string]int64{"n": 1}}
		for name, call := range map[string]func() error{
			"get":       func() error { _, err := e.store.Get(ctx, kept.Key); return err },
			"batch get": func() error { _, err := e.store.BatchGet(ctx, []table.Key{kept.Key}); return err },
			"query":     func() error { _, err := e.store.Query(ctx, e.within(table.Query{})); return err },
			"add":       func() error { _, err := e.store.Add(ctx, add); return err },
			"put":       func() error { return e.store.Write(ctx, table.Put{Item: e.item("new")}) },
			"delete":    func() error { return e.store.Write(ctx, table.Delete{Key: kept.Key}) },
			"transaction": func() error {
				return e.store.Write(ctx, table.Put{Item: e.item("new")}, table.Delete{Key: kept.Key})
			},
		} {
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		e.same(t, kept)
		e.missing(t, e.key("new"))
	}},
	{"a write cut off happens wholly or not at all", transactions | concurrency, func(t *testing.T, e *env) {
		for n := range 40 {
			first, second := e.key(fmt.Sprintf("%d first", n)), e.key(fmt.Sprintf("%d second", n))
			ctx, cancel := context.WithCancel(t.Context())
			answer := make(chan error, 1)
			go func() {
				answer <- e.store.Write(ctx, table.Put{Item: table.Item{Key: first}}, table.Put{Item: table.Item{Key: second}})
			}()
			// Other requests pass the time, more of them each round.
			for range n % 8 {
				e.missing(t, e.key("none"))
			}
			cancel()
			err := <-answer
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("write: %v", err)
			}
			_, firstErr := e.store.Get(t.Context(), first)
			_, secondErr := e.store.Get(t.Context(), second)
			switch {
			case err == nil && (firstErr != nil || secondErr != nil):
				t.Errorf("acknowledged, but: %v, %v", firstErr, secondErr)
			case firstErr == nil && secondErr != nil:
				t.Errorf("the first is there without the second: %v", secondErr)
			}
		}
	}},
}
