package llm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/llm"
	"docent/shared/memory"
)

// TestRequestsToAModelTakeTurns: no more are in progress than there may be, and a team with none in progress is next, however many
// requests of another team came before.
func TestRequestsToAModelTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inProgress, order := make(chan struct{}, 2), make(chan string, 10)
		w := &llm.Writer{Turns: memory.NewPool(2, 0), Model: model(func(ctx context.Context, r llm.Request) (llm.Draft, error) {
			select {
			case inProgress <- struct{}{}:
			default:
				t.Error("three requests are in progress")
			}
			order <- memory.Owner(ctx)
			time.Sleep(time.Second)
			<-inProgress
			return llm.TextDraft("Roll back within 24 hours [1]."), nil
		})}
		var all sync.WaitGroup
		ask := func(team string) {
			all.Go(func() {
				a, err := w.Write(memory.WithOwner(t.Context(), team), llm.Asked{Question: "q"}, []llm.Passage{{Document: "d", Text: "Roll back within 24 hours."}})
				if err != nil || a.Outcome != llm.Written {
					t.Errorf("%s: %+v, %v", team, a, err)
				}
			})
			synctest.Wait()
		}
		for range 5 {
			ask("busy")
		}
		ask("quiet")
		all.Wait()
		close(order)
		var got []string
		for team := range order {
			got = append(got, team)
		}
		if want := []string{"busy", "busy", "quiet", "busy", "busy", "busy"}; !slices.Equal(got, want) && !slices.Equal(got[:4], []string{"busy", "busy", "busy", "quiet"}) {
			t.Errorf("the turns were of %q", got)
		}
	})
}

// TestOneTeamLeavesTurnsToOthers, however slow its drafts are.
func TestOneTeamLeavesTurnsToOthers(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]int{1: 1, 4: 4, 5: 3, 16: 12} {
		turns := llm.NewTurns(n)
		got := 0
		for range n {
			if turns.Lease("busy").Try(1) == nil {
				got++
			}
		}
		if got != most {
			t.Errorf("of %d turns one team has %d, want %d", n, got, most)
		}
		if err := turns.Lease("quiet").Try(1); (err == nil) != (most < n) {
			t.Errorf("of %d turns another team has one: %v", n, err)
		}
	}
}

// TestADraftWithoutATurnIsThrottled: it waits for a bounded time, that of the draft begins after it, and whoever leaves gives up the place.
func TestADraftWithoutATurnIsThrottled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := memory.NewPool(1, 0)
		asked := 0
		w := &llm.Writer{Turns: turns, Model: model(func(ctx context.Context, r llm.Request) (llm.Draft, error) {
			asked++
			if end, _ := ctx.Deadline(); time.Until(end) < llm.MaxTime {
				t.Errorf("%v are left for the draft", time.Until(end))
			}
			return llm.TextDraft("Roll back within 24 hours [1]."), nil
		})}
		passages := []llm.Passage{{Document: "d", Text: "Roll back within 24 hours."}}
		other := turns.Lease("other")
		if err := other.Try(1); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		a, err := w.Write(t.Context(), llm.Asked{Question: "q"}, passages)
		if a.Outcome != llm.Throttled || !errors.Is(err, llm.ErrThrottled) || time.Since(begun) != llm.TurnTime {
			t.Errorf("after %v: %+v, %v", time.Since(begun), a, err)
		}
		if p, err := w.Propose(t.Context(), llm.ProposeWordings, "q"); !errors.Is(err, llm.ErrThrottled) || len(p.Texts) > 0 {
			t.Errorf("proposed %+v, %v", p, err)
		}
		left, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if a, err := w.Write(left, llm.Asked{Question: "q"}, passages); a.Outcome != llm.OutOfTime || !errors.Is(err, context.Canceled) {
			t.Errorf("left: %+v, %v", a, err)
		}
		if asked != 0 {
			t.Errorf("the model was asked %d times", asked)
		}
		time.AfterFunc(5*time.Second, other.End)
		if a, err := w.Write(t.Context(), llm.Asked{Question: "q"}, passages); a.Outcome != llm.Written {
			t.Errorf("%+v, %v", a, err)
		}
		if turns.Held() != 0 {
			t.Errorf("%d turns are held", turns.Held())
		}
	})
}
