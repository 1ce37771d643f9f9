package tabletest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"docent/shared/table"
)

var contextCases = []testCase{
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
