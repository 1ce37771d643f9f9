package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/embed"
	"docent/shared/memory"
	"docent/shared/search"
)

// waiting is a model that calls during while a question waits for it.
type waiting struct {
	*topics
	during func() error
}

func (e waiting) Embed(ctx context.Context, texts []string, p embed.Purpose) ([]embed.Vector, error) {
	if p == embed.Question {
		if err := e.during(); err != nil {
			return nil, err
		}
	}
	return e.topics.Embed(ctx, texts, p)
}

// TestAQuestionThatWaitsForTheModelTakesNoPlace: requests that need no model run in the
// meantime.
func TestAQuestionThatWaitsForTheModelTakesNoPlace(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "Stripes", "zebra", 1))
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(1<<20, 0), Patience: 10 * time.Second}
	waited := errors.New("the model was not asked")
	x.Embedder = waiting{e, func() error {
		other := room.Work("other")
		defer other.End()
		waited = other.Begin(t.Context()) // until the search gives up the only place
		return nil
	}}
	work := room.Work(team)
	defer work.End()
	if err := work.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := x.Search(memory.WithWork(t.Context(), work), team, search.Query{Text: "zebra"})
	if err := errors.Join(err, waited); err != nil || room.Places.Held() != 1 {
		t.Errorf("%v; %d places are taken afterwards", err, room.Places.Held())
	}
}

// TestABusyModelIsNoFault: the question that waited in vain is searched by words, and the next
// one asks the model again.
func TestABusyModelIsNoFault(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "Reverse proxies", "nginx", 1))
	x.OnFault = func(_ context.Context, err error) { t.Error(err) }
	x.Embedder = waiting{e, func() error { return fmt.Errorf("wait for a turn: %w: %w", memory.ErrBusy, context.DeadlineExceeded) }}
	for text, want := range map[string][]string{"nginx": {"Reverse proxies"}, "server in front": {}} {
		if titles, _ := ask(t, x, search.Query{Text: text}); !slices.Equal(titles, want) {
			t.Errorf("%q: found %q", text, titles)
		}
	}
	x.Embedder = e
	if titles, _ := ask(t, x, search.Query{Text: "server in front"}); !slices.Equal(titles, []string{"Reverse proxies"}) {
		t.Errorf("afterwards: found %q", titles)
	}
}

// TestARequestThatEndsSaysNothingOfTheModel: a request whose own time is over while the model works takes the meaning from no other.
func TestARequestThatEndsSaysNothingOfTheModel(t *testing.T) {
	t.Parallel()
	x, lib, e := newMeaningIndex(t)
	publishBoth(t, x, lib, doc("wiki", "Reverse proxies", "nginx", 1))
	x.OnFault = func(_ context.Context, err error) { t.Error(err) }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	failed := make(chan struct{})
	var once sync.Once
	x.Embedder = waiting{e, func() (err error) {
		once.Do(func() {
			defer close(failed)
			<-ctx.Done()
			err = ctx.Err()
		})
		return err
	}}
	_, _ = x.Search(ctx, team, search.Query{Reader: access.Everything(), Text: "nginx"})
	<-failed
	if titles, _ := ask(t, x, search.Query{Text: "server in front"}); !slices.Equal(titles, []string{"Reverse proxies"}) {
		t.Errorf("afterwards: found %q", titles)
	}
}
