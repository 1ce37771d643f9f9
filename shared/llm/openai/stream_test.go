package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/shared/llm"
)

// TestStreamsOfServers: text is passed on as it grows, and a stream that does not end is no answer.
func TestStreamsOfServers(t *testing.T) {
	t.Parallel()
	piece := func(text, finish string) string {
		data, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text}, "finish_reason": finish}}})
		if err != nil {
			t.Fatal(err)
		}
		return "data: " + string(data) + "\n\n"
	}
	const used = `data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n"
	whole := ": comment\n\n" + piece("Run ", "") + piece("undo [1].", "stop") + used
	for name, c := range map[string]struct {
		reply   string
		refuses string // a parameter, the first time
		json    bool
		want    error
		parts   []string
		cut     bool
	}{
		"whole":                    {reply: whole, parts: []string{"Run ", "Run undo [1]."}},
		"refuses to count":         {reply: whole, refuses: "stream_options", parts: []string{"Run ", "Run undo [1]."}},
		"length":                   {reply: piece("Run ", "") + piece("undo [1].", "length") + used, parts: []string{"Run ", "Run undo [1]."}, cut: true},
		"one reply and no stream":  {reply: completion("Run undo [1].", "stop"), json: true},
		"breaks off":               {reply: piece("SECRET ", ""), want: llm.ErrReply, parts: []string{"SECRET "}},
		"an error within":          {reply: piece("SECRET ", "") + "data: {\"error\":{\"message\":\"SECRET\"}}\n\n", want: llm.ErrReply, parts: []string{"SECRET "}},
		"no JSON":                  {reply: "data: SECRET\n\n", want: llm.ErrReply},
		"filtered":                 {reply: piece("SECRET", "content_filter"), want: llm.ErrRefused},
		"a line without an end":    {reply: "data: " + strings.Repeat("SECRET", 100_000), want: llm.ErrReply},
		"events without any piece": {reply: "\n\n", want: llm.ErrReply},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses := c.refuses
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, err := io.ReadAll(r.Body)
				if err != nil || !strings.Contains(string(asked), `"stream":true`) || strings.Contains(string(asked), "include_usage") != (c.refuses == "" || refuses != "") {
					t.Errorf("asked %s, %v", asked, err)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				if c.json || refuses != "" {
					w.Header().Set("Content-Type", "application/json")
				}
				if refuses != "" {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, `{"error":{"param":"`+refuses+`"}}`)
					refuses = ""
					return
				}
				_, _ = io.WriteString(w, c.reply)
			}))
			defer s.Close()
			var parts []string
			partial := request
			partial.Partial = func(soFar llm.Draft) { parts = append(parts, soFar.Parts[0].Text) }
			d, err := open(t, s.URL+"/v1").Compose(t.Context(), partial)
			if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if strings.Join(parts, "|") != strings.Join(c.parts, "|") || d.Cut != c.cut {
				t.Errorf("parts %q, %+v", parts, d)
			}
			if c.want == nil && (len(d.Parts) != 1 || d.Parts[0].Text != "Run undo [1]." || d.InputTokens != 11 || d.OutputTokens != 3) {
				t.Errorf("%+v", d)
			}
		})
	}
}
