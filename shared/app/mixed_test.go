package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/quota"
	"docent/shared/team"
	"docent/shared/usage"
)

// mixedOperations is the number of operations of TestTotalsEqualWhatWasDone outside CI. In CI it
// makes as many as the guarantee names.
const mixedOperations = 1500

// ledger is a client's own count of its operations.
type ledger struct {
	answered  map[string]map[string]int64 // by feature: outcome → replies
	questions map[string]string           // accepted, by id
	full      int                         // questions beyond the quota
}

func (l *ledger) note(feature string, status int) {
	if l.answered[feature] == nil {
		l.answered[feature] = map[string]int64{}
	}
	switch outcome := l.answered[feature]; {
	case status >= 500:
		outcome[usage.Error]++
	case status >= 400:
		outcome[usage.Refused]++
	default:
		outcome[usage.OK]++
	}
}

// TestTotalsEqualWhatWasDone makes mixed operations. During one in ten, a call to the store fails
// before or after it took effect. It repeats refused and lost operations, and some of the others.
// The day's quota is exact; every total of the report differs from the client's own count by at
// most the adds that were logged as uncertain.
func TestTotalsEqualWhatWasDone(t *testing.T) {
	t.Parallel()
	operations := mixedOperations
	if os.Getenv("CI") == "true" {
		operations = 10000
	}
	uncertain := &uncertainties{}
	h := newHome(t, func(_ *home, b *base, _ *Parts) { b.log = slog.New(uncertain) })
	var err error
	if _, h.key, err = h.services.teams.CreateKey(t.Context(), h.team.ID, team.NewKey{Kind: team.KindTeam, Name: "team"}); err != nil {
		t.Fatal(err)
	}
	wiki := h.collection("wiki")
	l := &ledger{answered: map[string]map[string]int64{"collections": {usage.OK: 1}}, questions: map[string]string{}}
	random := rand.New(rand.NewPCG(5, 6))
	modes := []faulttest.Mode{faulttest.FailBefore, faulttest.FailAfter, faulttest.Throttle}
	faults := 0
	send := func(feature, method, path string, body any) int {
		status := h.do(method, path, body).status
		l.note(feature, status)
		return status
	}
	// until repeats a request until it is neither refused temporarily nor lost. Sometimes it
	// then repeats it once more, like a client whose reply was lost.
	until := func(feature, method, path string, body any) int {
		faulty := random.IntN(10) == 0
		if faulty {
			h.plan.Arm(modes[random.IntN(len(modes))], 1+random.IntN(5))
		}
		status := send(feature, method, path, body)
		if h.plan.Disarm() != "" && faulty {
			faults++
		}
		for n := 0; status >= 500 && n < 5; n++ {
			status = send(feature, method, path, body)
		}
		if random.IntN(8) == 0 && status < 300 {
			status = send(feature, method, path, body)
		}
		return status
	}
	asked := 0
	for n := range operations {
		switch random.IntN(10) {
		case 0, 1, 2:
			id := fmt.Sprintf("0198b0a0-0000-7000-8000-%012d", n)
			question := "How small is the zebra? " + id
			switch status := until("answers", "PUT", "/answers/"+id, map[string]string{"question": question}); status {
			case 204:
				l.questions[id] = question
				asked++
			case 429:
				l.full++
			default:
				t.Fatalf("asking: %d", status)
			}
		case 3:
			if ids := slices.Sorted(maps.Keys(l.questions)); len(ids) > 0 {
				id := ids[random.IntN(len(ids))]
				if status := until("answers", "PUT", "/answers/"+id, map[string]string{"question": l.questions[id]}); status != 204 {
					t.Fatalf("asking again: %d", status)
				}
				until("answers", "GET", "/answers/"+id, nil)
			}
		case 4, 5:
			uri := fmt.Sprintf("https://wiki.test/%d", random.IntN(40))
			until("documents", "PUT", "/documents", map[string]string{"collectionId": wiki, "uri": uri, "title": "T", "body": fmt.Sprint("The zebra is small. ", random.IntN(3))})
		case 6:
			until("documents", "GET", "/documents?limit=5", nil)
		case 7:
			until("context.search", "POST", "/context/search", map[string]any{"query": "zebra", "limit": 1 + random.IntN(5)})
		case 8:
			until("collections", "GET", "/collections/"+wiki, nil)
		default:
			until("collections", "GET", "/collections/none", nil)
		}
		if n%500 == 0 {
			h.work()
		}
	}
	item, err := h.store.Get(t.Context(), quota.AnswersKey(h.team.ID, quota.Day(h.clock.Now())))
	if err != nil || quota.Used(item) != int64(min(asked, quota.AnswersPerDay)) || asked > quota.AnswersPerDay {
		t.Errorf("%d questions are counted, %d were accepted, %v", quota.Used(item), asked, err)
	}
	h.work()
	h.clock.Advance(2 * time.Minute) // unsent work is sent again
	if _, err := h.services.sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.work()
	if err := h.services.usage.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for feature, want := range l.answered {
		got := h.usageTotals(t, feature)
		for _, outcome := range []string{usage.OK, usage.Refused, usage.Error} {
			total += want[outcome]
			if off := got[outcome] - want[outcome]; off > uncertain.count() || -off > uncertain.count() {
				t.Errorf("%s %s: %d reported, %d done, %d uncertain", feature, outcome, got[outcome], want[outcome], uncertain.count())
			}
			if uncertain.count() == 0 && got[outcome] != want[outcome] {
				t.Errorf("%s %s: %d reported, %d done", feature, outcome, got[outcome], want[outcome])
			}
		}
		if feature != usage.Answers {
			continue
		}
		ended := got[usage.Completed] + got[usage.NoAnswer] + got[usage.Failed]
		if off := ended - int64(asked); off > 0 || -off > uncertain.count() {
			t.Errorf("%d questions ended by the report, %d by the client, %d uncertain", ended, asked, uncertain.count())
		}
		// If a question was stored but its reply was lost, only the repeat is counted.
		if off := int64(asked) - got[usage.Accepted]; -off > uncertain.count() || off > uncertain.count()+want[usage.Error] {
			t.Errorf("%d questions accepted by the report, %d by the client, %d uncertain, %d replies lost", got[usage.Accepted], asked, uncertain.count(), want[usage.Error])
		}
		t.Logf("answers: accepted %d of %d, ended %d, replayed %d, refused as the day was full %d", got[usage.Accepted], asked, ended, got[usage.Replayed], l.full)
	}
	if faults == 0 || uncertain.count() == 0 {
		t.Errorf("%d faults, %d uncertain adds: the test has tried nothing", faults, uncertain.count())
	}
	t.Logf("%d operations, %d requests, %d faults, %d uncertain adds; %d questions accepted, %d counted", operations, total, faults, uncertain.count(), asked, quota.Used(item))
}

// uncertainties is a log handler that sums up how many adds were logged as uncertain.
type uncertainties struct{ sum atomic.Int64 }

func (u *uncertainties) count() int64 { return u.sum.Load() }

func (u *uncertainties) Enabled(context.Context, slog.Level) bool { return true }

func (u *uncertainties) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "usage_adds_uncertain" {
			u.sum.Add(a.Value.Int64())
		}
		return true
	})
	return nil
}

func (u *uncertainties) WithAttrs([]slog.Attr) slog.Handler { return u }

func (u *uncertainties) WithGroup(string) slog.Handler { return u }

// usageTotals returns the numbers of a feature from the stored rows.
func (h *home) usageTotals(t *testing.T, feature string) map[string]int64 {
	t.Helper()
	totals := map[string]int64{}
	page, more, err := h.services.usage.Report(t.Context(), h.team.ID, h.clock.Now(), usage.Query{Start: h.clock.Now().Add(-time.Hour), End: h.clock.Now().Add(time.Hour),
		Granularity: usage.Month, Zone: time.UTC, Feature: feature, Limit: 2})
	if err != nil || more {
		t.Fatalf("%t, %v", more, err)
	}
	for _, b := range page {
		for _, r := range b.Results {
			encoded, err := json.Marshal(r.Metrics)
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]any
			if err := json.Unmarshal(encoded, &members); err != nil {
				t.Fatal(err)
			}
			for name, value := range members {
				if n, ok := value.(float64); ok {
					totals[name] += int64(n)
				}
			}
		}
	}
	return totals
}
