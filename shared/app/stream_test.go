package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/llm/openai"
	"docent/shared/logtest"
	"docent/shared/pending"
)

// event is a server-sent event.
type event struct {
	name, id string
	data     map[string]any
}

// eventsOf reads a stream that has ended.
func eventsOf(t *testing.T, stream []byte) []event {
	t.Helper()
	var out []event
	for block := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		var e event
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					t.Fatalf("data %q: %v", value, err)
				}
			default:
				t.Fatalf("line %q", line)
			}
		}
		out = append(out, e)
	}
	return out
}

func names(events []event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.name)
	}
	return out
}

// received returns the text that a client has that received events.
func received(events []event) string {
	text := ""
	for _, e := range events {
		switch e.name {
		case "text.delta":
			text += e.data["text"].(string)
		case "text.replace":
			text = e.data["text"].(string)
		}
	}
	return text
}

// zebraHome is a home with one document, and a model that streams if there are pieces.
func zebraHome(t *testing.T, pieces []string) *home {
	t.Helper()
	h := newHome(t, func(_ *home, b *base, p *Parts) {
		b.log = slog.New(slog.DiscardHandler)
		if pieces == nil {
			return
		}
		model, err := openai.New(streamingModel(t, pieces...), "m", openai.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Model = WrittenBy(model)
	})
	collection := h.must(201, "POST", "/collections", map[string]string{"name": "wiki", "description": "d"}).text(t, "id")
	h.must(200, "PUT", "/documents", map[string]any{"collectionId": collection, "uri": "https://wiki.test/zebra",
		"title": "Zebra", "body": "The zebra is 7 metres tall. It sleeps standing. It eats grass for 12 hours."})
	h.work()
	return h
}

// streamingModel answers each request with a stream of pieces.
func streamingModel(t *testing.T, pieces ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Stream bool `json:"stream"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if !asked.Stream {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"finish_reason": "stop",
				"message": map[string]any{"content": strings.Join(pieces, "")}}}})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i, p := range pieces {
			finish := any(nil)
			if i == len(pieces)-1 {
				finish = "stop"
			}
			data, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": p}, "finish_reason": finish}}})
			fmt.Fprintf(w, "data: %s\n\n", data)
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const (
	streamedID = "/answers/0198b0a0-0000-7000-8000-000000000001"
	intro      = "*Written by a language model from the documents that it cites.*\n\n"
	zebraRef   = "([1](https://wiki.test/zebra))"
	zebraList  = "\n\nReferences:\n\n1. [Zebra](https://wiki.test/zebra)"
)

func TestAnAnswerIsStreamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		pieces []string
		events []string
		first  string // the first text
		text   string // how the whole text begins
	}{
		{"quoted", nil, []string{"answer.created", "sources", "text.delta", "answer.completed"}, "", "*Quoted from 1 document"},
		{"written, sentence by sentence", []string{"The zebra is ", "7 metres tall [1].", " It sleeps", " standing [1]. It eats", " grass [1]."},
			[]string{"answer.created", "sources", "text.delta", "text.delta", "text.delta", "answer.completed"},
			intro + "The zebra is 7 metres tall " + zebraRef + ".", intro + "The zebra is 7 metres tall " + zebraRef + ". It sleeps standing " + zebraRef + ". It eats grass " + zebraRef + ".\n"},
		{"an invented sentence in between", []string{"The zebra is 7 metres tall [1]. ", "It has 99 legs [1]. ", "It sleeps standing [1]. "},
			[]string{"answer.created", "sources", "text.delta", "text.delta", "answer.completed"},
			intro + "The zebra is 7 metres tall " + zebraRef + ".", intro + "The zebra is 7 metres tall " + zebraRef + ". It sleeps standing " + zebraRef + ".\n"},
		{"more than half is invented in the end", []string{"The zebra is 7 metres tall [1]. It", " has 99 legs [1]. It has 98 eyes [1]. It has 97 ears [1]. ", "No."},
			[]string{"answer.created", "sources", "text.delta", "text.replace", "answer.completed"},
			intro + "The zebra is 7 metres tall " + zebraRef + ".", "*Quoted from 1 document"},
		{"all is invented", []string{"It has 99 legs [1]. It has 98 eyes [1]. Yes."},
			[]string{"answer.created", "sources", "text.delta", "answer.completed"}, "", "*Quoted from 1 document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, c.pieces)
			reply := h.do("PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, "Accept", "text/event-stream")
			if reply.status != 200 || reply.header.Get("Content-Type") != "text/event-stream" || !strings.Contains(reply.header.Get("Cache-Control"), "no-transform") {
				t.Fatalf("%d %v: %s", reply.status, reply.header, reply.body)
			}
			events := eventsOf(t, reply.body)
			if !slices.Equal(names(events), c.events) {
				t.Fatalf("events %v, want %v: %s", names(events), c.events, reply.body)
			}
			stored := h.must(200, "GET", streamedID, nil)
			if text := received(events); text != stored.text(t, "answer") || !strings.HasPrefix(text, c.text) {
				t.Errorf("text %q, stored %s", text, stored.body)
			}
			if first := events[2].data["text"].(string); c.first != "" && first != c.first {
				t.Errorf("first text %q, want %q", first, c.first)
			}
			last, err := json.Marshal(events[len(events)-1].data)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(stored.body, &want); err != nil {
				t.Fatal(err)
			}
			if body, _ := json.Marshal(want); string(body) != string(last) {
				t.Errorf("answer.completed %s, stored %s", last, body)
			}
			if sent, err := h.asked.Receive(t.Context(), 10, 0); err != nil || len(sent) > 0 {
				t.Errorf("%d messages to the queue, %v", len(sent), err)
			}
			h.clock.Advance(pending.Grace + time.Second)
			if swept, err := h.services.sweeper.Sweep(t.Context()); err != nil || swept.Sent > 0 {
				t.Errorf("%d questions are still pending, %v", swept.Sent, err)
			}
			if again := h.must(200, "GET", streamedID, nil); string(again.body) != string(stored.body) {
				t.Errorf("after the queue: %s", again.body)
			}
			h.resumesEverywhere(t, events, stored.text(t, "answer"))
		})
	}
}

// resumesEverywhere cuts the stream after each event, and resumes it.
func (h *home) resumesEverywhere(t *testing.T, events []event, text string) {
	t.Helper()
	last := ""
	for i := range events {
		if events[i].id != "" {
			last = events[i].id
		}
		reply := h.do("GET", streamedID, nil, "Accept", "text/event-stream", "Last-Event-ID", last)
		if i == len(events)-1 {
			if reply.status != 204 {
				t.Errorf("a client that has everything got %d: %s", reply.status, reply.body)
			}
			continue
		}
		rest := eventsOf(t, reply.body)
		if got := received(append(slices.Clone(events[:i+1]), rest...)); got != text {
			t.Errorf("cut after event %d: %q, want %q", i, got, text)
		}
		if rest[len(rest)-1].name != "answer.completed" || rest[0].name == "answer.created" {
			t.Errorf("cut after event %d: %v", i, names(rest))
		}
	}
}

// lost is the connection of a client that left after it had received some events.
type lost struct {
	http.ResponseWriter
	after int
	tried int
}

func (w *lost) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if w.tried++; w.tried > w.after {
		return 0, os.ErrDeadlineExceeded
	}
	return w.ResponseWriter.Write(text)
}

// TestALostStreamLosesNothing: the client leaves or does not read, and the answer is stored.
// Asking again continues, and costs no second question.
func TestALostStreamLosesNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."}
	for after := range 5 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, pieces)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r := httptest.NewRequestWithContext(ctx, "PUT", "/v1"+streamedID, strings.NewReader(`{"question":"How tall is the zebra?"}`))
			r.Header.Set("Authorization", "Bearer "+h.key)
			r.Header.Set("Accept", "text/event-stream")
			recorder := httptest.NewRecorder()
			w := &lost{ResponseWriter: recorder, after: after}
			h.handler.ServeHTTP(w, r)
			if w.tried != after+1 {
				t.Errorf("%d events were sent after the connection broke", w.tried-after-1)
			}
			first := recorder.Body.Bytes()
			var events []event
			last := ""
			if after > 0 {
				events = eventsOf(t, first)
				last = events[len(events)-1].id
			}
			again := h.do("PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, "Accept", "text/event-stream", "Last-Event-ID", last)
			text := received(append(events, eventsOf(t, again.body)...))
			if stored := h.must(200, "GET", streamedID, nil).text(t, "answer"); text != stored {
				t.Errorf("text %q, stored %q", text, stored)
			}
			if left := again.header.Get("RateLimit"); !strings.Contains(left, `"answers-day";r=999`) {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// TestAFollowerGetsTheAnswerOfTheQueue: the stream of a question that another process answers.
func TestAFollowerGetsTheAnswerOfTheQueue(t *testing.T) {
	t.Parallel()
	var h *home
	waits := 0
	h = newHome(t, func(_ *home, b *base, _ *Parts) {
		b.wait = func(context.Context) error {
			waits++
			h.work()
			return nil
		}
	})
	h.must(204, "PUT", streamedID, map[string]string{"question": "Who?"})
	reply := h.must(200, "GET", streamedID, nil, "Accept", "application/json;q=0.5, text/event-stream")
	if got := names(eventsOf(t, reply.body)); !slices.Equal(got, []string{"answer.created", "sources", "text.delta", "answer.completed"}) || waits != 1 {
		t.Errorf("%d waits, events %s", waits, reply.body)
	}
}

// TestAStreamThatCannotWaitEnds: the process stops; the client connects again.
func TestAStreamThatCannotWaitEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.must(204, "PUT", streamedID, map[string]string{"question": "Who?"})
	reply := h.must(200, "GET", streamedID, nil, "Accept", "text/event-stream")
	if got := names(eventsOf(t, reply.body)); !slices.Equal(got, []string{"answer.created"}) {
		t.Errorf("events %s", reply.body)
	}
	h.must(200, "GET", streamedID, nil, "Accept", "text/event-stream;q=0").text(t, "state")
	if head := h.must(200, "HEAD", streamedID, nil, "Accept", "text/event-stream"); len(head.body) > 0 || head.header.Get("Content-Type") != "application/json" {
		t.Errorf("HEAD: %v %q", head.header, head.body)
	}
}

// TestErrorsBeforeAStreamAreProblems: also with Accept: text/event-stream.
func TestErrorsBeforeAStreamAreProblems(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, nil)
	h.must(204, "PUT", streamedID, map[string]string{"question": "Who?"})
	for _, c := range []struct {
		status       int
		method, path string
		body         any
	}{
		{404, "GET", "/answers/" + questionID, nil},
		{409, "PUT", streamedID, map[string]string{"question": "What?"}},
		{400, "PUT", "/answers/x", map[string]string{"question": "What?"}},
		{400, "PUT", "/answers/" + questionID, map[string]string{"question": ""}},
		{400, "POST", "/context/research", map[string]string{"query": ""}},
	} {
		reply := h.must(c.status, c.method, c.path, c.body, "Accept", "text/event-stream")
		if reply.header.Get("Content-Type") != "application/json" || reply.text(t, "code") == "" {
			t.Errorf("%s %s: %v %s", c.method, c.path, reply.header, reply.body)
		}
	}
}

// TestAFailedAnswerEndsItsStreamWithAProblem: it is no success that has no text.
func TestAFailedAnswerEndsItsStreamWithAProblem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.must(204, "PUT", streamedID, map[string]string{"question": "Who?"})
	if givenUp := h.outwait(answerPatience); givenUp != 1 {
		t.Fatalf("%d given up", givenUp)
	}
	events := eventsOf(t, h.must(200, "GET", streamedID, nil, "Accept", "text/event-stream").body)
	if last := events[len(events)-1]; last.name != "error" || last.data["code"] != "timeout" || last.data["status"] != 500.0 || last.data["requestId"] == "" {
		t.Errorf("events %+v", events)
	}
}

func TestResearchIsStreamed(t *testing.T) {
	t.Parallel()
	for name, pieces := range map[string][]string{
		"quoted":  nil,
		"written": {"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, pieces)
			reply := h.must(200, "POST", "/context/research", map[string]string{"query": "How tall is the zebra?"}, "Accept", "text/event-stream")
			events := eventsOf(t, reply.body)
			whole := h.must(200, "POST", "/context/research", map[string]string{"query": "How tall is the zebra?"})
			if text := received(events); text != whole.text(t, "answer") || events[0].name != "sources" || events[len(events)-1].name != "answer.completed" {
				t.Errorf("%s, without streaming %s", reply.body, whole.body)
			}
			if want := len(pieces) + 3 - min(1, len(pieces)); len(events) != want && len(events) != want+1 {
				t.Errorf("%d events: %s", len(events), reply.body)
			}
			if references := events[1].data["references"].([]any); len(references) != 1 || references[0] != 0.0 {
				t.Errorf("references %v", references)
			}
		})
	}
}

// TestAClientThatLeavesIsNoFailureOfTheModel: its request to the model ends, and nothing warns an operator.
func TestAClientThatLeavesIsNoFailureOfTheModel(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client leaves
		leave()
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(slow.Close)
	var log logtest.Buffer
	h := newHome(t, func(_ *home, b *base, p *Parts) {
		b.log = slog.New(slog.NewJSONHandler(&log, nil))
		model, err := openai.New(slow.URL, "m", openai.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Model = WrittenBy(model)
	})
	h.must(200, "PUT", "/documents", map[string]any{"collectionId": h.collection("wiki"), "uri": "https://wiki.test/zebra", "title": "Zebra", "body": "The zebra is 7 metres tall."})
	h.work()
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/context/research", strings.NewReader(`{"query":"How tall is the zebra?"}`))
	r.Header.Set("Authorization", "Bearer "+h.key)
	r.Header.Set("Accept", "text/event-stream")
	h.handler.ServeHTTP(httptest.NewRecorder(), r)
	<-ended
	if text := log.String(); strings.Contains(text, `"level":"WARN"`) || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("log %s", text)
	}
}
