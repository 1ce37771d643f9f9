package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

func chatRequest(stream bool, messages ...string) map[string]any {
	var list []any
	for i, m := range messages {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		list = append(list, map[string]any{"role": role, "content": m})
	}
	return map[string]any{"model": "docent", "messages": list, "stream": stream, "stream_options": map[string]any{"include_usage": true}, "temperature": 0.7}
}

// chatWith is a request for a completion with one parameter more.
func chatWith(name string, value any) map[string]any {
	body := chatRequest(false, "How tall is the zebra?")
	body[name] = value
	return body
}

// completion is the part of a completion, or of a chunk of one, that these tests read.
type completion struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Message, Delta struct {
			Role, Content string
			Annotations   []struct {
				Type     string
				Citation struct {
					Start int `json:"start_index"`
					End   int `json:"end_index"`
					URL   string
					Title string
				} `json:"url_citation"`
			}
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Total      int `json:"total_tokens"`
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Error *struct {
		Message, Type, Code string
		Param               *string
	}
}

func decodedCompletion(t *testing.T, text []byte) completion {
	t.Helper()
	var c completion
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// TestChatAsksTheLastMessage: it is one question, stored under the id of the completion, and its references can be
// found in the text.
func TestChatAsksTheLastMessage(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, nil)
	reply := h.must(200, "POST", "/chat/completions", chatRequest(false, "Hello", "Hi.", "How tall is the zebra?"))
	c := decodedCompletion(t, reply.body)
	if c.Object != "chat.completion" || c.Model != "docent" || c.Created != h.clock.Now().Unix() || len(c.Choices) != 1 || *c.Choices[0].FinishReason != "stop" || c.Usage.Total == 0 {
		t.Fatalf("%s", reply.body)
	}
	stored := h.must(200, "GET", "/answers/"+c.ID, nil)
	message := c.Choices[0].Message
	if stored.text(t, "question") != "How tall is the zebra?" || !strings.HasPrefix(message.Content, strings.TrimSpace(stored.text(t, "answer"))) || message.Role != "assistant" {
		t.Errorf("%s, stored %s", reply.body, stored.body)
	}
	if len(message.Annotations) != 1 {
		t.Fatalf("%s", reply.body)
	}
	a := message.Annotations[0]
	if entry := string([]rune(message.Content)[a.Citation.Start:a.Citation.End]); a.Type != "url_citation" || entry != "[Zebra](https://wiki.test/zebra)" ||
		a.Citation.URL != "https://wiki.test/zebra" || a.Citation.Title != "Zebra" {
		t.Errorf("entry %q of %+v", entry, a)
	}
	// The count is read while the question is stored.
	if left := reply.header.Get("RateLimit"); !strings.Contains(left, `"answers-day";r=999`) && !strings.Contains(left, `"answers-day";r=1000`) {
		t.Errorf("left %s", left)
	}
	if again := h.must(200, "POST", "/chat/completions", chatRequest(false, "Who?"), "Idempotency-Key", "k"); again.header.Get("X-Should-Retry") != "false" {
		t.Errorf("%v", again.header)
	} else if same := h.must(200, "POST", "/chat/completions", chatRequest(false, "Who?"), "Idempotency-Key", "k"); string(same.body) != string(again.body) || !strings.Contains(same.header.Get("RateLimit"), `"answers-day";r=998`) {
		t.Errorf("repeated: %s %v", same.body, same.header)
	}
}

// TestAnIdempotencyKeyIsForOneConversation: the refusal names what the caller sent, and tells clients not to repeat.
func TestAnIdempotencyKeyIsForOneConversation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := chatRequest(false, "What is a zebra?", "A horse.", "How tall is it?")
	h.must(200, "POST", "/chat/completions", first, "Idempotency-Key", "k")
	for name, body := range map[string]any{
		"another question":           chatRequest(false, "What is a zebra?", "A horse.", "How old is it?"),
		"another conversation":       chatRequest(false, "What is an okapi?", "A giraffe.", "How tall is it?"),
		"another question, streamed": chatRequest(true, "How old is it?"),
	} {
		reply := h.must(409, "POST", "/chat/completions", body, "Idempotency-Key", "k")
		e := decodedCompletion(t, reply.body).Error
		if e == nil || e.Message != "This Idempotency-Key was used for another question or conversation. Choose another one." || e.Code != "answer-conflict" || reply.header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %v %s", name, reply.header, reply.body)
		}
	}
}

// TestChatIsStreamed: its text is that of the completion that is not streamed, unless text had to be withdrawn.
func TestChatIsStreamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		starts string
		has    string
	}{
		"quoted":    {nil, "*Quoted from 1 document", "References:\n\n1. [Zebra](https://wiki.test/zebra)"},
		"written":   {[]string{"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."}, intro, "It eats grass"},
		"withdrawn": {[]string{"The zebra is 7 metres tall [1]. It", " has 99 legs [1]. It has 98 eyes [1]. It has 97 ears [1]. ", "No."}, intro, "is withdrawn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, c.pieces)
			reply := h.must(200, "POST", "/chat/completions", chatRequest(true, "How tall is the zebra?"))
			var text string
			var last completion
			annotations, stops, usages := 0, 0, 0
			lines := strings.Split(strings.TrimSpace(string(reply.body)), "\n\n")
			for _, line := range lines[:len(lines)-1] {
				last = decodedCompletion(t, []byte(strings.TrimPrefix(line, "data: ")))
				if last.Object != "chat.completion.chunk" {
					t.Fatalf("%s", line)
				}
				if last.Usage != nil {
					usages++
				}
				for _, choice := range last.Choices {
					text += choice.Delta.Content
					annotations += len(choice.Delta.Annotations)
					if choice.FinishReason != nil {
						stops++
					}
				}
			}
			if lines[len(lines)-1] != "data: [DONE]" || annotations != 1 || stops != 1 || usages != 1 || len(last.Choices) != 0 {
				t.Errorf("%d annotations, %d stops, %d usages: %s", annotations, stops, usages, reply.body)
			}
			if !strings.HasPrefix(text, c.starts) || !strings.Contains(text, c.has) {
				t.Errorf("text %q", text)
			}
			if stored := strings.TrimSpace(h.must(200, "GET", "/answers/"+last.ID, nil).text(t, "answer")); !strings.Contains(text, stored) {
				t.Errorf("text %q, stored %q", text, stored)
			}
		})
	}
}

// TestReferencesOfAChatLeadToTheirDocuments: as programs that show Markdown read them.
func TestReferencesOfAChatLeadToTheirDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uri    string
		linked bool
	}{
		"entities":           {"https://wiki.test/zebra?a=1&copy;=2&lt=3&amp;b", true},
		"numeric entity":     {"https://wiki.test/zebra?a&#42;b", true},
		"emphasis":           {"https://wiki.test/*zebra*/__init__/_x_", true},
		"brackets":           {"https://wiki.test/zebra_(horse)[1]", true},
		"no link":            {"com.acme.wiki:__zebra__/*x*", false},
		"no link, entity":    {"com.acme.wiki:zebra&copy;", false},
		"no link, and tilde": {"com.acme.wiki:~~zebra~~", false},
	} {
		for _, title := range []string{"The [zebra] & `okapi`", "*"} {
			t.Run(name+", "+title, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.must(200, "PUT", "/documents", map[string]any{"collectionId": h.collection("wiki"), "uri": c.uri, "title": title, "body": "The zebra is 7 metres tall."})
				h.work()
				message := decodedCompletion(t, h.must(200, "POST", "/chat/completions", chatRequest(false, "How tall is the zebra?")).body).Choices[0].Message
				if len(message.Annotations) != 1 {
					t.Fatalf("%+v", message)
				}
				cited := message.Annotations[0].Citation
				entry := string([]rune(message.Content)[cited.Start:cited.End])
				links, code := shownIn(t, message.Content)
				if c.linked && (len(links) != 2 || links[0] != cited.URL || links[1] != cited.URL || !strings.HasPrefix(entry, "[")) {
					t.Errorf("links %q to %q in %q", links, cited.URL, message.Content)
				}
				if !c.linked && (len(links) > 0 || !slices.Contains(code, cited.URL) || !strings.Contains(entry, cited.URL)) {
					t.Errorf("links %q, code %q for %q in %q", links, code, cited.URL, message.Content)
				}
			})
		}
	}
}

// shownIn returns the targets of links and the code within lines that a program shows of Markdown.
func shownIn(t *testing.T, markdown string) (links, code []string) {
	t.Helper()
	source := []byte(markdown)
	err := ast.Walk(goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, string(util.ResolveEntityNames(util.ResolveNumericReferences(n.Destination))))
		case *ast.CodeSpan:
			var b strings.Builder
			for part := n.FirstChild(); part != nil; part = part.NextSibling() {
				b.Write(part.(*ast.Text).Value(source))
			}
			code = append(code, b.String())
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return links, code
}

// TestChunksHaveUsageOnlyIfItIsAskedFor: then the last one has it, and the others have null.
func TestChunksHaveUsageOnlyIfItIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options  any
		included bool
	}{
		"asked for":  {map[string]any{"include_usage": true}, true},
		"refused":    {map[string]any{"include_usage": false}, false},
		"no options": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, nil)
			body := chatRequest(true, "How tall is the zebra?")
			if body["stream_options"] = c.options; c.options == nil {
				delete(body, "stream_options")
			}
			reply := h.must(200, "POST", "/chat/completions", body)
			lines := strings.Split(strings.TrimSpace(string(reply.body)), "\n\n")
			chunks := lines[:len(lines)-1] // without [DONE]
			for i, line := range chunks {
				want := ""
				if c.included {
					want = "null"
				}
				var chunk struct{ Usage json.RawMessage }
				if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &chunk); err != nil {
					t.Fatal(err)
				}
				if c.included && i == len(chunks)-1 {
					if !strings.Contains(string(chunk.Usage), "total_tokens") {
						t.Errorf("the last chunk: %s", line)
					}
					continue
				}
				if string(chunk.Usage) != want {
					t.Errorf("usage %q in %s", chunk.Usage, line)
				}
			}
		})
	}
}

// TestChatErrorsAreOpenAIs: as clients of that API read them, and with ours next to it.
func TestChatErrorsAreOpenAIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := chatRequest(false, "Who?")
	other["model"] = "gpt-x"
	for i, c := range []struct {
		status int
		body   any
		kind   string
		param  string
		says   string
	}{
		{404, other, "invalid_request_error", "", "no such model"},
		{400, map[string]any{"model": "docent", "messages": []any{}}, "invalid_request_error", "messages", ""},
		{400, map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "system", "content": "x"}}}, "invalid_request_error", "messages", "must have a message of the user"},
		{400, map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url"}}}}}, "invalid_request_error", "messages[0].content[0]",
			"/messages/0/content/0: must have the type text"},
		{400, chatRequest(false, strings.Repeat("x", 10001)), "invalid_request_error", "messages", "at most 10000 characters of text in the last message of the user; it has 10001"},
		{400, chatRequest(false, " \n\u00a0"), "invalid_request_error", "messages", "must have text in the last message of the user"},
		{400, chatWith("messages", []any{map[string]any{"role": "wizard", "content": "x"}}), "invalid_request_error", "messages[0].role", "must be one of"},
		{400, chatWith("messages", []any{map[string]any{"role": "user", "content": 5}}), "invalid_request_error", "messages[0].content", "must be a text or a list of parts"},
		{400, chatWith("n", 2), "invalid_request_error", "n", "must be 1"},
		{400, chatWith("n", 0), "invalid_request_error", "n", "must be at least 1"},
		{400, chatWith("tool_choice", "required"), "invalid_request_error", "tool_choice", "must be auto or none"},
		{400, chatWith("tool_choice", map[string]any{"type": "function", "function": map[string]any{"name": "f"}}), "invalid_request_error", "tool_choice", "must be auto or none"},
		{400, chatWith("function_call", map[string]any{"name": "f"}), "invalid_request_error", "function_call", "must be auto or none"},
		{400, chatWith("response_format", map[string]any{"type": "json_object"}), "invalid_request_error", "response_format", "must have the type text"},
		{400, chatWith("response_format", map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "x"}}), "invalid_request_error", "response_format", "must have the type text"},
		{400, chatWith("modalities", []any{"text", "audio"}), "invalid_request_error", "modalities", "must be text alone"},
		{400, chatWith("logprobs", true), "invalid_request_error", "logprobs", "must be false"},
		{400, chatWith("tool_choice", map[string]any{"type": "required"}), "invalid_request_error", "tool_choice", "must be auto or none"},
		{400, chatWith("max_tokens", -2), "invalid_request_error", "max_tokens", "must be at least -1"},
		{400, chatWith("stop", []any{"a", 7}), "invalid_request_error", "stop", "a list of up to 4 texts"},
		{400, chatWith("stop", []any{"a", "b", "c", "d", "e"}), "invalid_request_error", "stop", "up to 4 texts"},
	} {
		reply := h.must(c.status, "POST", "/chat/completions", c.body)
		e := decodedCompletion(t, reply.body).Error
		if e == nil || e.Message == "" || !strings.Contains(e.Message, c.says) || e.Type != c.kind || e.Code != reply.text(t, "code") || (c.param != "") != (e.Param != nil) || e.Param != nil && *e.Param != c.param {
			t.Errorf("%d: %s", i, reply.body)
		}
	}
	key := h.key
	h.key = "docent_team_wrong"
	if e := decodedCompletion(t, h.must(401, "POST", "/chat/completions", other).body).Error; e == nil || e.Type != "authentication_error" {
		t.Errorf("%+v", e)
	}
	h.key = key
	parts := map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "Who"}, map[string]any{"type": "text", "text": "is it?"}}}}}
	made := decodedCompletion(t, h.must(200, "POST", "/chat/completions", parts).body)
	if asked := h.must(200, "GET", "/answers/"+made.ID, nil).text(t, "question"); asked != "Who\nis it?" {
		t.Errorf("asked %q", asked)
	}
	if models := h.must(200, "GET", "/models", nil); !strings.Contains(string(models.body), `"data":[{"id":"docent","object":"model"`) {
		t.Errorf("%s", models.body)
	}
	h.must(200, "GET", "/models/docent", nil)
	outside := httptest.NewRecorder()
	h.handler.ServeHTTP(outside, httptest.NewRequestWithContext(t.Context(), "POST", "/chat/completions", http.NoBody))
	if e := decodedCompletion(t, outside.Body.Bytes()).Error; e == nil || e.Message != "The API is under /v1." {
		t.Errorf("%s", outside.Body)
	}
	for method, paths := range map[string][]string{"GET": {"/models/gpt-x"}, "POST": {"/responses/x", "/embeddings", "/completions", "/chat/completions/", "/conversations", "/moderations", "/files", "/vector_stores/x/search", "/images/generations", "/audio/speech", "/batches", "/assistants", "/threads"}} {
		for _, path := range paths {
			if e := decodedCompletion(t, h.must(404, method, path, other).body).Error; e == nil || e.Message == "" || method == "POST" && !strings.Contains(e.Message, "POST /chat/completions") {
				t.Errorf("%s has the error %+v", path, e)
			}
		}
	}
}

// TestWhatAModelMayIgnoreIsTaken: as chat programs and libraries send it.
func TestWhatAModelMayIgnoreIsTaken(t *testing.T) {
	t.Parallel()
	tool := map[string]any{"type": "function", "function": map[string]any{"name": "f", "parameters": map[string]any{"type": "object"}}}
	said := func(role string, content any) map[string]any { return map[string]any{"role": role, "content": content} }
	question := said("user", "How tall is the zebra?")
	called := said("assistant", nil)
	called["tool_calls"] = []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}}}
	var long []any
	for range 3000 {
		long = append(long, said("user", "Hello?"), said("assistant", []any{map[string]any{"type": "text", "text": "Hi."}}))
	}
	for name, body := range map[string]map[string]any{
		"one choice":           chatWith("n", 1),
		"tools offered":        chatWith("tools", []any{tool}),
		"tools chosen freely":  chatWith("tool_choice", "auto"),
		"no tool":              chatWith("tool_choice", "none"),
		"freely, as an object": chatWith("tool_choice", map[string]any{"type": "auto"}),
		"no limit":             chatWith("max_tokens", -1),
		"an empty stop":        chatWith("stop", ""),
		"text":                 chatWith("response_format", map[string]any{"type": "text"}),
		"only text":            chatWith("modalities", []any{"text"}),
		"no probabilities":     chatWith("logprobs", false),
		"null":                 chatWith("stop", nil),
		"a user":               chatWith("user", "ada"),
		"unknown":              chatWith("frobnicate", map[string]any{"x": 1}),
		"instructions":         chatWith("messages", []any{said("developer", "Be brief."), said("system", []any{map[string]any{"type": "text", "text": "Be nice."}}), question}),
		"a tool's result":      chatWith("messages", []any{question, called, map[string]any{"role": "tool", "tool_call_id": "1", "content": "7"}}),
		"an image before it":   chatWith("messages", []any{said("user", []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": "x"}}}), said("assistant", "No."), question}),
		"a long conversation":  chatWith("messages", append(long, question)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			c := decodedCompletion(t, h.must(200, "POST", "/chat/completions", body).body)
			if asked := h.must(200, "GET", "/answers/"+c.ID, nil).text(t, "question"); asked != "How tall is the zebra?" {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestAPromptIsAllMessages: also those that have no effect, as every model counts them.
func TestAPromptIsAllMessages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	one := decodedCompletion(t, h.must(200, "POST", "/chat/completions", chatRequest(false, "12345678")).body)
	three := decodedCompletion(t, h.must(200, "POST", "/chat/completions", chatRequest(false, "1234", "123456789", "12345678")).body)
	if one.Usage.Prompt != 2 || three.Usage.Prompt != 6 || three.Usage.Total != 6+three.Usage.Completion {
		t.Errorf("%+v, %+v", one.Usage, three.Usage)
	}
}

// TestACompletionEndsAtItsLimitOrStopText: at max_tokens, with the references whole, and before a stop, also where the stop comes in two events. The
// answer is stored whole.
func TestACompletionEndsAtItsLimitOrStopText(t *testing.T) {
	t.Parallel()
	first := intro + "The zebra is 7 metres tall " + zebraRef
	for name, c := range map[string]struct {
		with   map[string]any
		text   string // empty: all of it
		finish string
		cited  int
	}{
		"nothing":            {nil, "", "stop", 1},
		"more than there is": {map[string]any{"max_tokens": 10000, "stop": "okapi"}, "", "stop", 1},
		"tokens":             {map[string]any{"max_tokens": 3}, intro[:12] + zebraList, "length", 1},
		"completion tokens":  {map[string]any{"max_completion_tokens": 3, "max_tokens": 9}, intro[:12] + zebraList, "length", 1},
		"a stop":             {map[string]any{"stop": []any{"okapi", " metres"}}, intro + "The zebra is 7", "stop", 0},
		"between events":     {map[string]any{"stop": ". It sleeps"}, first, "stop", 0},
		"the first of both":  {map[string]any{"stop": ". It sleeps", "max_tokens": 3}, intro[:12] + zebraList, "length", 1},
		"a stop in the list": {map[string]any{"stop": "1. [Zebra]", "max_tokens": 3}, intro[:12] + "\n\nReferences:\n\n", "stop", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, []string{"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."})
			body := chatRequest(false, "How tall is the zebra?")
			for name, value := range c.with {
				body[name] = value
			}
			whole := decodedCompletion(t, h.must(200, "POST", "/chat/completions", body).body)
			choice := whole.Choices[0]
			if c.text != "" && choice.Message.Content != c.text || *choice.FinishReason != c.finish || len(choice.Message.Annotations) != c.cited {
				t.Errorf("%+v", choice)
			}
			if stored := h.must(200, "GET", "/answers/"+whole.ID, nil).text(t, "answer"); !strings.Contains(stored, "It eats grass") {
				t.Errorf("stored %q", stored)
			}
			body["stream"] = true
			var text, finish string
			cited, tokens := 0, 0
			for line := range strings.SplitSeq(string(h.must(200, "POST", "/chat/completions", body).body), "\n\n") {
				data := strings.TrimPrefix(line, "data: ")
				if data == "" || data == "[DONE]" {
					continue
				}
				chunk := decodedCompletion(t, []byte(data))
				if chunk.Usage != nil {
					tokens = chunk.Usage.Completion
				}
				for _, choice := range chunk.Choices {
					text += choice.Delta.Content
					cited += len(choice.Delta.Annotations)
					if choice.FinishReason != nil {
						finish = *choice.FinishReason
					}
				}
			}
			if text != choice.Message.Content || finish != c.finish || cited != c.cited || tokens != whole.Usage.Completion {
				t.Errorf("streamed %q, %s, %d citations, %d tokens; whole %q, %d tokens", text, finish, cited, tokens, choice.Message.Content, whole.Usage.Completion)
			}
		})
	}
}
