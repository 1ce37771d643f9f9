package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/pause"
	"docent/shared/pending"
	"docent/shared/team"
)

// Tenants is the scenario of many teams, of which one is loud.
type Tenants struct {
	World WorldOptions
	Teams int
	// Puts and Asks are how many documents each quiet team puts, and how many questions it asks, a minute.
	Puts, Asks float64
	// Loud is how many times as much the loud team sends; 0: there is none.
	Loud float64
	// For is how long requests come.
	For time.Duration
}

// Times are how long something took, sorted.
type Times []time.Duration

// At returns the time that the share of all did not exceed, 0 if there are none.
func (t Times) At(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[min(int(share*float64(len(t))), len(t)-1)]
}

// Outcome is the result for the clients of a group of teams.
type Outcome struct {
	Found, Answered Times // from the start of the request until a search finds the document, and until the answer is stored
	Refused         int   // requests with status 429
	Failed          int   // requests that failed otherwise, and work that did not end
}

// TenantsResult is the measurement of a run of Tenants.
type TenantsResult struct {
	Quiet, Loud Outcome
	Table       Used
	Functions   map[string]Invocations
	MostAtOnce  int // executions of all functions
}

// waitAtEnd is how long a run waits for the work of the last requests.
const waitAtEnd = 10 * time.Minute

type tenant struct {
	id, key, collection string
}

// Run runs the scenario. It must run in a bubble of testing/synctest.
func (s Tenants) Run(ctx context.Context) (TenantsResult, error) {
	w := NewWorld(s.World)
	ctx, stop := context.WithCancel(ctx)
	wait := w.Work(ctx)
	defer wait()
	defer stop()
	tenants, err := w.tenants(ctx, s.Teams)
	if err != nil {
		return TenantsResult{}, err
	}
	w.Begin()
	r := tenantsRun{w: w}
	var requests sync.WaitGroup
	random := rand.New(rand.NewPCG(s.World.Seed, 1)) //nolint:gosec // the load of a simulation is not secret
	begun := time.Now()
	for _, load := range []struct {
		perMinute float64 // of all these teams
		teams     []tenant
		outcome   *Outcome
		do        func(context.Context, tenant, *Outcome)
	}{
		{s.Puts * float64(s.Teams-1), tenants[1:], &r.result.Quiet, r.put},
		{s.Asks * float64(s.Teams-1), tenants[1:], &r.result.Quiet, r.ask},
		{s.Puts * s.Loud, tenants[:1], &r.result.Loud, r.put},
		{s.Asks * s.Loud, tenants[:1], &r.result.Loud, r.ask},
	} {
		if load.perMinute == 0 {
			continue
		}
		seed := random.Uint64()
		requests.Go(func() {
			random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // as above
			for {
				apart := time.Duration(random.ExpFloat64() / load.perMinute * float64(time.Minute))
				if pause.For(ctx, apart) != nil || time.Since(begun) > s.For {
					return
				}
				t := load.teams[random.IntN(len(load.teams))]
				requests.Go(func() { load.do(ctx, t, load.outcome) })
			}
		})
	}
	requests.Wait()
	stop()
	wait()
	for _, o := range []*Outcome{&r.result.Quiet, &r.result.Loud} {
		slices.Sort(o.Found)
		slices.Sort(o.Answered)
	}
	r.result.Table, r.result.MostAtOnce, r.result.Functions = w.Table.Used(), w.Account.Most(), map[string]Invocations{}
	for name, f := range w.APIs {
		r.result.Functions[name] = f.Used()
	}
	for name, f := range w.Workers {
		r.result.Functions[name] = f.Used()
	}
	return r.result, nil
}

// tenants makes teams with a team key, a collection and a document each. It waits until the documents can be found.
func (w *World) tenants(ctx context.Context, n int) ([]tenant, error) {
	teams := w.Teams()
	all := make([]tenant, n)
	var work errgroup.Group
	work.SetLimit(8)
	for i := range all {
		work.Go(func() error {
			t, _, err := teams.CreateTeam(ctx, fmt.Sprintf("Team %d", i), fmt.Sprintf("admin-%d@example.com", i))
			if err != nil {
				return err
			}
			_, key, err := teams.CreateKey(ctx, t.ID, team.NewKey{Kind: team.KindTeam, Name: "team"})
			if err != nil {
				return err
			}
			all[i] = tenant{id: t.ID, key: key}
			var c collection.Collection
			if err := w.call(ctx, key, http.MethodPost, "/collections", map[string]string{"name": "Pages", "description": "Pages of the team."}, http.StatusCreated, &c); err != nil {
				return err
			}
			all[i].collection = c.ID
			body := page(fmt.Sprintf("service%d", i))
			body["collectionId"] = c.ID
			return w.call(ctx, key, http.MethodPut, "/documents", body, http.StatusOK, nil)
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	for w.Queues["documents"].Waiting() > 0 {
		if err := pause.For(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// page returns a document of about 2 KB about a word.
func page(word string) map[string]any {
	return map[string]any{"uri": "https://pages.test/" + word, "title": "Page about " + word,
		"body": "# Restarting " + word + "\n\nRun `servicectl restart " + word + "` to restart " + word + ".\n\n" + strings.Repeat("It takes a while until the service is healthy again. ", 36)}
}

type tenantsRun struct {
	w      *World
	mu     sync.Mutex
	result TenantsResult
}

// put puts a new document and waits until a search finds it.
func (r *tenantsRun) put(ctx context.Context, t tenant, o *Outcome) {
	body := page("word" + strings.ReplaceAll(uuid.NewString(), "-", ""))
	body["collectionId"] = t.collection
	id, err := document.ID(t.id, body["uri"].(string))
	if err != nil {
		panic(err) // the address is well-formed
	}
	r.timed(ctx, o, &o.Found, r.w.Table.Ended(string(pending.IndexDocument), id), func() int {
		status, _ := r.w.Request(ctx, t.key, http.MethodPut, "/documents", body)
		return status
	})
}

// ask asks a question and waits until its answer is stored.
func (r *tenantsRun) ask(ctx context.Context, t tenant, o *Outcome) {
	id := uuid.NewString()
	r.timed(ctx, o, &o.Answered, r.w.Table.Ended(string(pending.AnswerQuestion), id), func() int {
		status, _ := r.w.Request(ctx, t.key, http.MethodPut, "/answers/"+id, map[string]string{"question": "How do I restart the service?"})
		return status
	})
}

// timed measures from the start of a request until the work that it causes has ended.
func (r *tenantsRun) timed(ctx context.Context, o *Outcome, times *Times, ended <-chan struct{}, request func() int) {
	begun := time.Now()
	status := request()
	done := status < 300
	if done {
		late := time.NewTimer(waitAtEnd)
		defer late.Stop()
		select {
		case <-ended:
		case <-late.C:
			done = false
		case <-ctx.Done():
			done = false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case done:
		*times = append(*times, time.Since(begun))
	case status == http.StatusTooManyRequests:
		o.Refused++
	default:
		o.Failed++
	}
}
