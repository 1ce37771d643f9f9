package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"docent/shared/answer"
	"docent/shared/pending"
	"docent/shared/search"
	"docent/shared/source/question"
)

// usageOf returns the counts of a feature in today's report.
func (h *home) usageOf(t *testing.T, feature string) map[string]any {
	t.Helper()
	reply := h.must(200, "GET", "/usage?start=2026-11-21&granularity=month&feature="+feature, nil)
	var page struct {
		Buckets []struct {
			Results []struct{ Metrics map[string]any }
		}
	}
	if err := json.Unmarshal(reply.body, &page); err != nil || len(page.Buckets) != 1 {
		t.Fatalf("%s: %v", reply.body, err)
	}
	if len(page.Buckets[0].Results) == 0 {
		return nil
	}
	return page.Buckets[0].Results[0].Metrics
}

func wantMetrics(t *testing.T, got map[string]any, want map[string]float64) {
	t.Helper()
	for name, n := range want {
		if value, _ := got[name].(float64); value != n {
			t.Errorf("%s is %v, want %v, in %v", name, got[name], n, got)
		}
	}
}

func id(n int) string { return "0198b0a0-0000-7000-8000-00000000000" + string(rune('0'+n)) }

// composedBy makes compose write all answers.
func composedBy(compose func(*home) (answer.Composed, error)) func(*home, *base, *Parts) {
	return func(h *home, _ *base, p *Parts) {
		p.Model = func(*slog.Logger) (func(context.Context, string, string, []search.Hit, func(answer.Composed)) (answer.Composed, error), *question.Model) {
			return func(context.Context, string, string, []search.Hit, func(answer.Composed)) (answer.Composed, error) {
				return compose(h)
			}, nil
		}
	}
}

// TestAnswersAreCountedWhenTheyEnd: each end of a question is counted once, with
// the tokens of its model and the time since it was asked, for the key that asked.
func TestAnswersAreCountedWhenTheyEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t, composedBy(func(h *home) (answer.Composed, error) {
		h.clock.Advance(3 * time.Second)
		return answer.Composed{Markdown: "Seven metres.", References: []answer.Reference{{HTMLURL: "https://wiki.test/zebra"}},
			ModelUse: answer.ModelUse{Outcome: "written", InputTokens: 100, OutputTokens: 20}}, nil
	}))
	h.put(h.collection("wiki"), "https://wiki.test/zebra", "The zebra is 7 metres tall.")
	h.work()
	h.must(204, "PUT", "/answers/"+id(1), map[string]string{"question": "How tall is the zebra?"}, "User-Agent", "docent/1")
	h.work()
	h.must(204, "PUT", "/answers/"+id(1), map[string]string{"question": "How tall is the zebra?"}, "User-Agent", "docent/1")
	h.must(204, "PUT", "/answers/"+id(2), map[string]string{"question": "Which parliament ratified the maritime treaty?"})
	h.work()
	h.must(204, "PUT", "/answers/"+id(3), map[string]string{"question": "How tall is the zebra?"})
	h.must(200, "GET", "/answers/"+id(3), nil)
	h.outwait(patience(pending.AnswerQuestion))
	h.work() // the late message of a question that has failed counts nothing
	got := h.usageOf(t, "answers")
	wantMetrics(t, got, map[string]float64{"requests": 5, "ok": 5, "accepted": 3, "replayed": 1, "polled": 1,
		"completed": 1, "noAnswer": 1, "failed": 1, "references": 1, "inputTokens": 100, "outputTokens": 20, "latencyMsP50": 3072})

	reply := h.must(200, "GET", "/usage?start=2026-11-21&granularity=month&feature=answers&groupBy=client&groupBy=apiKey", nil)
	var page struct {
		Buckets []struct {
			Results []struct {
				Client, APIKeyID string
				Metrics          map[string]any
			}
		}
	}
	if err := json.Unmarshal(reply.body, &page); err != nil {
		t.Fatal(err)
	}
	results := page.Buckets[0].Results
	if len(results) != 2 || results[0].APIKeyID == "" || results[0].APIKeyID != results[1].APIKeyID || results[0].Client != "api" || results[1].Client != "cli" {
		t.Fatalf("%s", reply.body)
	}
	wantMetrics(t, results[0].Metrics, map[string]float64{"noAnswer": 1, "failed": 1, "completed": 0})
	wantMetrics(t, results[1].Metrics, map[string]float64{"completed": 1, "inputTokens": 100})
}

// TestContextCallsAreCounted: with the number of results, and under the operation of the tool.
func TestContextCallsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki := h.collection("wiki")
	for _, name := range []string{"zebra", "okapi", "giraffe"} {
		h.put(wiki, "https://wiki.test/"+name, "The "+name+" is an animal of the plains.")
	}
	h.work()
	found, none := map[string]string{"query": "animal of the plains"}, map[string]string{"query": "maritime treaty"}
	for range 3 { // the first is counted at its end, the others while they run
		h.must(200, "POST", "/context/search", found)
		h.must(200, "POST", "/context/search", none)
		h.must(400, "POST", "/context/search", map[string]string{"query": ""})
	}
	wantMetrics(t, h.usageOf(t, "context.search"), map[string]float64{"requests": 9, "ok": 6, "refused": 3, "sources": 9, "empty": 3})
	h.must(200, "POST", "/context/research", found)
	h.must(200, "POST", "/context/research", none)
	wantMetrics(t, h.usageOf(t, "context.research"), map[string]float64{"ok": 2, "sources": 3, "empty": 1})
	h.must(200, "POST", "/context/get", map[string]any{"urls": []string{"https://wiki.test/okapi", "https://wiki.test/none"}})
	h.must(200, "POST", "/context/get", map[string]any{"urls": []string{"https://wiki.test/none"}})
	wantMetrics(t, h.usageOf(t, "context.get"), map[string]float64{"ok": 2, "sources": 1, "empty": 1})
	h.must(200, "POST", "/context/query/issues", map[string]string{"query": "open ones"})
	wantMetrics(t, h.usageOf(t, "context.query.issues"), map[string]float64{"ok": 1, "sources": 0, "empty": 1})
	h.must(200, "POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "context_search_documentation", "arguments": map[string]any{"query": "okapi", "limit": 1}}})
	wantMetrics(t, h.usageOf(t, "context.search.documentation"), map[string]float64{"ok": 1, "sources": 1})
	if reply := h.must(200, "GET", "/usage?start=2026-11-21&feature=context.search.documentation&groupBy=client", nil); !strings.Contains(string(reply.body), `"client":"mcp"`) {
		t.Errorf("%s", reply.body)
	}
}

// TestAModelDoesNotBlockTheFeed: while a model writes, new security events can be read at once.
func TestAModelDoesNotBlockTheFeed(t *testing.T) {
	t.Parallel()
	asked := false
	h := newHome(t, composedBy(func(h *home) (answer.Composed, error) {
		asked = true
		h.must(201, "POST", "/collections", map[string]string{"name": "concurrent", "description": "d"})
		if events := h.must(200, "GET", "/security-events?limit=200", nil); !strings.Contains(string(events.body), `"concurrent"`) {
			t.Errorf("the feed waits for the model: %s", events.body)
		}
		return answer.Composed{}, errors.New("the model is done for")
	}))
	h.put(h.collection("wiki"), "https://wiki.test/zebra", "The zebra is 7 metres tall.")
	h.work()
	h.must(204, "PUT", "/answers/"+id(1), map[string]string{"question": "How tall is the zebra?"})
	h.work()
	if events := h.must(200, "GET", "/security-events?limit=200", nil); !asked || !strings.Contains(string(events.body), `"answer.asked"`) {
		t.Errorf("asked %t, %s", asked, events.body)
	}
}

// TestResponsesAreCountedAsAnswers: as completions and questions are.
func TestResponsesAreCountedAsAnswers(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, nil)
	h.must(200, "POST", "/responses", asked("How tall is the zebra?"))
	h.must(200, "POST", "/responses", asked("How tall is the zebra?", "stream", true))
	h.must(400, "POST", "/responses", asked("How tall is the zebra?", "background", true))
	wantMetrics(t, h.usageOf(t, "answers"), map[string]float64{"requests": 3, "ok": 2, "refused": 1, "accepted": 2, "completed": 2, "references": 2})
}
