package usage_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/usage"
)

// today is the first instant of the day of now.
var today = now.Truncate(24 * time.Hour)

func userID(n int) string { return fmt.Sprintf("0190d2a0-0000-7000-8000-%012d", n) }

// busyCalls returns calls of users on the days before now; days of less than minute calls are not folded.
func busyCalls(random *rand.Rand, users, days, perDay int) []usage.Call {
	calls := randomCalls(random, days*perDay)
	for i := range calls {
		calls[i].At = now.Add(-time.Duration(random.Int64N(int64(days) * int64(24*time.Hour))))
		if calls[i].UserID != "" {
			calls[i].UserID = userID(random.IntN(users))
		}
	}
	return calls
}

func counted(t *testing.T, store table.Store, calls []usage.Call) *usage.Counter {
	t.Helper()
	c := usage.Patient(store)
	if err := c.CountAll(t.Context(), teamID, calls); err != nil {
		t.Fatal(err)
	}
	return c
}

func openAtNow(t *testing.T) table.Store {
	t.Helper()
	return bolttest.OpenAt(t, func() time.Time { return now })
}

// sameUsers compares what c and plain report of some users and keys, and page by page of all users, in random spans.
func sameUsers(t *testing.T, random *rand.Rand, c, plain *usage.Counter, users, days int) {
	t.Helper()
	for range 12 {
		start := now.Add(-time.Duration(random.Int64N(int64(days) * int64(24*time.Hour))))
		end := start.Add(1 + time.Duration(random.Int64N(int64(now.Sub(start)))))
		list := usage.UserQuery{Start: start, End: end, Limit: 1 + random.IntN(users)}
		if random.IntN(2) == 0 {
			list.UserID = userID(random.IntN(users + 1))
		}
		for more := true; more; {
			got, gotMore, err := c.Users(t.Context(), teamID, now, list)
			if err != nil {
				t.Fatal(err)
			}
			want, wantMore, err := plain.Users(t.Context(), teamID, now, list)
			if err != nil {
				t.Fatal(err)
			}
			if gotMore != wantMore || !reflect.DeepEqual(shown(got), shown(want)) {
				t.Fatalf("%+v:\ngot  %v %v\nwant %v %v", list, shown(got), gotMore, shown(want), wantMore)
			}
			if more = wantMore; more {
				list.After = want[len(want)-1].UserID
			}
		}
		q := usage.Query{Start: start, End: end, Limit: 1 + random.IntN(usage.MaxBuckets), MaxResults: 1 + random.IntN(30),
			Granularity: []string{usage.Hour, usage.Day, usage.Month}[random.IntN(3)], Zone: []*time.Location{time.UTC, mustZone(t, "America/Los_Angeles")}[random.IntN(2)],
			GroupBy: [][]string{nil, {usage.ByFeature}, {usage.ByAPIKey, usage.ByClient}, {usage.ByUser}}[random.IntN(4)]}
		if by := random.IntN(3); by != 0 {
			q.UserID = userID(random.IntN(users))
		} else {
			q.APIKeyID = fmt.Sprint("k", 1+random.IntN(4)) // k4 made no calls
		}
		got, gotMore, err := c.Report(t.Context(), teamID, now, q)
		if err != nil {
			t.Fatal(err)
		}
		want, wantMore, err := plain.Report(t.Context(), teamID, now, q)
		if err != nil {
			t.Fatal(err)
		}
		if gotMore != wantMore || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v:\ngot  %v %v\nwant %v %v", q, got, gotMore, want, wantMore)
		}
	}
}

// shown formats users without their unexported fields.
func shown(users []usage.User) []string {
	texts := []string{}
	for _, u := range users {
		texts = append(texts, fmt.Sprint(u.UserID, u.Questions, u.ContextCalls, u.ActiveDays, u.FirstActiveAt, u.LastActiveAt, u.Features))
	}
	return texts
}

// TestFoldedDaysReportTheSame: reports of users and of keys are those of a counter that folds nothing, whatever days are folded.
func TestFoldedDaysReportTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		users, days := 1+random.IntN(30), 3+random.IntN(25)
		calls := busyCalls(random, users, days, 250)
		plain, c := counted(t, openAtNow(t), calls), counted(t, openAtNow(t), calls)
		for range 4 { // leaves holes
			if err := c.Fold(t.Context(), teamID, today.AddDate(0, 0, -random.IntN(days)), 1+random.IntN(4)); err != nil {
				t.Fatal(err)
			}
			sameUsers(t, random, c, plain, users, days)
		}
	}
}

// TestAnInterruptedFoldChangesNothing: whatever write fails, reports stay, and the next fold makes up for it.
func TestAnInterruptedFoldChangesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	const users, days = 150, 3
	calls := busyCalls(random, users, days, 800)
	plain := counted(t, openAtNow(t), calls)
	store, plan := openAtNow(t), &faulttest.Plan{}
	c := counted(t, faulttest.Table{Store: store, Plan: plan}, calls)
	for at := 1; ; at++ {
		for _, mode := range []faulttest.Mode{faulttest.FailBefore, faulttest.FailAfter} {
			plan.Arm(mode, at)
			err := c.Fold(t.Context(), teamID, today, 2)
			hit := plan.Disarm()
			if (err == nil) != (hit == "") {
				t.Fatalf("%s: %v", hit, err)
			}
			sameUsers(t, random, c, plain, users, days)
			if hit == "" && at < 6 {
				t.Errorf("a fold of two days took %d steps", at)
			}
			if hit == "" {
				return
			}
		}
	}
}

// TestFoldsAtTheSameTime leave what one fold leaves, while calls of today are counted.
func TestFoldsAtTheSameTime(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	const users, days = 40, 5
	calls, more := busyCalls(random, users, days, 300), busyCalls(random, users, 1, 60)
	for i := range more {
		more[i].At = today.Add(time.Duration(random.Int64N(int64(now.Sub(today)))))
	}
	plain, c := counted(t, openAtNow(t), append(append([]usage.Call{}, calls...), more...)), counted(t, openAtNow(t), calls)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := c.Fold(t.Context(), teamID, today, days); err != nil {
				t.Error(err)
			}
		})
	}
	for _, call := range more {
		all.Go(func() {
			if _, err := c.Count(t.Context(), teamID, call); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sameUsers(t, random, c, plain, users, days)
}

// TestAUserCostsItsOwnRows counts read units: those of one user and of a page do not grow with the team, but by what it did today.
func TestAUserCostsItsOwnRows(t *testing.T) {
	t.Parallel()
	cost := func(users int, fold bool) (one, page float64) {
		var calls []usage.Call
		for n := range users {
			for day := range 10 {
				for hour := range 2 {
					calls = append(calls, usage.Call{At: today.AddDate(0, 0, -1-day).Add(time.Duration(9+hour) * time.Hour), Feature: usage.Answers, KeyID: userID(n),
						UserID: userID(n), Numbers: map[string]int64{usage.OK: 1, usage.Accepted: 1}, Latency: time.Second})
				}
			}
		}
		c := counted(t, openAtNow(t), calls)
		if fold {
			if err := c.Fold(t.Context(), teamID, today, 10); err != nil {
				t.Fatal(err)
			}
		}
		units := func(q usage.UserQuery) float64 {
			q.Start, q.End = today.AddDate(0, 0, -20), now
			ctx, meter := table.WithMeter(t.Context())
			found, _, err := c.Users(ctx, teamID, now, q)
			if err != nil || len(found) != q.Limit || found[0].Questions != 20 || found[0].ActiveDays != 10 {
				t.Fatalf("%+v, %v", found, err)
			}
			return meter.Read().ReadUnits
		}
		return units(usage.UserQuery{UserID: userID(7), Limit: 1}), units(usage.UserQuery{Limit: 20})
	}
	scanOne, _ := cost(400, false)
	one, page := cost(400, true)
	manyOne, manyPage := cost(800, true)
	t.Logf("read units: one user %v of 400, %v of 800, %v by scan; a page %v, %v", one, manyOne, scanOne, page, manyPage)
	if manyOne != one || manyPage != page {
		t.Errorf("one user costs %v of 400 and %v of 800, a page %v and %v", one, manyOne, page, manyPage)
	}
	if one > 5 || page > 30 || scanOne < 100 {
		t.Errorf("one user costs %v, a page of 20 %v, a scan %v", one, page, scanOne)
	}
}

// keyCost returns the read units of a report of one key of many that were used on ten days, most of which a fold may have copied.
func keyCost(t *testing.T, c *usage.Counter) float64 {
	t.Helper()
	ctx, meter := table.WithMeter(t.Context())
	found, _, err := c.Report(ctx, teamID, now, usage.Query{Start: today.AddDate(0, 0, -10), End: today, APIKeyID: "k7", Granularity: usage.Month, Zone: time.UTC, Limit: 2})
	sum := int64(0)
	for _, b := range found {
		for _, r := range b.Results {
			sum += r.Metrics.Requests
		}
	}
	if err != nil || sum != 20 {
		t.Fatalf("%d requests, want 20: %+v, %v", sum, found, err)
	}
	return meter.Read().ReadUnits
}

// callsOfKeys returns two calls a day of each key, for ten days.
func callsOfKeys(keys int) (calls []usage.Call) {
	for n := range keys {
		for day := range 10 {
			for hour := range 2 {
				calls = append(calls, usage.Call{At: today.AddDate(0, 0, -1-day).Add(time.Duration(9+hour) * time.Hour), Feature: usage.Answers, KeyID: fmt.Sprint("k", n),
					UserID: []string{"", userID(n)}[n%2], Numbers: map[string]int64{usage.OK: 1}, Latency: time.Second})
			}
		}
	}
	return calls
}

// TestAKeyCostsItsOwnRows counts read units: those of a key on folded days do not grow with the other keys.
func TestAKeyCostsItsOwnRows(t *testing.T) {
	t.Parallel()
	folded := func(keys int) float64 {
		c := counted(t, openAtNow(t), callsOfKeys(keys))
		if err := c.Fold(t.Context(), teamID, today, 10); err != nil {
			t.Fatal(err)
		}
		return keyCost(t, c)
	}
	few, many, scan := folded(200), folded(400), keyCost(t, counted(t, openAtNow(t), callsOfKeys(200)))
	if few != many || few > 5 || scan < 50 {
		t.Errorf("a key costs %v of 200, %v of 400, %v by scan", few, many, scan)
	}
}

// TestADayThatWasFoldedByUserAloneIsReadAndFoldedAgain: the first version of the fold copied by user alone.
func TestADayThatWasFoldedByUserAloneIsReadAndFoldedAgain(t *testing.T) {
	t.Parallel()
	store := openAtNow(t)
	c := counted(t, store, callsOfKeys(200))
	if err := c.Fold(t.Context(), teamID, today, 10); err != nil {
		t.Fatal(err)
	}
	full := keyCost(t, c)
	var ops []table.Op
	for at := today.AddDate(0, 0, -10); at.Before(today); at = at.AddDate(0, 0, 1) {
		ops = append(ops, table.Put{Item: table.Item{Key: table.Key{Table: table.Usage, Partition: teamID + "/folded", Sort: at.Format(time.DateOnly)}}})
		for item, err := range table.All(t.Context(), store, table.Query{Table: table.Usage, Partition: teamID + "/keys/" + at.Format("2006-01"), Prefix: "k7#" + at.Format(time.DateOnly)}) {
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, table.Delete{Key: item.Key})
		}
	}
	if err := store.Write(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	if keyCost(t, c) <= full {
		t.Error("a day without a copy by key was not read from the rows by the hour")
	}
	if err := c.Fold(t.Context(), teamID, today, 10); err != nil {
		t.Fatal(err)
	}
	if got := keyCost(t, c); got != full {
		t.Errorf("%v units after another fold, %v before", got, full)
	}
}

// TestNoIdIsAnError: a client may ask for any text as an id. What no row can have has none, folded or not.
func TestNoIdIsAnError(t *testing.T) {
	t.Parallel()
	c := counted(t, openAtNow(t), callsOfKeys(200))
	if err := c.Fold(t.Context(), teamID, today, 10); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"\x00", "\xff", "k7#" + today.AddDate(0, 0, -1).Format(time.DateOnly), "k7#", "#", "~", "\uffff"} {
		for _, q := range []usage.Query{{UserID: id}, {APIKeyID: id}} {
			q.Start, q.End, q.Granularity, q.Zone, q.Limit = today.AddDate(0, 0, -10), now, usage.Month, time.UTC, 2
			found, _, err := c.Report(t.Context(), teamID, now, q)
			if err != nil || len(found) == 0 || len(found[0].Results) != 0 {
				t.Errorf("%q: %+v, %v", id, found, err)
			}
		}
	}
}
