package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// asked is a request for a response with more parameters.
func asked(input any, more ...any) map[string]any {
	body := map[string]any{"model": "docent", "input": input}
	for i := 0; i < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return body
}

// response is the part of a response that these tests read.
type response struct {
	ID, Object, Status, Model string
	Created                   int64  `json:"created_at"`
	Previous                  string `json:"previous_response_id"`
	Metadata                  map[string]string
	Output                    []responseItem
	Error                     *struct{ Code, Message string }
	Incomplete                *struct{ Reason string } `json:"incomplete_details"`
	Usage                     *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
}

type responseItem struct {
	ID, Type, Status, Role string
	Content                []responsePart
}

type responsePart struct {
	Type, Text  string
	Annotations []responseCitation
}

type responseCitation struct {
	Type       string
	Start      int `json:"start_index"`
	End        int `json:"end_index"`
	URL, Title string
}

// text returns the text of a response with one message.
func (r response) text(t *testing.T) responsePart {
	t.Helper()
	if len(r.Output) != 1 || len(r.Output[0].Content) != 1 {
		t.Fatalf("%+v", r)
	}
	return r.Output[0].Content[0]
}

func decodedResponse(t *testing.T, text []byte) response {
	t.Helper()
	var r response
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

// responseEvent is an event of a streamed response.
type responseEvent struct {
	Type     string
	Number   int `json:"sequence_number"`
	Response *response
	Item     *responseItem
	ItemID   string `json:"item_id"`
	Output   *int   `json:"output_index"`
	Part     *responsePart
	Delta    string
	Text     string

	Annotation      *responseCitation
	AnnotationIndex int `json:"annotation_index"`
}

// responseEvents reads the events of a streamed response. Their names are those of their data, and their numbers count from 0.
func responseEvents(t *testing.T, body []byte) []responseEvent {
	t.Helper()
	var events []responseEvent
	for i, text := range strings.Split(strings.TrimSpace(string(body)), "\n\n") {
		name, data, _ := strings.Cut(text, "\ndata: ")
		var e responseEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if name != "event: "+e.Type || e.Number != i {
			t.Errorf("event %d: %s", i, text)
		}
		events = append(events, e)
	}
	return events
}

// TestAResponseIsAQuestion: it is stored under the id of the response, counted once, and its references can be found in the text.
func TestAResponseIsAQuestion(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, nil)
	reply := h.must(200, "POST", "/responses", asked("How tall is the zebra?", "metadata", map[string]string{"a": "b"}, "instructions", "Be brief.", "store", false))
	r := decodedResponse(t, reply.body)
	if r.Object != "response" || r.Status != "completed" || r.Model != "docent" || r.Created != h.clock.Now().Unix() || r.Metadata["a"] != "b" || r.Error != nil || r.Incomplete != nil ||
		r.Output[0].Type != "message" || r.Output[0].Role != "assistant" || r.Output[0].Status != "completed" || r.Usage.Input != 9 || r.Usage.Total != 9+r.Usage.Output || r.Usage.Output == 0 {
		t.Errorf("%s", reply.body)
	}
	part := r.text(t)
	stored := h.must(200, "GET", "/answers/"+r.ID, nil)
	if stored.text(t, "question") != "How tall is the zebra?" || part.Type != "output_text" || !strings.HasPrefix(part.Text, strings.TrimSpace(stored.text(t, "answer"))) {
		t.Errorf("%s, stored %s", reply.body, stored.body)
	}
	if len(part.Annotations) != 1 {
		t.Fatalf("%s", reply.body)
	}
	a := part.Annotations[0]
	if entry := string([]rune(part.Text)[a.Start:a.End]); a.Type != "url_citation" || entry != "[Zebra](https://wiki.test/zebra)" || a.URL != "https://wiki.test/zebra" || a.Title != "Zebra" {
		t.Errorf("entry %q of %+v", entry, a)
	}
	again := h.must(200, "POST", "/responses", asked("Who?"), "Idempotency-Key", "k")
	same := h.must(200, "POST", "/responses", asked("Who?"), "Idempotency-Key", "k")
	if string(same.body) != string(again.body) || again.header.Get("X-Should-Retry") != "false" || !strings.Contains(same.header.Get("RateLimit"), `"answers-day";r=998`) {
		t.Errorf("repeated: %v %s", same.header, same.body)
	}
}

// TestAResponseIsStreamed: in the order that OpenAI's libraries need, with the text of the response that is not streamed.
func TestAResponseIsStreamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		has    string
	}{
		"quoted":    {nil, "References:\n\n1. [Zebra](https://wiki.test/zebra)"},
		"written":   {[]string{"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."}, "It eats grass"},
		"withdrawn": {[]string{"The zebra is 7 metres tall [1]. It", " has 99 legs [1]. It has 98 eyes [1]. It has 97 ears [1]. ", "No."}, "is withdrawn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, c.pieces)
			reply := h.must(200, "POST", "/responses", asked("How tall is the zebra?", "stream", true))
			events := responseEvents(t, reply.body)
			var order []string
			text := ""
			for _, e := range events {
				if len(order) == 0 || order[len(order)-1] != e.Type {
					order = append(order, e.Type)
				}
				text += e.Delta
			}
			want := []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
				"response.output_text.annotation.added", "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"}
			if !slices.Equal(order, want) {
				t.Fatalf("%q", order)
			}
			first, last := events[0].Response, events[len(events)-1].Response
			if first.Status != "in_progress" || len(first.Output) != 0 || first.Usage != nil || last.Status != "completed" || last.ID != first.ID || last.Usage == nil {
				t.Errorf("%s", reply.body)
			}
			whole := last.text(t)
			if text != whole.Text || !strings.Contains(text, c.has) || len(whole.Annotations) != 1 {
				t.Errorf("streamed %q, whole %+v", text, whole)
			}
			for _, e := range events[2 : len(events)-1] {
				switch {
				case e.Output == nil || *e.Output != 0, e.Item == nil && e.ItemID != last.Output[0].ID, e.Item != nil && e.Item.ID != last.Output[0].ID,
					e.Type == "response.output_text.annotation.added" && *e.Annotation != whole.Annotations[0],
					e.Type == "response.output_text.done" && e.Text != text,
					e.Type == "response.content_part.done" && e.Part.Text != text,
					e.Type == "response.output_item.done" && e.Item.Content[0].Text != text:
					t.Errorf("%+v", e)
				}
			}
			if again := decodedResponse(t, h.must(200, "POST", "/responses", asked("How tall is the zebra?")).body); name != "withdrawn" && again.text(t).Text != text {
				t.Errorf("streamed %q, not streamed %q", text, again.text(t).Text)
			}
		})
	}
}

// TestAResponseMayFollowAnother: the ids of responses and of questions are the same, and one that may not be read is refused by the name it
// has in the request.
func TestAResponseMayFollowAnother(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, nil)
	first := decodedResponse(t, h.must(200, "POST", "/responses", asked("Is there a zebra?")).body)
	second := decodedResponse(t, h.must(200, "POST", "/responses", asked("How tall is it?", "previous_response_id", strings.ToUpper(first.ID))).body)
	stored := h.must(200, "GET", "/answers/"+second.ID, nil)
	if stored.text(t, "previousQuestionId") != first.ID || !strings.EqualFold(second.Previous, first.ID) || !strings.Contains(second.text(t).Text, "7 metres") {
		t.Errorf("%+v, stored %s", second, stored.body)
	}
	before := h.list("/answers")
	for _, id := range []string{"resp_1234", questionID} {
		for _, stream := range []bool{false, true} {
			reply := h.must(400, "POST", "/responses", asked("How tall is it?", "previous_response_id", id, "stream", stream))
			e := decodedCompletion(t, reply.body).Error
			if e == nil || e.Param == nil || *e.Param != "previous_response_id" || !strings.Contains(e.Message, "is not the id of a response that you may read") {
				t.Errorf("%s: %s", id, reply.body)
			}
		}
	}
	if after := h.list("/answers"); after != before {
		t.Errorf("%d questions, %d before", after, before)
	}
}

// TestInputOfAResponseIsAConversation: as libraries and kits for agents send it.
func TestInputOfAResponseIsAConversation(t *testing.T) {
	t.Parallel()
	part := func(kind, text string) map[string]any { return map[string]any{"type": kind, "text": text} }
	message := func(role string, content any) map[string]any { return map[string]any{"role": role, "content": content} }
	typed := message("user", []any{part("input_text", "How tall is it?")})
	typed["type"] = "message"
	before := message("user", "Is there a zebra?")
	output := message("assistant", []any{part("output_text", "Yes.")})
	output["id"], output["type"], output["status"] = "msg_1", "message", "completed"
	for name, input := range map[string][]any{
		"messages":               {before, message("assistant", "Yes."), message("user", "How tall is it?")},
		"items":                  {message("developer", "Be brief."), before, output, typed},
		"a reference to an item": {before, map[string]any{"type": "item_reference", "id": "msg_1"}, typed},
		"calls of tools":         {before, typed, map[string]any{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, map[string]any{"type": "function_call_output", "call_id": "1", "output": "7"}},
		"an image before it":     {message("user", []any{map[string]any{"type": "input_image", "image_url": "x"}}), before, typed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := zebraHome(t, nil)
			r := decodedResponse(t, h.must(200, "POST", "/responses", asked(input, "tools", []any{map[string]any{"type": "web_search"}}, "tool_choice", "auto", "temperature", 0.3,
				"include", []any{"reasoning.encrypted_content"}, "reasoning", nil, "truncation", "auto", "max_output_tokens", nil, "conversation", nil)).body)
			if question := h.must(200, "GET", "/answers/"+r.ID, nil).text(t, "question"); question != "How tall is it?" || !strings.Contains(r.text(t).Text, "7 metres") {
				t.Errorf("asked %q: %+v", question, r)
			}
		})
	}
}

// TestWhatAResponseCannotBeIsRefused: with the parameter, and nothing is asked.
func TestWhatAResponseCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const q = "How tall is the zebra?"
	message := func(role string, content any) []any {
		return []any{map[string]any{"role": role, "content": content}}
	}
	for i, c := range []struct {
		body  map[string]any
		param string
		says  string
	}{
		{asked(7), "input", "must be a text or a list of items"},
		{asked(" "), "input", "must have text"},
		{asked([]any{}), "input", "must have a message of the user"},
		{asked([]any{"x"}), "input[0]", "must be an object"},
		{asked([]any{map[string]any{"type": 7}}), "input[0].type", "must be a text"},
		{asked(message("wizard", "x")), "input[0].role", "must be one of user, assistant, system, developer"},
		{asked(message("user", 5)), "input[0].content", "must be a text or a list of parts"},
		{asked(message("user", []any{map[string]any{"type": "input_image", "image_url": "x"}})), "input[0].content[0]", "must have the type text"},
		{asked(message("system", "x")), "input", "must have a message of the user"},
		{asked(strings.Repeat("x", 10001)), "input", "at most 10000 characters"},
		{asked("### Task:\nGenerate a title.\n<chat_history>"), "input", "must end with a question"},
		{asked(q, "tool_choice", "required"), "tool_choice", "must be auto or none"},
		{asked(q, "tool_choice", map[string]any{"type": "function", "name": "f"}), "tool_choice", "must be auto or none"},
		{asked(q, "tool_choice", map[string]any{"type": "allowed_tools", "mode": "required"}), "tool_choice", "must be auto or none"},
		{asked(q, "text", map[string]any{"format": map[string]any{"type": "json_schema", "name": "x", "schema": map[string]any{}}}), "text.format", "must have the type text"},
		{asked(q, "include", []any{"message.output_text.logprobs"}), "include[0]", "there are no probabilities"},
		{asked(q, "background", true), "background", "must be false"},
		{asked(q, "conversation", "conv_1"), "conversation", "must be absent"},
		{asked(q, "prompt", map[string]any{"id": "p"}), "prompt", "must be absent"},
		{asked(q, "max_output_tokens", -2), "max_output_tokens", "must be at least -1"},
		{asked(q, "metadata", map[string]any{"a": strings.Repeat("x", 513)}), "metadata", "texts of at most 512"},
		{asked(q, "metadata", map[string]any{strings.Repeat("x", 65): ""}), "metadata", "names of at most 64"},
	} {
		for _, stream := range []bool{false, true} {
			c.body["stream"] = stream
			reply := h.must(400, "POST", "/responses", c.body)
			e := decodedCompletion(t, reply.body).Error
			if e == nil || e.Param == nil || *e.Param != c.param || !strings.Contains(e.Message, c.says) || e.Type != "invalid_request_error" {
				t.Errorf("%d: %s", i, reply.body)
			}
		}
	}
	many := map[string]any{}
	for i := range 17 {
		many[fmt.Sprint(i)] = "x"
	}
	h.must(400, "POST", "/responses", asked(q, "metadata", many))
	other := asked(q)
	other["model"] = "gpt-5"
	if e := decodedCompletion(t, h.must(404, "POST", "/responses", other).body).Error; e == nil || !strings.Contains(e.Message, "no such model") {
		t.Errorf("%+v", e)
	}
	if n := h.list("/answers"); n != 0 {
		t.Errorf("%d questions are stored", n)
	}
	h.must(200, "POST", "/responses", asked(q, "tool_choice", map[string]any{"type": "allowed_tools", "mode": "auto", "tools": []any{}}))
}

// TestAResponseEndsAtItsTokenLimit: it is incomplete then, and its references are whole.
func TestAResponseEndsAtItsTokenLimit(t *testing.T) {
	t.Parallel()
	h := zebraHome(t, []string{"The zebra is 7 metres tall [1].", " It sleeps standing [1].", " It eats grass [1]."})
	whole := decodedResponse(t, h.must(200, "POST", "/responses", asked("How tall is the zebra?", "max_output_tokens", 3)).body)
	part := whole.text(t)
	if whole.Status != "incomplete" || whole.Incomplete == nil || whole.Incomplete.Reason != "max_output_tokens" || whole.Output[0].Status != "incomplete" ||
		part.Text != intro[:12]+zebraList || len(part.Annotations) != 1 {
		t.Errorf("%+v", whole)
	}
	events := responseEvents(t, h.must(200, "POST", "/responses", asked("How tall is the zebra?", "max_output_tokens", 3, "stream", true)).body)
	last := events[len(events)-1]
	if last.Type != "response.incomplete" || last.Response.Status != "incomplete" || last.Response.text(t).Text != part.Text || len(last.Response.text(t).Annotations) != 1 {
		t.Errorf("%+v", last)
	}
}
