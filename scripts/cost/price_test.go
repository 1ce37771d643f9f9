package main

import (
	"math"
	"strings"
	"testing"
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
	l.Assumed.MillisecondsARoundTrip, l.Assumed.UsageUnitsARequest, l.Assumed.Metrics = 5, 1, 10
	l.Always.Alarms, l.Always.Metrics = 2, 4
	bill, err := price(l, p, map[string]operationCost{"ask": {2, 1, 9}, "answer": {4, 60, 15}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"gateway": 7, "functions, invocations": 0.6, "functions, time": (2e6*0.5*0.010 + 1e6*0.020) * p.FunctionGigabyteSecond,
		"tables, reads": 62 * 0.125, "tables, writes": (2*10 + 15) * 0.625, "queues": 0.8, "bucket": 0.8, "key": 1,
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
