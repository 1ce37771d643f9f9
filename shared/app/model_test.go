package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/shared/answer"
	"docent/shared/llm/openai"
)

// modelServer answers each request with the next of texts, or with status 503 if that is empty.
// It fails the test if there are more requests than texts.
func modelServer(t *testing.T, texts ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if len(texts) == 0 {
			t.Error("the model is asked again")
			return
		}
		text := texts[0]
		if text == "" {
			w.Header().Set("X-Should-Retry", "false")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		texts = texts[1:]
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
			"usage":   map[string]any{"prompt_tokens": 11, "completion_tokens": 3}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAnswersByModel asks through the API, with a model on an OpenAI-compatible server. A reply
// has its references twice: in result, and next to it.
func TestAnswersByModel(t *testing.T) {
	t.Parallel()
	const written = "*Written by a language model from the documents that it cites.*\n\nThe zebra is 7 metres tall ([1](https://wiki.test/zebra)).\n"
	for _, c := range []struct {
		name, question string
		says           []string
		want           string // how the answer begins
		use            *answer.ModelUse
	}{
		{"written", "How tall is the zebra?", []string{"The zebra is 7 metres tall [1]."}, written, &answer.ModelUse{Outcome: "written", InputTokens: 11, OutputTokens: 3}},
		{"invented", "How tall is the zebra?", []string{"The zebra is 9 metres tall [1]."}, "*Quoted from 1 document", &answer.ModelUse{Outcome: "unverified", InputTokens: 11, OutputTokens: 3}},
		{"not found by the model", "How tall is the zebra?", []string{"NOT FOUND"}, "*Quoted from 1 document", &answer.ModelUse{Outcome: "no-answer", InputTokens: 11, OutputTokens: 3}},
		{"broken", "How tall is the zebra?", []string{""}, "*Quoted from 1 document", &answer.ModelUse{Outcome: "failed"}},
		{"not found before", "Which parliament ratified the maritime treaty?", nil, "Nothing in the documents", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model, err := openai.New(modelServer(t, c.says...), "m", openai.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			var ended []answer.Answer
			h := newHome(t, func(_ *home, b *base, p *Parts) {
				p.Model, b.log = WrittenBy(model), slog.New(slog.NewTextHandler(&log, nil))
				b.onFinished = func(_ context.Context, a answer.Answer) { ended = append(ended, a) }
			})
			collection := h.must(201, "POST", "/collections", map[string]string{"name": "wiki", "description": "d"}).text(t, "id")
			h.must(200, "PUT", "/documents", map[string]any{"collectionId": collection, "uri": "https://wiki.test/zebra",
				"title": "Zebra", "body": "The zebra is 7 metres tall. It sleeps standing."})
			h.work()
			const id = "0198b0a0-0000-7000-8000-000000000001"
			h.must(204, "PUT", "/answers/"+id, map[string]string{"question": c.question})
			h.work()
			got := h.must(200, "GET", "/answers/"+id, nil)
			if markdown := got.text(t, "answer"); !strings.HasPrefix(markdown, c.want) {
				t.Errorf("%s", got.body)
			}
			if len(ended) != 1 || (ended[0].Model == nil) != (c.use == nil) || c.use != nil && *ended[0].Model != *c.use {
				t.Fatalf("ended %+v", ended)
			}
			if references := bytes.Count(got.body, []byte(`"htmlUrl":"https://wiki.test/zebra"`)); references != 2*min(1, len(c.says)) {
				t.Errorf("%d references in %s", references, got.body)
			}
			if text := strings.ToLower(log.String()); strings.Contains(text, "metres") || strings.Contains(text, "zebra") || strings.Contains(text, "parliament") {
				t.Errorf("the log contains the question or the answer: %s", text)
			}
			attributes := slog.GroupValue((&functions{services: h.services}).ended(ended[0])...).String()
			if (c.use == nil) == strings.Contains(attributes, "OutputTokens") || (c.name == "broken") != strings.Contains(attributes, "ModelFailures=1") {
				t.Errorf("metrics %v", attributes)
			}
		})
	}
}
