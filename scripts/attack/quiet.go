package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// The quiet team's work: requests at a steady rate that does not slow down when replies are late, so that a stall
// of the server affects every request during it.
const (
	quietEvery     = time.Second / 40
	quietPatience  = 20 * time.Second // a failed request counts as this long
	quietDocuments = 200
	quietQuestions = 800 // of the 1,000 that a team may ask per day
	mediumBody     = 150 << 10
)

// quiet is the team whose work must not be disturbed.
type quiet struct {
	Address, Key string
	Collection   string
	Documents    []string
	Medium       string // a document too large for bodies and replies that need no memory budget
	Question     string
}

func (q quiet) api() api { return api{q.Address, q.Key} }

// newQuiet creates the team's key and its content.
func newQuiet(ctx context.Context, address, admin string) (q quiet, err error) {
	var made struct{ Secret string }
	if err := (api{address, admin}).call(ctx, "POST", "/api-keys", map[string]string{"kind": "team", "name": "quiet"}, &made); err != nil {
		return q, err
	}
	q.Address, q.Key = address, made.Secret
	if q.Collection, err = q.api().collection(ctx); err != nil {
		return q, err
	}
	for n := range quietDocuments {
		id, err := q.api().document(ctx, q.Collection, fmt.Sprint(n), title(n), text(n, 0))
		if err != nil {
			return q, err
		}
		q.Documents = append(q.Documents, id)
	}
	if q.Medium, err = q.api().document(ctx, q.Collection, "medium", "Medium", medium(0)); err != nil {
		return q, err
	}
	q.Question = uuid.NewString()
	return q, q.api().call(ctx, "PUT", "/answers/"+q.Question, map[string]string{"question": "How is service 3 restarted?"}, nil)
}

func title(n int) string { return fmt.Sprint("Service ", n) }

func text(n, version int) string {
	return fmt.Sprintf("## Restarting service %d\n\nRun `servicectl restart %d`. Revision %d.\n\n", n, n, version) +
		strings.Repeat("It takes a while until all is well again. ", 20)
}

func medium(version int) string {
	return fmt.Sprintf("Revision %d.\n\n", version) + strings.Repeat("It takes a while until all is well again. ", mediumBody/42)
}

// settled waits until the teams' documents are indexed, so that the measurement starts idle. Work is done about in
// order, so it is enough to wait for one last document.
func (q quiet) settled(ctx context.Context) error {
	id, err := q.api().document(ctx, q.Collection, "last", "Last", "The last one.")
	for err == nil {
		var d struct{ Indexing struct{ State string } }
		if err = q.api().call(ctx, "GET", "/documents/"+id, nil, &d); err == nil && d.Indexing.State != "pending" {
			return nil
		}
		if !sleep(ctx, busy) {
			return ctx.Err()
		}
	}
	return err
}

// operation is a part of the quiet team's work.
type operation struct {
	name string
	part int // of 40 requests
	want int // status
	make func(q quiet, n int) (method, path string, body any)
}

var operations = []operation{
	{"search", 12, 200, func(_ quiet, n int) (string, string, any) {
		return "POST", "/context/search", map[string]any{"query": fmt.Sprintf("How is service %d restarted?", n%quietDocuments)}
	}},
	{"get document", 8, 200, func(q quiet, n int) (string, string, any) {
		return "GET", "/documents/" + q.Documents[n%len(q.Documents)], nil
	}},
	{"list documents", 5, 200, func(q quiet, _ int) (string, string, any) {
		return "GET", "/documents?limit=20&collectionId=" + q.Collection, nil
	}},
	{"get collection", 4, 200, func(q quiet, _ int) (string, string, any) { return "GET", "/collections/" + q.Collection, nil }},
	{"put document", 6, 200, func(q quiet, n int) (string, string, any) {
		return "PUT", "/documents", documentOf(q.Collection, fmt.Sprint(n%quietDocuments), title(n%quietDocuments), text(n%quietDocuments, n))
	}},
	{"get answer", 2, 200, func(q quiet, _ int) (string, string, any) { return "GET", "/answers/" + q.Question, nil }},
	{"ask", 1, 204, func(_ quiet, n int) (string, string, any) {
		return "PUT", "/answers/" + uuid.NewString(), map[string]string{"question": fmt.Sprintf("How is service %d restarted?", n%quietDocuments)}
	}},
	{"put 150 KB", 1, 200, func(q quiet, n int) (string, string, any) {
		return "PUT", "/documents", documentOf(q.Collection, "medium", "Medium", medium(n))
	}},
	{"get 150 KB", 1, 200, func(q quiet, _ int) (string, string, any) { return "GET", "/documents/" + q.Medium, nil }},
}

// sample has the times that the quiet team saw, by the name of the operation.
type sample struct {
	mu       sync.Mutex
	took     map[string][]time.Duration
	failed   map[string]int
	problems map[string]int
}

// work does the team's work for a time, or until ctx ends, and waits for the replies.
func (q quiet) work(ctx context.Context, lasting time.Duration) (*sample, error) {
	s := &sample{took: map[string][]time.Duration{}, failed: map[string]int{}, problems: map[string]int{}}
	client := &http.Client{Timeout: quietPatience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var order []operation
	for _, o := range operations {
		order = append(order, slices.Repeat([]operation{o}, o.part)...)
	}
	var all sync.WaitGroup
	defer all.Wait()
	begin, asked := time.Now(), 0
	for n := 0; ; n++ {
		due := time.Duration(n) * quietEvery
		if due >= lasting || !sleep(ctx, time.Until(begin.Add(due))) {
			break
		}
		o := order[(n*17)%len(order)] // 17 and 40 have no common divisor: the parts are well mixed
		if o.name == "ask" {
			if asked++; asked > quietQuestions/2 {
				continue
			}
		}
		method, path, body := o.make(q, n)
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		all.Go(func() {
			problem := q.once(context.WithoutCancel(ctx), client, o, method, path, text)
			s.add(o.name, time.Since(begin.Add(due)), problem)
		})
	}
	return s, nil
}

// once sends a request and returns an error if the reply is wrong.
func (q quiet) once(ctx context.Context, client *http.Client, o operation, method, path string, body []byte) string {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+q.Address+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+q.Key)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return "no reply"
	}
	defer response.Body.Close()
	if _, err := new(bytes.Buffer).ReadFrom(response.Body); err != nil {
		return "no whole reply"
	}
	if response.StatusCode != o.want {
		return response.Status
	}
	return ""
}

// add counts a reply and its time. A wrong reply counts as the longest time.
func (s *sample) add(name string, took time.Duration, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if problem != "" {
		s.failed[name]++
		s.problems[name+": "+problem]++
		took = quietPatience
	}
	s.took[name] = append(s.took[name], took)
}

// all returns the times of every operation.
func (s *sample) all() (took []time.Duration) {
	for _, of := range s.took {
		took = append(took, of...)
	}
	return took
}

// quantile returns the time below which the fraction q of took is.
func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
