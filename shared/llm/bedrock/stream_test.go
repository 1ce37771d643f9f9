package bedrock_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"docent/shared/llm"
)

// event encodes one event of a stream of Converse.
func event(t *testing.T, kind, payload string) string {
	t.Helper()
	headers := eventstream.Headers{}
	headers.Set(":content-type", eventstream.StringValue("application/json"))
	if strings.HasSuffix(kind, "Exception") {
		headers.Set(":message-type", eventstream.StringValue("exception"))
		headers.Set(":exception-type", eventstream.StringValue(kind))
	} else {
		headers.Set(":message-type", eventstream.StringValue("event"))
		headers.Set(":event-type", eventstream.StringValue(kind))
	}
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, eventstream.Message{Headers: headers, Payload: []byte(payload)}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func delta(t *testing.T, block int, member string) string {
	t.Helper()
	return event(t, "contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{%s}}`, block, member))
}

func text(t *testing.T, block int, s string) string {
	t.Helper()
	return delta(t, block, fmt.Sprintf(`"text":%q`, s))
}

func citation(t *testing.T, block int, member string) string {
	t.Helper()
	return delta(t, block, `"citation":{`+member+`}`)
}

func stops(t *testing.T, block int) string {
	t.Helper()
	return event(t, "contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, block))
}

// ends are the last events of a message, which say why it ended and what it took.
func ends(t *testing.T, why string) string {
	t.Helper()
	return event(t, "messageStop", fmt.Sprintf(`{"stopReason":%q}`, why)) +
		event(t, "metadata", `{"usage":{"inputTokens":11,"outputTokens":3,"totalTokens":14},"metrics":{"latencyMs":1}}`)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	errOther := errors.New("any other error")
	begins := event(t, "messageStart", `{"role":"assistant"}`)
	for name, c := range map[string]struct {
		model string
		reply string
		want  error
		seen  []string // the texts of the drafts so far
		parts []llm.Part
		cut   bool
	}{
		"text grows": {model: plain, reply: begins + text(t, 0, "Run undo") + text(t, 0, " [1].") + stops(t, 0) + ends(t, "end_turn"),
			seen: []string{"Run undo", "Run undo [1]."}, parts: []llm.Part{{Text: "Run undo [1]."}}},
		"blocks with citations come whole": {model: citing,
			reply: begins + text(t, 0, "Here: ") + stops(t, 0) +
				text(t, 1, "Run ") + text(t, 1, "undo.") + citation(t, 1, `"source":"1","title":"Document 1","sourceContent":[{"text":"Run undo."}]`) + stops(t, 1) +
				text(t, 2, " Obey.") + citation(t, 2, `"location":{"searchResultLocation":{"searchResultIndex":1,"start":0,"end":1}}`) + citation(t, 2, `"title":"none"`) + stops(t, 2) + ends(t, "end_turn"),
			seen:  []string{"Here: ", "Here: Run undo.", "Here: Run undo. Obey."},
			parts: []llm.Part{{Text: "Here: "}, {Text: "Run undo.", Cites: []int{1}, Quotes: []string{"Run undo."}}, {Text: " Obey.", Cites: []int{2, 0}}}},
		"cut": {model: plain, reply: begins + text(t, 0, "Run") + stops(t, 0) + ends(t, "max_tokens"),
			seen: []string{"Run"}, parts: []llm.Part{{Text: "Run"}}, cut: true},
		"not found": {model: citing, reply: begins + text(t, 0, "NOT FOUND") + stops(t, 0) + ends(t, "end_turn"), seen: []string{"NOT FOUND"}},
		"thoughts are left out": {model: citing, reply: begins + delta(t, 0, `"reasoningContent":{"text":"hm"}`) + stops(t, 0) + text(t, 1, "Run [1].") + stops(t, 1) + ends(t, "end_turn"),
			seen: []string{"Run [1]."}, parts: []llm.Part{{Text: "Run [1]."}}},
		"guardrail":        {model: plain, reply: begins + text(t, 0, "SECRET") + stops(t, 0) + ends(t, "guardrail_intervened"), want: llm.ErrRefused, seen: []string{"SECRET"}},
		"a call of a tool": {model: plain, reply: begins + delta(t, 0, `"toolUse":{"input":"SECRET"}`) + stops(t, 0) + ends(t, "tool_use"), want: llm.ErrReply},
		"no content":       {model: plain, reply: begins + ends(t, "end_turn"), want: llm.ErrReply},
		"no end":           {model: plain, reply: begins + text(t, 0, "Run"), want: llm.ErrReply, seen: []string{"Run"}},
		"cut off within":   {model: plain, reply: begins + text(t, 0, "Run")[:40], want: errOther},
		"too long":         {model: citing, reply: begins + strings.Repeat(text(t, 0, strings.Repeat("SECRET", 20_000)), 10), want: llm.ErrReply},
		"throttled within": {model: plain, reply: begins + text(t, 0, "Run") + event(t, "throttlingException", `{"message":"SECRET"}`), want: llm.ErrThrottled, seen: []string{"Run"}},
		"an error within":  {model: plain, reply: begins + event(t, "modelStreamErrorException", `{"message":"SECRET"}`), want: errOther},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			r := request
			r.Partial = func(soFar llm.Draft) {
				var all strings.Builder
				for _, p := range soFar.Parts {
					all.WriteString(p.Text)
				}
				seen = append(seen, all.String())
			}
			d, err := client(t, c.model, func(w http.ResponseWriter, asked *http.Request) {
				if !strings.HasSuffix(asked.URL.Path, "/converse-stream") {
					t.Errorf("asked %s", asked.URL.Path)
				}
				w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
				_, _ = io.WriteString(w, c.reply)
			}).Compose(t.Context(), r)
			switch {
			case c.want == nil && err != nil, c.want != nil && err == nil, !errors.Is(c.want, errOther) && !errors.Is(err, c.want):
				t.Errorf("error %v, want %v", err, c.want)
			case err != nil && strings.Contains(err.Error(), "SECRET"):
				t.Errorf("the error tells what the server said: %v", err)
			}
			if !reflect.DeepEqual(seen, c.seen) || !reflect.DeepEqual(d.Parts, c.parts) || d.Cut != c.cut {
				t.Errorf("saw %q, then %+v", seen, d)
			}
			if err == nil && (d.InputTokens != 11 || d.OutputTokens != 3) {
				t.Errorf("tokens %d, %d", d.InputTokens, d.OutputTokens)
			}
		})
	}
}
