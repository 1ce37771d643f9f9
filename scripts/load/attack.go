package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// documents is the number of documents before the load starts.
const documents = 300

// operation is a part of the load.
type operation struct {
	name  string
	part  float64 // of the requests
	most  int     // requests in all; 0: no limit
	want  uint16  // status
	build func(s *server, n int64) (method, path string, body any)
}

// mix is the load of make cost, with fewer new documents, because here one machine also does the indexing. A team
// may ask 1,000 questions per day.
var mix = []operation{
	{"search context", 0.40, 0, 200, func(_ *server, n int64) (string, string, any) {
		return "POST", "/context/search", map[string]any{"query": fmt.Sprintf("How is service %d restarted?", n%documents)}
	}},
	{"list documents", 0.25, 0, 200, func(s *server, _ int64) (string, string, any) {
		return "GET", "/documents?limit=20&collectionId=" + s.collection, nil
	}},
	{"get collection", 0.15, 0, 200, func(s *server, _ int64) (string, string, any) { return "GET", "/collections/" + s.collection, nil }},
	{"put document, unchanged", 0.10, 0, 200, func(s *server, n int64) (string, string, any) { return "PUT", "/documents", s.document(n%documents, 0) }},
	{"put document, replaced", 0.06, 0, 200, func(s *server, n int64) (string, string, any) { return "PUT", "/documents", s.document(n%50, n+1) }},
	{"ask", 0.04, 900, 204, func(_ *server, n int64) (string, string, any) {
		return "PUT", "/answers/" + uuid.NewString(), map[string]string{"question": fmt.Sprintf("How is service %d restarted?", n%documents)}
	}},
}

func (s *server) document(n, version int64) map[string]string {
	return map[string]string{"collectionId": s.collection, "uri": fmt.Sprintf("https://load.example/%d", n), "title": fmt.Sprintf("Service %d", n),
		"body": fmt.Sprintf("## Restarting service %d\n\nRun `servicectl restart %d`. Revision %d.\n\n", n, n, version) + strings.Repeat("It takes a while until the service is healthy again. ", 40)}
}

// attack runs all operations at the same time, each at its part of the rate.
func attack(ctx context.Context, s *server, rate int, lasting time.Duration) map[string]*vegeta.Metrics {
	var all sync.WaitGroup
	results := make(map[string]*vegeta.Metrics, len(mix))
	for _, o := range mix {
		m := &vegeta.Metrics{}
		results[o.name] = m
		freq := max(1, int(float64(rate)*o.part))
		duration := lasting
		if o.most > 0 {
			duration = min(duration, time.Duration(o.most/freq)*time.Second)
		}
		var n atomic.Int64
		attacker := vegeta.NewAttacker(vegeta.Timeout(30*time.Second), vegeta.MaxWorkers(64))
		all.Go(func() {
			targets := func(t *vegeta.Target) error {
				method, path, body := o.build(s, n.Add(1)-1)
				t.Method, t.URL = method, s.base+path
				t.Header = http.Header{"Authorization": {"Bearer " + s.key}, "Content-Type": {"application/json"}}
				if body == nil {
					return nil
				}
				var err error
				t.Body, err = json.Marshal(body)
				return err
			}
			defer context.AfterFunc(ctx, func() { attacker.Stop() })()
			for r := range attacker.Attack(targets, vegeta.Rate{Freq: freq, Per: time.Second}, duration, o.name) {
				if r.Error == "" && r.Code != o.want {
					r.Error = fmt.Sprintf("status %d, not %d", r.Code, o.want)
				}
				m.Add(r)
			}
			m.Close()
		})
	}
	all.Wait()
	return results
}

// report prints a line for each operation. It returns an error if a reply was wrong.
func report(out io.Writer, results map[string]*vegeta.Metrics) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\trequests\ta second\tp50\tp95\tp99\tslowest\tfailed\t\n")
	failed := uint64(0)
	problems := map[string]bool{}
	for _, o := range mix {
		m := results[o.name]
		bad := m.Requests - uint64(m.StatusCodes[fmt.Sprint(o.want)])
		failed += bad
		for _, e := range m.Errors {
			problems[o.name+": "+e] = true
		}
		ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t%d\t\n", o.name, m.Requests, m.Throughput,
			ms(m.Latencies.P50), ms(m.Latencies.P95), ms(m.Latencies.P99), ms(m.Latencies.Max), bad)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for p := range problems {
		fmt.Fprintln(out, p)
	}
	if failed > 0 {
		return fmt.Errorf("%d replies were wrong", failed)
	}
	return nil
}

// fill creates the collection and its documents, and waits until the last is indexed.
func (s *server) fill(ctx context.Context) error {
	var made struct{ ID string }
	if err := s.call(ctx, "POST", "/collections", map[string]string{"name": "load", "description": "Runbooks."}, &made); err != nil {
		return err
	}
	s.collection = made.ID
	var last struct{ ID string }
	for n := range int64(documents) {
		if err := s.call(ctx, "PUT", "/documents", s.document(n, 0), &last); err != nil {
			return err
		}
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var d struct{ Indexing struct{ State string } }
		if err := s.call(ctx, "GET", "/documents/"+last.ID, nil, &d); err != nil {
			return err
		}
		if d.Indexing.State == "indexed" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the last document is still %s", d.Indexing.State)
		}
	}
}

func (s *server) call(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
