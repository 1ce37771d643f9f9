package functions_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"docent/shared/deployed"
	"docent/testkit/lambdarun"
)

// TestStreamsThroughTheBinaries asks for events at a gateway that passes on what the functions write, and at one that
// does not: the events are the same.
func TestStreamsThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.env[deployed.Transfer] = "stream"
	c.gateway.Streams = map[string]lambdarun.Streamer{}
	for _, f := range deployed.Functions {
		if !f.Streams {
			continue
		}
		started, err := lambdarun.Start(context.Background(), binary(t, f.Name), lambdarun.Options{Name: f.Name, Env: c.env, Log: c.log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(started.Close)
		for _, root := range f.Roots {
			c.gateway.Streams[root] = started.InvokeStream
		}
	}
	c.want(c.put(c.newCollection("wiki"), "runbook", rollback), 200)
	c.drain()
	server := httptest.NewServer(c.gateway)
	defer server.Close()
	// stream returns the names and ids of the events after last.
	stream := func(method, path, body, last string) (names, ids []string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		r.Header.Set("Accept", "text/event-stream")
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		if reply.StatusCode == 204 && last != "" {
			return nil, nil
		}
		if reply.StatusCode != 200 || reply.Header.Get("Content-Type") != "text/event-stream" || reply.ContentLength != -1 {
			t.Fatalf("%s %s: %d %v", method, path, reply.StatusCode, reply.Header)
		}
		lines := bufio.NewScanner(reply.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				names = append(names, name)
			}
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				ids = append(ids, id)
			}
		}
		if lines.Err() != nil {
			t.Error(lines.Err())
		}
		return names, ids
	}
	events := func(method, path, body string) []string {
		t.Helper()
		names, _ := stream(method, path, body, "")
		return names
	}
	const answered = "answer.created sources text.delta answer.completed"
	const path, question = "/answers/0198b0a0-0000-7000-8000-000000000001", `{"question":"How do I roll back a deployment?"}`
	if got := strings.Join(events("PUT", path, question), " "); got != answered {
		t.Errorf("asked: %s", got)
	}
	if got := strings.Join(events("GET", path, ""), " "); got != answered {
		t.Errorf("read again: %s", got)
	}
	names, ids := stream("GET", path, "", "")
	if len(ids) != len(names) {
		t.Fatalf("ids %v of %v", ids, names)
	}
	for i, id := range ids { // the connection is lost after each event; what was found may come again
		rest, _ := stream("GET", path, "", id)
		again := slices.DeleteFunc(rest, func(name string) bool { return name == "sources" && i > 0 })
		if !slices.Equal(again, names[i+1:]) {
			t.Errorf("after %s came %v, want %v", names[i], rest, names[i+1:])
		}
	}
	if got := strings.Join(events("POST", "/context/research", `{"query":"How do I roll back a deployment?"}`), " "); got != "sources text.delta answer.completed" {
		t.Errorf("research: %s", got)
	}
	delete(c.gateway.Streams, "answers")
	recorder := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1"+path, nil)
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Accept", "text/event-stream")
	c.gateway.ServeHTTP(recorder, r)
	if got := strings.Count(recorder.Body.String(), "event: "); recorder.Code != 200 || got != 4 {
		t.Errorf("without streams: %d %s", recorder.Code, recorder.Body)
	}
}
