package local

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
	"docent/shared/memory"
)

// of returns a context of a request of the team.
func of(ctx context.Context, team string) context.Context {
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(1, 0)}
	return memory.WithWork(ctx, room.Work(team))
}

// TestTeamsTakeTurns: a team with one question does not wait for all questions that came before it.
func TestTeamsTakeTurns(t *testing.T) {
	t.Parallel()
	folder := smallFolder(t, smallModel(), []byte(smallTokens))
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(folder, small, kernel.Sets()[0])
		e.turns[embed.Question] = memory.NewPool(1, 0)
		earlier := e.turns[embed.Question].Lease("earlier")
		if err := earlier.Try(1); err != nil {
			t.Fatal(err)
		}
		ended := make(chan string, 4)
		for _, team := range []string{"many", "many", "many", "one"} {
			go func() {
				_, err := e.Embed(of(t.Context(), team), []string{"the server"}, embed.Question)
				if err != nil {
					t.Error(err)
				}
				ended <- team
			}()
			synctest.Wait()
		}
		earlier.End()
		var order []string
		for range 4 {
			order = append(order, <-ended)
		}
		if slices.Index(order, "one") > 1 {
			t.Errorf("served %q", order)
		}
	})
}

// TestAQuestionThatWaitedTooLongIsBusy: callers can tell it from a model that fails, and the turn stays free.
func TestAQuestionThatWaitedTooLongIsBusy(t *testing.T) {
	t.Parallel()
	folder := smallFolder(t, smallModel(), []byte(smallTokens))
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(folder, small, kernel.Sets()[0])
		e.turns[embed.Question] = memory.NewPool(1, 0)
		earlier := e.turns[embed.Question].Lease("earlier")
		if err := earlier.Try(1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.Embed(ctx, []string{"the"}, embed.Question); !errors.Is(err, memory.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		earlier.End()
		if _, err := e.Embed(t.Context(), []string{"the"}, embed.Question); err != nil || e.turns[embed.Question].Held() != 0 {
			t.Errorf("afterwards: %v, %d turns are taken", err, e.turns[embed.Question].Held())
		}
	})
}

// endsAfter is a context that has ended when it was asked left times.
type endsAfter struct {
	context.Context
	left *int
}

func (c endsAfter) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestEmbeddingEndsBetweenTexts: a process that stops does not wait for the whole batch of a background job.
func TestEmbeddingEndsBetweenTexts(t *testing.T) {
	t.Parallel()
	e := newEngine(smallFolder(t, smallModel(), []byte(smallTokens)), small, kernel.Sets()[0])
	left := 3
	if _, err := e.Embed(endsAfter{t.Context(), &left}, slices.Repeat([]string{"the server"}, embed.MaxTexts), embed.Passage); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left != -1 {
		t.Errorf("asked %d times after the end", -1-left)
	}
}
