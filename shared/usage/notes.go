package usage

import (
	"context"
	"maps"
	"sync"
)

// Notes is what the packages that work on one call tell of it. A nil Notes takes
// nothing.
type Notes struct {
	mu      sync.Mutex
	noted   Noted
	settled bool
	settle  func()
}

// Noted is what was told of a call.
type Noted struct {
	Numbers map[string]int64
	Source  string // the collection or data source that the call is about
	Feature string // empty: that of the operation
}

type notesKey struct{}

// WithNotes returns a context whose call is noted in the returned Notes.
func WithNotes(ctx context.Context) (context.Context, *Notes) {
	n := &Notes{noted: Noted{Numbers: map[string]int64{}}}
	return context.WithValue(ctx, notesKey{}, n), n
}

// note does do with what was told of the call of ctx.
func note(ctx context.Context, do func(*Noted)) {
	if n, _ := ctx.Value(notesKey{}).(*Notes); n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		do(&n.noted)
	}
}

// Note adds n to a number of the call of ctx.
func Note(ctx context.Context, number string, n int64) {
	note(ctx, func(told *Noted) { told.Numbers[number] += n })
}

// NoteSource notes the collection or data source that the call of ctx is about.
func NoteSource(ctx context.Context, source string) {
	note(ctx, func(told *Noted) { told.Source = source })
}

// NoteFeature notes the feature that the call of ctx is for, where the operation does not say.
func NoteFeature(ctx context.Context, feature string) {
	note(ctx, func(told *Noted) { told.Feature = feature })
}

// OutcomeKnown tells that all is noted of the call of ctx, and that it is a success
// unless something unforeseen happens. The first time it runs what OnOutcomeKnown was
// given.
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

// OnOutcomeKnown sets what OutcomeKnown runs; it is called before the call begins.
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
