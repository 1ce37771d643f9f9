package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/rate"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
)

func TestTheBillIsWhatWasCountedTimesThePrice(t *testing.T) {
	t.Parallel()
	var l load
	var p prices
	if err := read("prices.json", &p); err != nil {
		t.Fatal(err)
	}
	l.Requests = []work{{Operation: "ask", Count: 2e6, MemoryMB: 512, Messages: 1}}
	l.Workers = []work{{Operation: "answer", Count: 1e6, MemoryMB: 1024, ObjectReads: 2}}
	l.Assumed.MillisecondsARoundTrip, l.Assumed.UsageUnitsARequest, l.Assumed.RateUnitsARequest, l.Assumed.Metrics = 5, 1, 0.5, 10
	l.Always.Alarms, l.Always.Metrics = 2, 4
	bill, err := price(l, p, map[string]operationCost{"ask": {2, 1, 9}, "answer": {4, 60, 15}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"gateway": 7, "functions, invocations": 0.6, "functions, time": (2e6*0.5*0.010 + 1e6*0.020) * p.FunctionGigabyteSecond,
		"tables, reads": 62 * 0.125, "tables, writes": (2*(9+1+0.5) + 15) * 0.625, "queues": 2 * (0.40 + 0.10), "bucket": 0.8, "key": 1,
		"alarms and metrics": 2*p.AlarmMonth + 14*p.MetricMonth}
	for _, line := range bill {
		if w, ok := want[line.what]; ok && math.Abs(line.dollars-w) > 1e-9 {
			t.Errorf("%s: %g, want %g", line.what, line.dollars, w)
		}
		delete(want, line.what)
	}
	if len(want) > 0 {
		t.Errorf("not on the bill: %v", want)
	}
	idle, err := price(load{Always: l.Always, Assumed: l.Assumed}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range idle {
		if want := 2*p.AlarmMonth + 4*p.MetricMonth; line.what == "alarms and metrics" && math.Abs(line.dollars-want) > 1e-9 {
			t.Errorf("without requests, metrics of requests are charged: %g, want %g", line.dollars, want)
		}
	}
	if _, err := price(l, p, nil); err == nil || !strings.Contains(err.Error(), `"ask"`) {
		t.Errorf("an operation without counts: %v", err)
	}
}

// byHand is what an operation of the stated load takes, computed from its calls one after the other. A newest item of up to 4 KB is
// read for one unit, another for half a unit. A KB of an item is written for one unit, and for two in a transaction.
var byHand = map[string]operationCost{
	// A transaction of four small items; the day's count is read next to sending.
	"PUT answer": {2, 0.5, 4 * 2},
	"GET answer": {1, 1, 0},
	// The number of its event; collection and document; a transaction of 9 KB, of which the document has 4; sending.
	"PUT document, new, 3 KB": {3, 2, 1 + 9*2},
	// The same, and the old version's failure.
	"PUT document, replaced, 3 KB": {3, 2, 1 + 10*2},
	// Two reads of several items.
	"GET document, 3 KB": {2, 4, 0},
	// The same; the address of the original is signed without a call.
	"GET document original, 3 KB": {2, 4, 0},
	// The collections; a page of documents.
	"GET documents, 100": {2, 8, 0},
	"GET collection":     {1, 1, 0},
	// The collections and the lists of segments of words and of vectors, in parallel; then the documents that were found.
	"POST context/search, 10 sources": {2, 43, 0},
	// The number of its event and the question; its search; a transaction of 5 KB.
	"answering a question": {4, 43, 1 + 5*2},
	// The documents; the blob; a transaction of ten documents and the record of their segment; sending; what could be merged.
	"indexing 10 documents, 3 KB": {7, 30, 11 * 2},
	// The same for their vectors, without sending.
	"embedding 10 documents, 3 KB": {6, 30, 11 * 2},
}

// TestEveryOperationTakesWhatIsComputedByHand compares what is counted with what was computed by hand, for each operation of the load.
func TestEveryOperationTakesWhatIsComputedByHand(t *testing.T) {
	t.Parallel()
	var l load
	if err := read("load.json", &l); err != nil {
		t.Fatal(err)
	}
	counted, err := count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	differs := func(got, want float64) bool { return math.Abs(got-want) > 0.1*want }
	all := slices.Concat(l.Requests, l.Workers)
	for _, w := range all {
		got, want := counted[w.Operation], byHand[w.Operation]
		if want.RoundTrips == 0 || differs(float64(got.RoundTrips), float64(want.RoundTrips)) || differs(got.ReadUnits, want.ReadUnits) || differs(got.WriteUnits, want.WriteUnits) {
			t.Errorf("%s takes %+v, by hand %+v", w.Operation, got, want)
		}
	}
	if got := counted["sweeping, nothing to do"]; got.ReadUnits != l.Always.SweepReadUnits || got.WriteUnits != l.Always.SweepWriteUnits {
		t.Errorf("a sweep takes %+v, the load says %g reads and %g writes", got, l.Always.SweepReadUnits, l.Always.SweepWriteUnits)
	}
	if len(all) != len(byHand) {
		t.Errorf("%d operations were computed, the load has %d", len(byHand), len(all))
	}
}

// writes counts the writes of units by a limiter: items of less than 1 KB, so one each, also when a condition fails.
type writes struct {
	table.Store
	units atomic.Int64 // buckets are settled in parallel
}

func (w *writes) Add(ctx context.Context, add table.Add) (table.Item, error) {
	w.units.Add(1)
	return w.Store.Add(ctx, add)
}

// TestTheSettlingOfTokensIsOnTheBill runs the real limiter, with the stack's default of 100 requests per second, at the pace of a
// million requests in a month: a tenth of a unit for the team's bucket, and two tenths for that of the only key.
func TestTheSettlingOfTokensIsOnTheBill(t *testing.T) {
	t.Parallel()
	var l load
	if err := read("load.json", &l); err != nil {
		t.Fatal(err)
	}
	clock := clocktest.New(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	store := &writes{Store: bolttest.OpenAt(t, clock.Now)}
	limiter := &rate.Limiter{PerSecond: 100, Now: clock.Now, Table: store}
	const requests = 2000
	for range requests {
		clock.Advance(30 * 24 * time.Hour / 1_000_000)
		if _, err := limiter.Take("team", "key"); err != nil {
			t.Fatal(err)
		}
		if err := limiter.Settle(t.Context(), "team", "key"); err != nil {
			t.Fatal(err)
		}
	}
	if got := float64(store.units.Load()) / requests; math.Abs(got-l.Assumed.RateUnitsARequest) > 0.01 {
		t.Errorf("settling takes %g units a request, the load says %g", got, l.Assumed.RateUnitsARequest)
	}
}

// TestTheBillEqualsAComputationByHand calculates the stated load line by line, with AWS's prices of January 2026
// and the counts of byHand. make cost, with today's counts, may differ by a tenth.
func TestTheBillEqualsAComputationByHand(t *testing.T) {
	t.Parallel()
	hand := map[string]float64{
		"gateway": 1 * 3.50, // million requests
		// Requests, answers, batches of 10 documents, sweeps.
		"functions, invocations": (1_000_000 + 60_000 + 2*20_000 + 43_200) / 1e6 * 0.20,
		// Seconds at the function's memory in GB; a round trip takes 6 ms, computing 4 ms.
		"functions, time": 0.0000133334 * (60_000*0.016 + 240_000*0.010 + 0.5*80_000*0.010 + // answers and collections
			40_000*0.022 + 160_000*0.022 + 100_000*0.016 + 20_000*0.016 + 300_000*0.016 + // documents, searches
			60_000*0.028 + 20_000*0.046 + 1.73*20_000*0.040 + // answering, indexing, embedding
			0.5*43_200*0.070), // sweeping
		"tables, reads": 0.125 * (0.06*0.5 + 0.24*2 + 0.2*2 + 0.1*4 + 0.02*8 + 0.08*1 + 0.3*43 + // requests
			0.06*43 + 0.02*30 + 0.02*30 + // workers
			0.0432*32), // sweeping
		"tables, writes": 0.625 * (1*1 + 1*0.3 + // each call is counted, and its tokens are settled
			0.06*8 + 0.04*19 + 0.16*21 + // requests
			0.06*15 + 0.02*22 + 0.02*22 + // workers
			0.0432*1), // sweeping
		"tables, storage and recovery": 5 * (0.25 + 0.20),
		// Seven queues are asked by five pollers three times a minute; messages are sent, received and deleted, each with its team's group.
		"queues":                  (0.40*7*5*3*43_200 + (0.40+0.10)*(60_000+200_000+2*60_000+11*20_000+10*20_000)) / 1e6,
		"bucket":                  1*0.023 + 2*(0.08*0.40+0.04*5.00),
		"logs":                    (1.1232*0.9 + 1*0.5) * (0.50 + 0.03), // GB written, and kept for a month
		"traces":                  0,                                    // unless they are switched on: 5.00
		"replies to the internet": 3 * 0.09,
		"alarms and metrics":      23*0.10 + 3*0.30, // OldestPending, Latency, AnswerTime
		"dashboards":              0,                // two of at most 50 metrics
		"key":                     1,
	}
	var l load
	var p prices
	if err := errors.Join(read("load.json", &l), read("prices.json", &p)); err != nil {
		t.Fatal(err)
	}
	counted, err := count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bill, err := price(l, p, counted)
	if err != nil {
		t.Fatal(err)
	}
	var sum, together, alone float64
	for _, line := range bill {
		want, ok := hand[line.what]
		if !ok {
			t.Errorf("%s was not computed", line.what)
		}
		if math.Abs(line.dollars-want) > 0.1*want {
			t.Errorf("%s: %.3f, by hand %.3f", line.what, line.dollars, want)
		}
		sum, together, alone = sum+line.dollars, together+want, alone+line.alone
	}
	if math.Abs(sum-together) > 0.1*together || len(bill) != len(hand) {
		t.Errorf("together %.2f in %d lines, by hand %.2f in %d", sum, len(bill), together, len(hand))
	}
	if sum > 25 {
		t.Errorf("a million requests cost %.2f, more than 25", sum)
	}
	idle, err := price(load{Assumed: l.Assumed, Always: l.Always}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, alone = 0, 0
	for _, line := range idle {
		sum, alone = sum+line.dollars, alone+line.alone
	}
	// Reads and writes of sweeping; the key; recovery of 5 GB; the bucket; 13 alarms; 3.5 million calls of queues.
	if want := 0.173 + 0.027 + 1 + 1 + 0.023 + 1.3 + 0.40*3.536; math.Abs(alone-want) > 0.1*want || alone > 5 {
		t.Errorf("without requests it costs %.2f in an account with nothing else, by hand %.2f, want at most 5 (list prices %.2f)", alone, want, sum)
	}
}

func TestWhatEmbeddingCosts(t *testing.T) {
	t.Parallel()
	var l load
	var p prices
	p.FunctionGigabyteSecond, p.TitanMillionTokens = 0.001, 0.02
	l.Embedding.ProcessorMillisecondsAPassage, l.Embedding.ProcessorMillisecondsAQuestion = 1024, 10.24
	l.Embedding.TokensAPassage, l.Embedding.TokensAQuestion = 200, 15
	local, titan := priceEmbedding(l, p)
	for _, c := range []struct{ got, want float64 }{{local.passages, 1769}, {local.questions, 17.69}, {titan.passages, 4}, {titan.questions, 0.3}} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
}

func TestTheStatedLoadIsAMillionRequests(t *testing.T) {
	t.Parallel()
	var l load
	if err := read("load.json", &l); err != nil {
		t.Fatal(err)
	}
	var requests, new, indexed float64
	for _, w := range l.Requests {
		requests += w.Count
		if strings.HasPrefix(w.Operation, "PUT document") {
			new += w.Count
		}
	}
	for _, w := range l.Workers {
		if strings.HasPrefix(w.Operation, "indexing 10 documents") {
			indexed += 10 * w.Count
		}
	}
	if requests != 1e6 || indexed < new {
		t.Errorf("%g requests; %g documents put and %g indexed", requests, new, indexed)
	}
}
