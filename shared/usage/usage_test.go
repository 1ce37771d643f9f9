package usage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/usage"
)

const teamID = "0190d2a0-0000-7000-8000-00000000000a"

var now = time.Date(2026, 11, 21, 9, 20, 0, 0, time.UTC)

// model counts in a simple way.
type model []usage.Call

func randomCalls(random *rand.Rand, n int) model {
	var calls model
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for range n {
		c := usage.Call{
			At:      now.Add(-time.Duration(random.Int64N(int64(60 * 24 * time.Hour)))),
			Feature: pick(usage.Answers, usage.Documents, "context.search", "context.get"),
			KeyID:   pick("k1", "k2", "k3"), UserID: pick("", "ada", "bob"), Client: pick("", usage.ClientCLI),
			Source: pick("", "wiki", "blog"), Latency: time.Duration(random.IntN(5000)) * time.Millisecond,
			Numbers: map[string]int64{pick(usage.OK, usage.OK, usage.Refused, usage.Error): 1, usage.Bytes: random.Int64N(1000)},
		}
		if c.Feature == usage.Answers {
			c.Numbers[usage.Accepted] = random.Int64N(2)
			c.Numbers[usage.CostMicroUSD] = random.Int64N(100)
		}
		calls = append(calls, c)
	}
	return calls
}

// report returns the expected values of each bucket and group of a report of q.
func (m model) report(q usage.Query, start, end time.Time) map[string]usage.Metrics {
	sums := map[string]usage.Metrics{}
	for _, c := range m {
		bySource := slices.Contains(q.GroupBy, usage.ByCollection) || q.Collection != ""
		if c.At.Before(start) || !c.At.Before(end) || q.Feature != "" && c.Feature != q.Feature ||
			q.UserID != "" && c.UserID != q.UserID || q.APIKeyID != "" && c.KeyID != q.APIKeyID ||
			bySource && c.Source == "" || q.Collection != "" && c.Source != q.Collection {
			continue
		}
		key := label(q.Granularity, c.At.In(q.Zone))
		for _, g := range q.GroupBy {
			client := c.Client
			if client == "" {
				client = usage.ClientAPI
			}
			key += "/" + map[string]string{usage.ByFeature: c.Feature, usage.ByUser: c.UserID, usage.ByAPIKey: c.KeyID,
				usage.ByClient: client, usage.ByCollection: c.Source}[g]
		}
		s := sums[key]
		s.Requests++
		s.OK += c.Numbers[usage.OK]
		s.Refused += c.Numbers[usage.Refused]
		s.Error += c.Numbers[usage.Error]
		s.Bytes += c.Numbers[usage.Bytes]
		s.Accepted += c.Numbers[usage.Accepted]
		sums[key] = s
	}
	return sums
}

func label(granularity string, t time.Time) string {
	switch granularity {
	case usage.Hour:
		return t.UTC().Format("2006-01-02T15")
	case usage.Day:
		return t.Format("2006-01-02")
	default:
		return t.Format("2006-01")
	}
}

// TestReportsAgreeWithAPlainCount compares reports of every granularity and grouping, in zones
// with and without daylight saving, page by page, with a model.
func TestReportsAgreeWithAPlainCount(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
	random := rand.New(rand.NewPCG(1, 2))
	calls := randomCalls(random, 1500)
	for _, call := range calls {
		if _, err := c.Count(t.Context(), teamID, call); err != nil {
			t.Fatal(err)
		}
	}
	groupings := [][]string{nil, {usage.ByFeature}, {usage.ByUser}, {usage.ByAPIKey, usage.ByClient}, {usage.ByFeature, usage.ByUser},
		{usage.ByCollection}, {usage.ByCollection, usage.ByFeature}}
	filters := []usage.Query{{}, {Feature: usage.Answers}, {UserID: "ada"}, {APIKeyID: "k2"}, {Collection: "wiki"}}
	for _, zone := range []string{"UTC", "America/Los_Angeles", "Pacific/Auckland"} {
		for _, granularity := range []string{usage.Hour, usage.Day, usage.Month} {
			for _, groupBy := range groupings {
				for _, q := range filters {
					q.Zone, q.Granularity, q.GroupBy, q.Limit = mustZone(t, zone), granularity, groupBy, 1+random.IntN(usage.MaxBuckets)
					q.Start, q.End = now.Add(-50*24*time.Hour), now.Add(-time.Duration(random.IntN(40))*time.Hour)
					compare(t, c, calls, q)
				}
			}
		}
	}
}

func mustZone(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := usage.ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func compare(t *testing.T, c *usage.Counter, calls model, q usage.Query) {
	t.Helper()
	name := fmt.Sprintf("%s %s %v %s%s%s%s", q.Zone, q.Granularity, q.GroupBy, q.Feature, q.UserID, q.APIKeyID, q.Collection)
	got := map[string]usage.Metrics{}
	var first, last time.Time
	for {
		page, more, err := c.Report(t.Context(), teamID, now, q)
		if q.UserID+q.APIKeyID != "" && slices.Contains(q.GroupBy, usage.ByCollection) || q.Collection != "" && (slices.Contains(q.GroupBy, usage.ByUser) || slices.Contains(q.GroupBy, usage.ByClient)) {
			if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
				t.Errorf("%s: %v", name, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, b := range page {
			if first.IsZero() {
				first, last = b.Start, b.Start
			}
			if !b.Start.Equal(last) {
				t.Fatalf("%s: a bucket from %s after one to %s", name, b.Start, last)
			}
			last = b.End
			for _, r := range b.Results {
				key := label(q.Granularity, b.Start.In(q.Zone))
				for _, g := range q.GroupBy {
					key += "/" + *map[string]*string{usage.ByFeature: r.Feature, usage.ByUser: r.UserID, usage.ByAPIKey: r.APIKeyID,
						usage.ByClient: r.Client, usage.ByCollection: r.CollectionID}[g]
				}
				m := r.Metrics
				got[key] = usage.Metrics{Requests: m.Requests, OK: m.OK, Refused: m.Refused, Error: m.Error, Bytes: m.Bytes, Accepted: m.Accepted}
			}
		}
		if !more {
			break
		}
		q.After = last
	}
	if first.After(q.Start) || last.Before(q.End) {
		t.Errorf("%s: buckets from %s to %s do not cover %s to %s", name, first, last, q.Start, q.End)
	}
	want := calls.report(q, first, last)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %v\nwant %v", name, got, want)
	}
}

// TestAPageOfManyResultsEndsEarly: a page has whole buckets or a part of one with more results than a page, and the pages together have every
// result once, and buckets without results too.
func TestAPageOfManyResultsEndsEarly(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
	for day, keys := range map[int][]string{2: {"k1", "k2", "k3"}, 4: {"k1"}, 5: {"k1", "k2"}, 6: {"k1"}, 9: {"k1", "k2", "k3", "k4", "k5"}} {
		for _, key := range keys {
			call := usage.Call{At: now.Add(-time.Duration(10-day) * 24 * time.Hour), Feature: usage.Documents, KeyID: key, Numbers: map[string]int64{usage.OK: 1}}
			if _, err := c.Count(t.Context(), teamID, call); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := usage.Query{Zone: time.UTC, Granularity: usage.Day, GroupBy: []string{usage.ByAPIKey}, Limit: 8, MaxResults: 4, Start: now.Add(-10 * 24 * time.Hour), End: now}
	var pages [][]int // the results of each bucket
	var found []string
	for more := true; more; {
		var page []usage.Bucket
		var err error
		if page, more, err = c.Report(t.Context(), teamID, now, q); err != nil || len(page) == 0 {
			t.Fatalf("%d buckets, %v", len(page), err)
		}
		var results []int
		for _, b := range page {
			if !q.After.IsZero() && !b.Start.Equal(q.After) {
				t.Errorf("a bucket from %s after one to %s", b.Start, q.After)
			}
			results, q.After, q.AfterGroup = append(results, len(b.Results)), b.Next, b.NextGroup
			for _, r := range b.Results {
				found = append(found, b.Start.Format("02 ")+*r.APIKeyID)
			}
		}
		pages = append(pages, results)
	}
	if want := [][]int{{0, 0, 3, 0, 1}, {2, 1, 0, 0}, {4}, {1, 0}}; !reflect.DeepEqual(pages, want) {
		t.Errorf("%v, want %v", pages, want)
	}
	if want := []string{"13 k1", "13 k2", "13 k3", "15 k1", "16 k1", "16 k2", "17 k1", "20 k1", "20 k2", "20 k3", "20 k4", "20 k5"}; !slices.Equal(found, want) {
		t.Errorf("%v, want %v", found, want)
	}
}

// TestDaysWhoseMidnightIsSkipped or, in Havana, repeated: every day occurs once, with its
// length by the clock.
func TestDaysWhoseMidnightIsSkipped(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.Open(t))
	for _, zone := range []string{"America/Santiago", "Africa/Cairo", "Asia/Beirut", "America/Asuncion", "America/Havana"} {
		q := usage.Query{Zone: mustZone(t, zone), Granularity: usage.Day, Limit: 200, Start: now.Add(-399 * 24 * time.Hour), End: now}
		days := map[string]bool{}
		var end time.Time
		for more := true; more; {
			var page []usage.Bucket
			var err error
			if page, more, err = c.Report(t.Context(), teamID, now, q); err != nil {
				t.Fatal(err)
			}
			for _, b := range page {
				day := b.Start.In(q.Zone).Format(time.DateOnly)
				if length := b.End.Sub(b.Start); days[day] || length < 23*time.Hour || length > 25*time.Hour || !end.IsZero() && !b.Start.Equal(end) {
					t.Fatalf("%s: day %s again, or of %v, or not from %v", zone, day, length, end)
				}
				days[day], end = true, b.End
				q.After = b.End
			}
		}
		if len(days) != 400 {
			t.Errorf("%s: %d days", zone, len(days))
		}
	}
}

func TestBadReports(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.Open(t))
	good := usage.Query{Zone: time.UTC, Granularity: usage.Day, Limit: 10, Start: now.Add(-time.Hour), End: now}
	for name, change := range map[string]func(*usage.Query){
		"too old":               func(q *usage.Query) { q.Start = now.Add(-401 * 24 * time.Hour) },
		"far ahead":             func(q *usage.Query) { q.End = now.Add(401 * 24 * time.Hour) },
		"end first":             func(q *usage.Query) { q.End = q.Start },
		"granularity":           func(q *usage.Query) { q.Granularity = "week" },
		"half an hour":          func(q *usage.Query) { q.Zone = mustZone(t, "Asia/Kolkata") },
		"feature":               func(q *usage.Query) { q.Feature = "cooking" },
		"grouping":              func(q *usage.Query) { q.GroupBy = []string{"colour"} },
		"a grouping twice":      func(q *usage.Query) { q.GroupBy = []string{"user", "user"} },
		"three groupings":       func(q *usage.Query) { q.GroupBy = []string{"user", "feature", "client"} },
		"collection and user":   func(q *usage.Query) { q.GroupBy = []string{"user", "collection"} },
		"both kinds of sources": func(q *usage.Query) { q.GroupBy = []string{"dataSource", "collection"} },
		"filter and user":       func(q *usage.Query) { q.Collection, q.UserID = "wiki", "ada" },
	} {
		q := good
		change(&q)
		if _, _, err := c.Report(t.Context(), teamID, now, q); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"Local", "Mars/Olympus", "../UTC", "/etc/passwd", "localtime", "posix/UTC", "right/UTC", "utc"} {
		if _, err := usage.ParseZone(name); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("zone %q: %v", name, err)
		}
	}
	for _, text := range []string{"2026-02-28t10:00:00z", "2026-02-28T10:00:00Z", "2026-02-28t11:00:00+01:00"} { // RFC 3339 section 5.6
		if at, err := usage.ParseTime("start", text, time.UTC); err != nil || !at.Equal(time.Date(2026, 2, 28, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("time %q: %s, %v", text, at, err)
		}
	}
	for _, text := range []string{"", "yesterday", "2026-02-30", "0000-01-01", "9999-01-01"} {
		if _, err := usage.ParseTime("start", text, time.UTC); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
			t.Errorf("time %q: %v", text, err)
		}
	}
}

// TestTheBoundHolds: if adds fail, totals are wrong by at most what Count returned.
func TestTheBoundHolds(t *testing.T) {
	t.Parallel()
	store, plan := bolttest.OpenAt(t, func() time.Time { return now }), &faulttest.Plan{}
	c := usage.Patient(faulttest.Table{Store: store, Plan: plan})
	random := rand.New(rand.NewPCG(3, 4))
	const calls = 2000
	uncertain := 0
	for range calls {
		plan.Disarm()
		if random.IntN(20) == 0 {
			plan.Arm([]faulttest.Mode{faulttest.FailBefore, faulttest.FailAfter, faulttest.Throttle}[random.IntN(3)], 1)
		}
		n, err := c.Count(t.Context(), teamID, usage.Call{At: now, Feature: usage.Documents, KeyID: "k", Numbers: map[string]int64{usage.OK: 1}})
		if (n > 0) != (err != nil) {
			t.Fatalf("%d uncertain, %v", n, err)
		}
		uncertain += n
	}
	plan.Disarm()
	page, _, err := c.Report(t.Context(), teamID, now, usage.Query{Zone: time.UTC, Granularity: usage.Day, Limit: 1, Start: now.Add(-time.Hour), End: now})
	if err != nil {
		t.Fatal(err)
	}
	got := page[0].Results[0].Metrics.Requests
	if uncertain == 0 || got > calls || got < int64(calls-uncertain) {
		t.Errorf("%d counted of %d, %d uncertain", got, calls, uncertain)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
	count := func(user, feature string, ago time.Duration, numbers map[string]int64) {
		t.Helper()
		if _, err := c.Count(context.Background(), teamID, usage.Call{At: now.Add(-ago), Feature: feature, KeyID: "k", UserID: user, Numbers: numbers}); err != nil {
			t.Fatal(err)
		}
	}
	count("ada", usage.Answers, 0, map[string]int64{usage.OK: 3, usage.Accepted: 2})
	count("ada", "context.search", 26*time.Hour, map[string]int64{usage.OK: 4, usage.Refused: 1})
	count("ada", "context.search", 25*time.Hour, map[string]int64{usage.OK: 1})
	count("bob", usage.Documents, time.Hour, map[string]int64{usage.OK: 1})
	count("", usage.Documents, time.Hour, map[string]int64{usage.OK: 1})
	count("old", usage.Documents, 80*24*time.Hour, map[string]int64{usage.OK: 1})
	start := now.Add(-48 * time.Hour)
	first, more, err := c.Users(t.Context(), teamID, now, usage.UserQuery{Start: start, End: now, Limit: 1})
	if err != nil || !more || len(first) != 1 {
		t.Fatalf("%+v, %t, %v", first, more, err)
	}
	a := first[0]
	if a.UserID != "ada" || a.Questions != 2 || a.ContextCalls != 6 || a.ActiveDays != 2 || !slices.Equal(a.Features, []string{"answers", "context.search"}) ||
		!a.FirstActiveAt.Equal(now.Add(-26*time.Hour).Truncate(time.Hour)) || !a.LastActiveAt.Equal(now.Truncate(time.Hour)) {
		t.Errorf("%+v", a)
	}
	rest, more, err := c.Users(t.Context(), teamID, now, usage.UserQuery{Start: start, End: now, After: "ada", Limit: 10})
	if err != nil || more || len(rest) != 1 || rest[0].UserID != "bob" {
		t.Errorf("%+v, %t, %v", rest, more, err)
	}
	if one, _, err := c.Users(t.Context(), teamID, now, usage.UserQuery{Start: start, End: now, UserID: "bob", Limit: 10}); err != nil || len(one) != 1 {
		t.Errorf("only bob: %+v, %v", one, err)
	}
}

func TestLatencyAndMoney(t *testing.T) {
	t.Parallel()
	c := usage.Patient(bolttest.OpenAt(t, func() time.Time { return now }))
	for n := range 100 {
		took := 10 * time.Millisecond // bucket 8 to 16
		if n >= 90 {
			took = 3 * time.Second // bucket 2048 to 4096
		}
		if _, err := c.Count(t.Context(), teamID, usage.Call{At: now, Feature: "context.search", KeyID: "k", Latency: took,
			Numbers: map[string]int64{usage.OK: 1, usage.CostMicroUSD: 4120}}); err != nil {
			t.Fatal(err)
		}
	}
	page, _, err := c.Report(t.Context(), teamID, now, usage.Query{Zone: time.UTC, Granularity: usage.Hour, Limit: 1, Start: now.Add(-time.Minute), End: now})
	if err != nil {
		t.Fatal(err)
	}
	m := page[0].Results[0].Metrics
	if m.LatencyMsP50 != 12 || m.LatencyMsP95 != 3072 || m.EstimatedCostUSD != "0.412" {
		t.Errorf("%+v", m)
	}
}
