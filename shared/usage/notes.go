package usage

import (
	"context"
	"maps"
	"sync"
)

// Notes is what the rooms that work on one call tell of it. A nil Notes takes
// nothing.
type Notes struct {
	mu      sync.Mutex
	numbers map[string]int64
	source  string
}

type notesKey struct{}

// WithNotes returns a context whose call is noted in the returned Notes.
func WithNotes(ctx context.Context) (context.Context, *Notes) {
	n := &Notes{numbers: map[string]int64{}}
	return context.WithValue(ctx, notesKey{}, n), n
}

func notesFrom(ctx context.Context) *Notes {
	n, _ := ctx.Value(notesKey{}).(*Notes)
	return n
}

// Note adds n to a number of the call of ctx.
func Note(ctx context.Context, number string, n int64) {
	if notes := notesFrom(ctx); notes != nil {
		notes.mu.Lock()
		defer notes.mu.Unlock()
		notes.numbers[number] += n
	}
}

// About notes the collection or data source that the call of ctx is about.
func About(ctx context.Context, source string) {
	if notes := notesFrom(ctx); notes != nil {
		notes.mu.Lock()
		defer notes.mu.Unlock()
		notes.source = source
	}
}

// Read returns what was noted so far.
func (n *Notes) Read() (numbers map[string]int64, source string) {
	if n == nil {
		return map[string]int64{}, ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.numbers), n.source
}
