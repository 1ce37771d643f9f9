package usage

import (
	"context"
	"maps"
	"sync"
)

// Notes collects what packages report about one call. A nil Notes is empty.
type Notes struct {
	mu      sync.Mutex
	noted   Noted
	settled bool
	settle  func()
}

// Noted has the reported facts about a call.
type Noted struct {
	Numbers map[string]int64
	Source  string // the call's collection or data source
	Feature string // empty: the one of the operation
}

type notesKey struct{}

// WithNotes returns a context, and the Notes of the call that runs under it.
func WithNotes(ctx context.Context) (context.Context, *Notes) {
	n := &Notes{noted: Noted{Numbers: map[string]int64{}}}
	return context.WithValue(ctx, notesKey{}, n), n
}

// note calls do with what was reported about the call of ctx.
func note(ctx context.Context, do func(*Noted)) {
	if n, _ := ctx.Value(notesKey{}).(*Notes); n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		do(&n.noted)
	}
}

// Note adds n to a number of the call of ctx.
func Note(ctx context.Context, number string, n int64) {
	note(ctx, func(noted *Noted) { noted.Numbers[number] += n })
}

// NoteSource sets the collection or data source of the call of ctx.
func NoteSource(ctx context.Context, source string) {
	note(ctx, func(noted *Noted) { noted.Source = source })
}

// NoteFeature sets the feature of the call of ctx, if the operation does not determine it.
func NoteFeature(ctx context.Context, feature string) {
	note(ctx, func(noted *Noted) { noted.Feature = feature })
}

// OutcomeKnown reports that everything about the call of ctx is noted, and that it will succeed
// unless something unforeseen happens. The first time, it calls the function of OnOutcomeKnown.
func OutcomeKnown(ctx context.Context) {
	n, _ := ctx.Value(notesKey{}).(*Notes)
	if n == nil {
		return
	}
	n.mu.Lock()
	first := !n.settled
	n.settled = true
	n.mu.Unlock()
	if first && n.settle != nil {
		n.settle()
	}
}

// OnOutcomeKnown sets what OutcomeKnown calls. It must be called before the call begins.
func (n *Notes) OnOutcomeKnown(do func()) { n.settle = do }

// Read returns what was noted so far.
func (n *Notes) Read() Noted {
	if n == nil {
		return Noted{Numbers: map[string]int64{}}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	read := n.noted
	read.Numbers = maps.Clone(read.Numbers)
	return read
}
