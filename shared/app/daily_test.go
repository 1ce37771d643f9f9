package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/table"
	"docent/shared/usage"
)

const day = 24 * time.Hour

// summaries reads the summaries of days in the team's feed.
func (h *home) summaries(t *testing.T) []audit.Event {
	t.Helper()
	page, err := h.services.events.Feed(t.Context(), h.team.ID, audit.Query{Limit: audit.MaxPage, Types: []string{string(audit.DailySummary)}})
	if err != nil || page.More {
		t.Fatalf("more %t, %v", page.More, err)
	}
	return page.Events
}

// ask makes calls of a day: three searches for context and a question.
func (h *home) ask(question string) {
	h.t.Helper()
	for range 3 {
		h.must(200, "POST", "/context/search", map[string]string{"query": "zebra"})
	}
	h.must(204, "PUT", "/answers/"+question, map[string]string{"question": "How small is the zebra?"})
	h.work()
}

func TestADayIsSummedUpOncePerKey(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.ask(questionID)
	run := func() {
		t.Helper()
		if err := h.services.daily.run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if run(); len(h.summaries(t)) != 0 {
		t.Error("the day was summed up before its end")
	}
	h.clock.Advance(day)
	for range 3 {
		run()
	}
	h.clock.Advance(2 * day) // two more rounds see the day again
	run()
	h.clock.Advance(day)
	run()
	got := h.summaries(t)
	if len(got) != 1 {
		t.Fatalf("%d summaries", len(got))
	}
	want := map[string]int64{"context.search": 3, "answers": 1}
	n := got[0].Native()
	if !maps.Equal(n.Counts, want) || n.Targets[0].DisplayName != "ada" || n.Actor.Type != audit.ActorSystem {
		t.Errorf("summary %+v", n)
	}
	// The day of 2026-11-21 on the Pacific coast ends at 08:00 UTC.
	if n.OccurredAt != "2026-11-22T07:59:59.999Z" {
		t.Errorf("occurred at %s", n.OccurredAt)
	}
}

// TestEveryCallOfARoundMayFail makes each call of a round fail in each way: the next rounds do
// the missing work, and nothing is recorded twice.
func TestEveryCallOfARoundMayFail(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T) *home {
		h := newHome(t)
		h.ask(questionID)
		h.clock.Advance(day)
		return h
	}
	h := prepare(t)
	h.plan.Watch()
	if err := h.services.daily.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := h.plan.Seen()
	h.plan.Disarm()
	for n, name := range calls {
		for _, mode := range faulttest.ModesOf(name) {
			t.Run(fmt.Sprintf("call %d, %s, %s", n+1, name, mode), func(t *testing.T) {
				t.Parallel()
				h := prepare(t)
				h.plan.Arm(mode, n+1)
				_ = h.services.daily.run(t.Context()) // its error is only logged
				if h.plan.Disarm() == "" {
					t.Fatal("no call went wrong")
				}
				h.clock.Advance(day)
				if err := h.services.daily.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				h.clock.Advance(audit.Grace)
				if got := h.summaries(t); len(got) != 1 {
					t.Errorf("%d summaries", len(got))
				}
			})
		}
	}
}

// TestARoundContinuesWhereItStopped: a sweep does a bounded number of teams, and loses nothing if
// its time ends.
func TestARoundContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const teams = 2*teamsPerSweep + 50
	for n := range teams - 1 { // the home has one
		if _, _, err := h.services.teams.CreateTeam(t.Context(), fmt.Sprintf("team %d", n), "ada"); err != nil {
			t.Fatal(err)
		}
	}
	visited := map[string]int{}
	h.services.daily.table = heads{h.store, visited, &sync.Mutex{}}
	h.services.events.Table = heads{h.store, visited, &sync.Mutex{}}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for sweep, want := range []int{100, 100, 200, 250, 250} {
		ctx := t.Context()
		if sweep == 1 {
			ctx = stopped
		}
		if err := h.services.daily.run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(visited) != want {
			t.Errorf("sweep %d: %d teams done, want %d", sweep, len(visited), want)
		}
	}
	h.clock.Advance(day)
	if err := h.services.daily.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	twice := 0
	for id, n := range visited {
		if n > 2 {
			t.Errorf("team %s done %d times", id, n)
		}
		twice += n - 1
	}
	if twice != teamsPerSweep {
		t.Errorf("on the next day %d teams were done", twice)
	}
}

// A function does many teams at the same time, and all of them if its time allows.
func TestAFunctionsRoundDoesAllTeams(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.services.daily.parallel, h.services.daily.pages = 16, 10
	const teams = 2 * teamsPerSweep // the last page is empty
	for n := range teams - 1 {
		if _, _, err := h.services.teams.CreateTeam(t.Context(), fmt.Sprintf("team %d", n), "ada"); err != nil {
			t.Fatal(err)
		}
	}
	visited := map[string]int{}
	h.services.events.Table = heads{h.store, visited, &sync.Mutex{}}
	for range 2 {
		if err := h.services.daily.run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for id, n := range visited {
		if n != 1 {
			t.Errorf("team %s done %d times", id, n)
		}
	}
	if len(visited) != teams {
		t.Errorf("%d teams done, want %d", len(visited), teams)
	}
}

// heads counts how often the head of each team's feed is read.
type heads struct {
	table.Store
	visited map[string]int
	mu      *sync.Mutex
}

func (s heads) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if k.Table == table.Events && k.Sort == "head" {
		s.mu.Lock()
		s.visited[k.Partition]++
		s.mu.Unlock()
	}
	item, err := s.Store.Get(ctx, k, opts...)
	if err != nil {
		return item, fmt.Errorf("get: %w", err)
	}
	return item, nil
}

// TestACursorPastRetentionIsGone uses a cursor after a trim: the sweeper has moved the edge of
// retention, and the reply says where to continue.
func TestACursorPastRetentionIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.collection("wiki")
	var page struct {
		Events     []struct{ EventType string }
		NextCursor string
	}
	read := func(status int, cursor string) []byte {
		t.Helper()
		r := h.must(status, "GET", "/security-events?after="+url.QueryEscape(cursor), nil)
		if status == 200 {
			if err := json.Unmarshal(r.body, &page); err != nil {
				t.Fatal(err)
			}
		}
		return r.body
	}
	start := h.must(200, "GET", "/security-events?limit=1", nil).text(t, "nextCursor")
	h.clock.Advance(audit.Retention - day)
	h.collection("new")
	h.clock.Advance(2 * day)
	if read(200, start); len(page.Events) == 0 {
		t.Error("nothing is readable before the trim")
	}
	if err := h.services.daily.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var gone struct {
		Status             int
		Code, OldestCursor string
	}
	if err := json.Unmarshal(read(410, start), &gone); err != nil || gone.Status != 410 || gone.Code != "cursor-expired" || gone.OldestCursor == "" {
		t.Fatalf("%+v, %v", gone, err)
	}
	if read(200, gone.OldestCursor); len(page.Events) != 1 || page.Events[0].EventType != string(audit.CollectionCreated) {
		t.Errorf("from the oldest cursor: %+v", page.Events)
	}
	read(200, page.NextCursor)
}

// TestADayOfMuchUsageIsOrderedByUser by the round after it: a report of one user then reads less than the team's rows, and is the same.
func TestADayOfMuchUsageIsOrderedByUser(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const users = 1000
	id := func(n int) string { return fmt.Sprintf("0190d2a0-0000-7000-8000-%012d", n) }
	start := h.clock.Now()
	for n := range users {
		if _, err := h.services.usage.Count(t.Context(), h.team.ID, usage.Call{At: start, Feature: "context.search", KeyID: id(n), UserID: id(n), Numbers: map[string]int64{usage.OK: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (usage.User, float64) {
		ctx, meter := table.WithMeter(t.Context())
		found, _, err := h.services.usage.Users(ctx, h.team.ID, h.clock.Now(), usage.UserQuery{Start: start, End: start.Add(time.Hour), UserID: id(500), Limit: 1})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0], meter.Read().ReadUnits
	}
	before, scan := read()
	h.clock.Advance(2 * day)
	if err := h.services.daily.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, units := read()
	if after.ContextCalls != 1 || after.ContextCalls != before.ContextCalls || !after.LastActiveAt.Equal(before.LastActiveAt) || units > 2 || scan < 20 {
		t.Errorf("%+v for %v read units, %+v for %v", after, units, before, scan)
	}
}
