package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"docent/shared/embed"
	"docent/shared/memory"
	"docent/shared/search/segment"
)

// Bounds of embedding a question.
const (
	questionTime  = 2 * time.Second  // then the search is by words alone
	questionPause = 30 * time.Second // after a failure, no question is embedded for this long
)

// embedder guards the model for questions: a model that is away must not slow every search.
type embedder struct {
	retry atomic.Int64 // Unix milliseconds before which no question is embedded
	away  atomic.Bool  // the last question could not be embedded
}

// embedQuestion starts to embed a question. The result, which is called once, waits for it and returns nil if the index
// has no model or the model fails. Of several failures in sequence, the first is reported.
func (ix *Index) embedQuestion(ctx context.Context, question string) func() *segment.Vector {
	question = strings.TrimSpace(strings.ToValidUTF8(question[:min(len(question), embed.MaxBytes)], ""))
	now := ix.Now().UnixMilli()
	if ix.Embedder == nil || question == "" || now < ix.embedder.retry.Load() || ix.Model.English && !mostlyLatin(question) {
		return func() *segment.Vector { return nil }
	}
	done := make(chan *segment.Vector, 1)
	go func() {
		limited, cancel := context.WithTimeout(ctx, questionTime)
		defer cancel()
		vectors, err := ix.Embedder.Embed(limited, []string{question}, embed.Question)
		if err != nil {
			defer close(done) // after the failure is reported
			if ctx.Err() != nil || errors.Is(err, embed.ErrInvalid) || errors.Is(err, memory.ErrBusy) {
				return // that says nothing of the model
			}
			ix.embedder.retry.Store(now + questionPause.Milliseconds())
			if !ix.embedder.away.Swap(true) {
				ix.fault(ctx, fmt.Errorf("search is by words alone until the model answers: embed a question: %w", err))
			}
			return
		}
		ix.embedder.away.Store(false)
		q := segment.Quantise(vectors[0])
		done <- &q
	}()
	return func() *segment.Vector {
		// Many questions may wait for the model. Their places are for requests that do not.
		defer memory.Pause(ctx)()
		return <-done
	}
}

// knows reports whether the model has word in a list of its own, as a model in the process has.
func (ix *Index) knows(word string) bool {
	model, ok := ix.Embedder.(interface{ Knows(word string) bool })
	return ok && model.Knows(word)
}

// nearness returns the comparison of a question with segments of vectors, or nil if there is
// nothing to compare.
func (o opened) nearness(question *segment.Vector) *nearness {
	if question == nil || len(o.segments) == 0 {
		return nil
	}
	for i := len(o.segments) - 1; i >= 0; i-- {
		if len(question.Values) != o.segments[i].Numbers {
			o.records, o.segments = slices.Delete(o.records, i, i+1), slices.Delete(o.segments, i, i+1)
		}
	}
	return &nearness{most: nearMost, question: *question, records: o.records, segments: o.segments}
}
