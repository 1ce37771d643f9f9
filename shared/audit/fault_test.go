package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"docent/shared/app/faulttest"
	"docent/shared/audit"
	"docent/shared/table"
)

// TestEveryWriteMayFail makes each call of an audited change fail in each way: the change
// happens with its event or not at all, and a retry does not record it twice.
func TestEveryWriteMayFail(t *testing.T) {
	t.Parallel()
	record := func(w *world, log *audit.Log) error {
		return log.Write(w.t.Context(), teamID, []audit.Event{about("2")}, thing("2"))
	}
	for n, name := range callsOf(t, func(w *world, log *audit.Log) { _ = record(w, log) }) {
		for _, mode := range faulttest.ModesOf(name) {
			t.Run(fmt.Sprintf("call %d, %s, %s", n+1, name, mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("1")
				plan := &faulttest.Plan{}
				log := w.newLog(faulttest.Table{Store: w.store, Plan: plan}, 0)
				plan.Arm(mode, n+1)
				first := record(w, log)
				if plan.Disarm() == "" {
					t.Fatal("no call went wrong")
				}
				second := record(w, log)
				if first == nil && table.AsConditionFailed(second) == nil || second != nil && table.AsConditionFailed(second) == nil {
					t.Errorf("first %v, then %v", first, second)
				}
				w.write("3")
				// A reader may have to wait only for a number that the claim itself lost.
				if name == "Add" && mode == faulttest.FailAfter {
					w.clock.advance(audit.Grace)
				}
				if got := w.all(audit.Query{}); !slices.Equal(got, numbered(1, 3)) {
					t.Errorf("at once: %v", got)
				}
			})
		}
	}
}

// TestEveryReadMayFail makes each call of a page fail in each way: the page fails or is right,
// and a retry returns it.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	prepare := func(w *world) {
		w.write("1")
		w.claim(2)
		w.write("2")
		w.clock.advance(audit.Grace)
	}
	for name, q := range map[string]audit.Query{
		"polling": {Limit: 10},
		"bounded": {Limit: 10, Since: "2026-11-21T11:00:00Z", Until: "2026-11-21T13:00:00Z"},
		"down":    {Limit: 10, Until: "9999-12-31T00:00:00Z", Order: audit.Descending},
	} {
		want := []string{"1", "2"}
		if q.Order != "" {
			slices.Reverse(want)
		}
		calls := callsOf(t, func(w *world, log *audit.Log) {
			prepare(w)
			w.clock.advance(2 * 60 * 60 * 1e9)
			if page, err := log.Feed(w.t.Context(), teamID, q); err != nil || !slices.Equal(subjects(page.Events), want) {
				w.t.Fatalf("%s: %v, %v", name, subjects(page.Events), err)
			}
		})
		for n, call := range calls {
			for _, mode := range faulttest.ModesOf(call) {
				t.Run(fmt.Sprintf("%s, call %d, %s, %s", name, n+1, call, mode), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					prepare(w)
					w.clock.advance(2 * 60 * 60 * 1e9)
					plan := &faulttest.Plan{}
					log := w.newLog(faulttest.Table{Store: w.store, Plan: plan}, 0)
					plan.Arm(mode, n+1)
					for try := range 2 {
						page, err := log.Feed(t.Context(), teamID, q)
						if try == 1 && err != nil || err == nil && !slices.Equal(subjects(page.Events), want) {
							t.Errorf("try %d: %v, %v", try, subjects(page.Events), err)
						}
					}
					plan.Disarm()
				})
			}
		}
	}
}

// callsOf returns the calls that run makes if none fails.
func callsOf(t *testing.T, run func(*world, *audit.Log)) []string {
	t.Helper()
	w := newWorld(t)
	plan := &faulttest.Plan{}
	log := w.newLog(faulttest.Table{Store: w.store, Plan: plan}, 0)
	plan.Watch()
	run(w, log)
	calls := plan.Seen()
	plan.Disarm()
	if len(calls) == 0 {
		t.Fatal("no calls")
	}
	return calls
}

// TestAStalledWriterTakesANewNumber: if a reader closes a writer's number, the writer claims a
// new one, and its caller does not notice.
func TestAStalledWriterTakesANewNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.log.Claim(t.Context(), teamID, 1)
	defer claim.End(t.Context())
	audit.NumberOf(claim)
	w.write("1")
	w.clock.advance(audit.Grace)
	page := w.feed(audit.Query{})
	if err := claim.Write(t.Context(), []audit.Event{about("2")}, thing("2")); err != nil {
		t.Fatal(err)
	}
	if got := w.all(audit.Query{After: page.Next}); !slices.Equal(got, []string{"2"}) {
		t.Errorf("after the cursor: %v", got)
	}
	if err := claim.Write(t.Context(), []audit.Event{about("3")}, thing("3"), thing("2")); table.AsConditionFailed(err) == nil {
		t.Errorf("a condition that does not hold: %v", err)
	}
	if err := claim.Write(t.Context(), []audit.Event{about("3")}, thing("3")); err != nil && !errors.Is(err, table.ErrConflict) {
		t.Error(err)
	}
}
