package app_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/pending"
)

// line is a log line with embedded metrics.
type line struct {
	text   string
	fields map[string]any
	AWS    struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
}

// measured returns the log lines that a function writes for each request, batch, answer and sweep, by their messages. It checks the rules of the
// format: each name is a member of the line, metrics are numbers, and dimensions are texts, at
// most 9.
func (s *stage) measured() map[string][]line {
	s.t.Helper()
	found := map[string][]line{}
	for text := range strings.Lines(s.log.String()) {
		l := line{text: text}
		if err := json.Unmarshal([]byte(text), &l.fields); err != nil {
			s.t.Fatalf("log line %q: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			s.t.Fatalf("log line %q: %v", text, err)
		}
		for _, m := range l.AWS.CloudWatchMetrics {
			for _, metric := range m.Metrics {
				if _, ok := l.fields[metric.Name].(float64); !ok || metric.Unit == "" {
					s.t.Errorf("metric %+v is not a number of %s", metric, text)
				}
			}
			for _, set := range m.Dimensions {
				for _, name := range set {
					if value, ok := l.fields[name].(string); !ok || value == "" || len(set) > 9 {
						s.t.Errorf("dimension %s is not a text of %s", name, text)
					}
				}
			}
			if m.Namespace != "Docent" || len(m.Metrics) == 0 || len(m.Dimensions) == 0 || l.AWS.Timestamp == 0 {
				s.t.Errorf("metrics %+v", l.AWS)
			}
		}
		if l.fields["service"] != nil {
			message := l.fields["msg"].(string)
			found[message] = append(found[message], l)
		}
	}
	return found
}

// wantLogged fails the test unless the function logged exactly one line, or none if speaks is
// false.
func (s *stage) wantLogged(speaks bool) {
	s.t.Helper()
	message, ok := map[string]string{"answering": "batch", "indexing": "batch", "embedding": "batch", "sweeping": "sweep", "syncing": "batch", "delivering": "batch", "extracting": "batch"}[s.function]
	if !ok {
		message = "request"
	}
	lines := s.measured()[message]
	if len(lines) != 1 && speaks || len(lines) > 0 && !speaks {
		s.t.Errorf("%d lines %q with metrics among %q", len(lines), message, s.log.String())
	}
	for _, l := range lines {
		if l.fields["invocation"] != "invocation-1" || l.fields["service"] != "docent-test" || l.fields["function"] != s.function {
			s.t.Errorf("line %s", l.text)
		}
	}
}

func TestOneRequestIDFromTheEdgeToTheWorker(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.function = "answers"
	const id = "0190d2a0-0000-7000-8000-00000000000c"
	s.invoke("answers", s.expand(`{"httpMethod":"PUT","path":"/answers/`+id+`","body":"{\"question\":\"How do I roll back a deployment?\"}",
		"headers":{"Authorization":"Bearer ${KEY}"},"requestContext":{"requestId":"from-the-gateway"}}`))
	s.clock.Advance(90 * time.Second)
	s.takeWaiting(pending.AnswerQuestion, id, true)
	lines := s.measured()
	request, batch, answer := lines["request"][0], lines["batch"][0], lines["answer"][0]
	if request.fields["requestId"] != "from-the-gateway" || request.fields["operation"] != "PUT /answers/{questionId}" ||
		request.fields["outcome"] != "ok" || request.fields["function"] != "answers" {
		t.Errorf("request: %s", request.text)
	}
	ids, _ := batch.fields["requestIds"].([]any)
	if len(ids) != 1 || ids[0] != "from-the-gateway" || batch.fields["QueueAge"] != 90.0 || batch.fields["Messages"] != 1.0 || batch.fields["FailedMessages"] != 0.0 {
		t.Errorf("batch: %s", batch.text)
	}
	if answer.fields["state"] != "complete" || answer.fields["AnswerTime"] != 90.0 || answer.fields["question"] != id {
		t.Errorf("answer: %s", answer.text)
	}
	for text := range strings.Lines(s.log.String()) {
		if strings.Contains(text, "roll back") || strings.Contains(text, s.values["KEY"]) {
			t.Errorf("log line with question or key: %s", text)
		}
	}
}

func TestOutcomesAreTheCodesOfErrors(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.get("documents", "/documents/none", 404)
	s.values["KEY"] = "docent_team_wrong"
	s.get("documents", "/documents/none", 401)
	var outcomes []string
	for _, l := range s.measured()["request"] {
		outcomes = append(outcomes, l.fields["operation"].(string)+": "+l.fields["outcome"].(string))
	}
	if want := []string{"GET /documents/{documentId}: not-found", "none: unauthorized"}; !slices.Equal(outcomes, want) {
		t.Errorf("outcomes %q, want %q", outcomes, want)
	}
}

// TestFewMetricsAreCharged lists all metrics that Docent writes without a model: the cost of an installation is theirs.
func TestFewMetricsAreCharged(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.get("documents", "/documents/none", 404)
	s.get("collections", "/collections", 200)
	s.function = "answers"
	const id = "0190d2a0-0000-7000-8000-00000000000c"
	s.invoke("answers", s.expand(`{"httpMethod":"PUT","path":"/answers/`+id+`","body":"{\"question\":\"How do I roll back a deployment?\"}",
		"headers":{"Authorization":"Bearer ${KEY}"},"requestContext":{"requestId":"from-the-gateway"}}`))
	s.takeWaiting(pending.AnswerQuestion, id, true)
	s.sweep()
	written := map[string]bool{}
	for _, lines := range s.measured() {
		for _, l := range lines {
			for _, m := range l.AWS.CloudWatchMetrics {
				for _, metric := range m.Metrics {
					for _, set := range m.Dimensions {
						name := metric.Name
						for _, d := range set {
							name += " " + l.fields[d].(string)
						}
						written[name] = true
					}
				}
			}
		}
	}
	want := []string{"AnswerTime docent-test answering", "Latency docent-test", "OldestPending docent-test sweeping"}
	if got := slices.Sorted(maps.Keys(written)); !slices.Equal(got, want) {
		t.Errorf("metrics %q, want %q", got, want)
	}
}

// TestWhatAModelWritesIsNoLatency checks that a model's time raises no alarm of slow requests: only a search counts here.
func TestWhatAModelWritesIsNoLatency(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"context_research","arguments":{"query":"login"}}}`
	for _, r := range []struct{ path, body string }{{"/context/search", `{"query":"login"}`}, {"/context/research", `{"query":"login"}`}, {"/mcp", call}} {
		event, err := json.Marshal(map[string]any{"httpMethod": "POST", "path": r.path, "body": r.body, "headers": map[string]string{
			"Authorization": "Bearer " + s.values["KEY"], "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}})
		if err != nil {
			t.Fatal(err)
		}
		s.invoke("context", string(event))
	}
	counted := 0
	lines := s.measured()["request"]
	for _, l := range lines {
		if _, ok := l.fields["Latency"]; !ok {
			t.Errorf("no latency in %v", l.fields)
		}
		counted += len(l.AWS.CloudWatchMetrics)
	}
	if len(lines) != 3 || counted != 1 {
		t.Errorf("%d requests, of which %d count as latency", len(lines), counted)
	}
}

func TestSweepSendsAgainAndMeasuresAges(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.clock.Advance(2 * time.Minute)
	s.sweep()
	s.wantWaiting(pending.AnswerQuestion, pending.IndexDocument, pending.RemoveDocument, pending.RemoveCollection)
	sweep := s.measured()["sweep"][0].fields
	sent := 4
	for name, waiting := range map[string]func(context.Context) ([]string, error){
		"syncs": s.local.WaitingSyncs, "embeddings": s.local.WaitingEmbeddings, "deliveries": s.local.WaitingDeliveries, "files": s.local.WaitingFiles} {
		messages, err := waiting(s.t.Context())
		if err != nil || len(messages) == 0 {
			t.Errorf("%s: %d sent again, %v", name, len(messages), err)
		}
		sent += len(messages)
	}
	want := map[string]any{"SentAgain": float64(sent), "GivenUp": 0.0, "OldestPending": 120.0, "FailedSweeps": 0.0}
	for name, value := range want {
		if sweep[name] != value {
			t.Errorf("%s is %v, want %v", name, sweep[name], value)
		}
	}
}
