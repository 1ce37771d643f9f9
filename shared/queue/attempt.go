package queue

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// Attempt runs h on batch and returns the messages that failed, in their order. If h
// panics or returns an id that is not in the batch, the whole batch fails, and err
// says why.
func Attempt(ctx context.Context, h Handler, batch []Message) (failed []Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, err = batch, fmt.Errorf("handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	again := map[string]bool{}
	for _, id := range h(ctx, slices.Clone(batch)) {
		if !slices.ContainsFunc(batch, func(m Message) bool { return m.ID == id }) {
			return batch, fmt.Errorf("handler failed message %q, which is not in its batch", id)
		}
		again[id] = true
	}
	for _, m := range batch {
		if again[m.ID] {
			failed = append(failed, m)
		}
	}
	return failed, nil
}
