package functions_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/deployed"
	"docent/shared/llm/llmtest"
	"docent/shared/pending"
	"docent/testkit/lambdarun"
)

// whole is what the model writes. Its first sentence is in the first half.
const whole = "Run `deployctl undo` [1]. To roll back a deployment, run it within 24 hours [1]."

// sent is an event that a client received.
type sent struct{ name, id, data string }

// listening is the connection of a client that receives events.
type listening struct {
	t     *testing.T
	lines *bufio.Scanner
	leave func() // closes the connection
}

// next returns the next event, or false at the end of the stream, which may be a break.
func (l *listening) next() (e sent, ok bool) {
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		}
		if l.lines.Text() == "" && e.data != "" {
			return e, true
		}
	}
	return sent{}, false
}

// until returns the events up to the first with the name.
func (l *listening) until(name string) (events []sent) {
	l.t.Helper()
	for {
		e, ok := l.next()
		if !ok {
			l.t.Fatalf("the stream ended without %s, after %v", name, events)
		}
		if events = append(events, e); e.name == name {
			return events
		}
	}
}

// textOf returns the text that a client has that received events.
func textOf(t *testing.T, events []sent) (text string) {
	t.Helper()
	for _, e := range events {
		var data struct{ Text string }
		switch e.name {
		case "text.delta":
			decode(t, e.data, &data)
			text += data.Text
		case "text.replace":
			decode(t, e.data, &data)
			text = data.Text
		}
	}
	return text
}

// streaming is an installation whose answers are streamed by two processes and written by a model that pauses.
type streaming struct {
	*cloud
	model   *llmtest.Server
	answers *lambdarun.Function
	url     string
	done    int    // questions
	day     string // of the quota when the test began, as a reply has it
}

func newStreaming(t *testing.T) *streaming {
	t.Helper()
	s := &streaming{model: llmtest.Start(t)}
	s.cloud = asking(t, "bedrock", s.model, time.Minute)
	s.env[deployed.Transfer] = "stream"
	var err error
	s.answers, err = lambdarun.Start(context.Background(), binary(t, "answers"), lambdarun.Options{Name: "answers", Env: s.env, Log: s.log, Processes: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.answers.Close)
	s.gateway.Streams = map[string]lambdarun.Streamer{"answers": s.answers.InvokeStream}
	server := httptest.NewServer(s.gateway)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.want(s.put(s.newCollection("wiki"), "runbook", rollback), 200)
	s.drain()
	day := windowStart.FindStringSubmatch(s.want(s.do("GET", "/usage/quotas", nil), 200).body)
	if day == nil {
		t.Fatal("no start of the day of the quota")
	}
	s.day = day[0]
	return s
}

// windowStart is the start of a quota's day in a reply.
var windowStart = regexp.MustCompile(`"windowStart":"[^"]+"`)

// listen asks for the events of a question after last, by PUT or GET. It returns when the function has begun its
// reply.
func (s *streaming) listen(method, question, last string) *listening {
	s.t.Helper()
	ctx, leave := context.WithCancel(s.t.Context())
	s.t.Cleanup(leave)
	body := ""
	if method == "PUT" {
		body = `{"question":"` + howTo + `"}`
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+"/v1/answers/"+question, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { reply.Body.Close() })
	if reply.StatusCode != 200 {
		text, _ := io.ReadAll(reply.Body)
		s.t.Fatalf("%s: %d %s", method, reply.StatusCode, text)
	}
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, 1<<20)
	return &listening{s.t, lines, leave}
}

// begin asks a question and returns its id, the connection, and the events of the half that the model has written.
func (s *streaming) begin() (question string, l *listening, half []sent) {
	s.t.Helper()
	s.model.Now(llmtest.Pauses, whole)
	question = uuid.NewString()
	l = s.listen("PUT", question, "")
	half = l.until("text.delta")
	if text := textOf(s.t, half); !strings.Contains(text, "undo") || strings.Contains(text, "24 hours") {
		s.t.Fatalf("half of the answer: %v", half)
	}
	return question, l, half
}

// isWholeAndOnce checks that a client with these events has the stored answer, that the question was counted once,
// and that the feed has it once.
func (s *streaming) isWholeAndOnce(question string, events []sent) {
	s.t.Helper()
	names, ids := map[string]int{}, map[string]int{}
	for _, e := range events {
		names[e.name]++
		if ids[e.id]++; e.id != "" && ids[e.id] > 1 {
			s.t.Errorf("the id %s came again: %v", e.id, events)
		}
	}
	if names["answer.created"] != 1 || names["answer.completed"] != 1 || names["error"] > 0 {
		s.t.Errorf("events %v", events)
	}
	stored := s.want(s.do("GET", "/answers/"+question, nil), 200, `"state":"complete"`)
	var body struct{ Answer string }
	decode(s.t, stored.body, &body)
	if text := textOf(s.t, events); text != body.Answer {
		s.t.Errorf("received %q, stored %q", text, body.Answer)
	}
	s.settle()
	if again := s.want(s.do("GET", "/answers/"+question, nil), 200); again.body != stored.body {
		s.t.Errorf("after the queue: %s, before: %s", again.body, stored.body)
	}
	s.done++
	quotas := s.want(s.do("GET", "/usage/quotas", nil), 200, `"windowStart":"`)
	if strings.Contains(quotas.body, s.day) { // else a new day of the quota has begun
		s.want(quotas, 200, fmt.Sprintf(`"used":%d,`, s.done))
	}
	if n, lost := s.completed(), strings.Count(s.log.String(), `"usage not counted","question"`); n > s.done || n < s.done-lost {
		s.t.Errorf("%d completed questions in the usage, want %d, of which %d were not counted in time", n, s.done, lost)
	}
	feed := s.want(s.do("GET", "/security-events?eventType=answer.asked", nil), 200)
	if n := strings.Count(feed.body, `"type":"answer","id":"`+question+`"`); n != 1 {
		s.t.Errorf("%d events in the feed: %s", n, feed.body)
	}
}

// completed returns how many questions the usage has as completed.
func (s *streaming) completed() (n int) {
	s.t.Helper()
	var usage struct {
		Buckets []struct {
			Results []struct{ Metrics struct{ Completed int } }
		}
	}
	start := time.Now().Add(-48 * time.Hour).UTC().Format(time.RFC3339)
	decode(s.t, s.want(s.do("GET", "/usage?feature=answers&start="+start, nil), 200).body, &usage)
	for _, b := range usage.Buckets {
		for _, r := range b.Results {
			n += r.Metrics.Completed
		}
	}
	return n
}

// TestAStreamIsCutWhileItIsWritten: the client leaves, or the function is killed, while the model writes. The client
// connects again before the answer is there, and receives what it lacks.
func TestAStreamIsCutWhileItIsWritten(t *testing.T) {
	t.Parallel()
	s := newStreaming(t)
	for _, method := range []string{"GET", "PUT"} {
		question, first, events := s.begin()
		first.leave()
		s.want(s.do("GET", "/answers/"+question, nil), 200, `"state":"processing"`)
		again := s.listen(method, question, events[len(events)-1].id)
		s.model.GoOn()
		rest := again.until("answer.completed")
		if e, ok := again.next(); ok {
			t.Errorf("%s: %v came after the end", method, e)
		}
		if len(rest) != 3 || rest[0].name != "sources" || rest[0].id != "" || rest[1].name != "text.delta" {
			t.Errorf("%s: the rest: %v", method, rest)
		}
		s.isWholeAndOnce(question, append(events, rest...))
		if n := s.model.Asked(); n != 1 {
			t.Errorf("%s: the model was asked %d times", method, n)
		}
	}
	for _, c := range []struct {
		name string
		does llmtest.Behaviour
		text string
		rest string // the name of the event with the rest of the text
	}{
		{"the same text", llmtest.Says, whole, "text.delta"},
		{"another text", llmtest.Says, "To roll back a deployment, run `deployctl undo` within 24 hours [1].", "text.replace"},
		{"a quotation", llmtest.Fails, "", "text.replace"},
	} {
		question, first, events := s.begin()
		s.answers.Kill()
		if e, ok := first.next(); ok || first.lines.Err() == nil {
			t.Errorf("after the end of the process: %v, %v", e, first.lines.Err())
		}
		s.model.Now(c.does, c.text)
		again := s.listen("GET", question, events[len(events)-1].id)
		later := s.config
		later.Now = func() time.Time { return time.Now().Add(pending.Grace + time.Second) }
		s.sweep(later)
		s.drain()
		rest := again.until("answer.completed")
		if len(rest) != 3 || rest[0].name != "sources" || rest[1].name != c.rest {
			t.Errorf("%s: the rest: %v", c.name, rest)
		}
		s.isWholeAndOnce(question, append(events, rest...))
	}
}
