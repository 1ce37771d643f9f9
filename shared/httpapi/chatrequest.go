package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/answer"
	"docent/shared/apierr"
)

// chatInput is a request for a completion. A parameter that asks for another reply than there is, such as two choices or a call of
// a tool, is refused. Others have no effect: those that a model may ignore, such as temperature and offered tools, and
// those that there are not.
type chatInput struct {
	IdempotencyKey string `header:"Idempotency-Key" minLength:"1" maxLength:"255" doc:"A repeated request with the same key gets the same answer and is counted once."`
	Body           struct {
		Model         string        `json:"model" doc:"docent."`
		Messages      []chatMessage `json:"messages" minItems:"1" maxItems:"10000" doc:"The last one of the user is the question, understood together with the user's messages before it."`
		Stream        bool          `json:"stream,omitempty"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage,omitempty"`
		} `json:"stream_options,omitempty"`
		MaxTokens           *int     `json:"max_tokens,omitempty" minimum:"-1" doc:"Where the text is cut, by the estimate of usage; 0 or -1: nowhere. The list of references after it is whole: only usage counts it."`
		MaxCompletionTokens *int     `json:"max_completion_tokens,omitempty" minimum:"-1" doc:"The same as max_tokens; the smaller one counts."`
		Stop                any      `json:"stop,omitempty" doc:"A text before which the text of the answer ends, or a list of up to 4. An empty one has no effect."`
		N                   *int     `json:"n,omitempty" minimum:"1" doc:"1: a question has one answer."`
		ToolChoice          any      `json:"tool_choice,omitempty" doc:"auto or none: no tool is called."`
		FunctionCall        any      `json:"function_call,omitempty" doc:"auto or none, as tool_choice."`
		Modalities          []string `json:"modalities,omitempty" doc:"Only text."`
		Logprobs            bool     `json:"logprobs,omitempty" doc:"false: there are none."`
		ResponseFormat      struct {
			Type string `json:"type,omitempty" doc:"text: an answer is Markdown."`
		} `json:"response_format,omitempty"`
	}
}

type chatMessage struct {
	Role    string `json:"role" enum:"developer,system,user,assistant,tool,function" doc:"Only messages of the user have an effect."`
	Content any    `json:"content,omitempty" doc:"Text, or a list of parts of the type text."`
}

// asking returns what a request asks, or refuses what cannot be done.
func (in *chatInput) asking() (asking, error) {
	if err := onlyModel(in.Body.Model); err != nil {
		return asking{}, err
	}
	limit, err := in.check()
	if err != nil {
		return asking{}, err
	}
	messages := make([]said, len(in.Body.Messages))
	for i, m := range in.Body.Messages {
		messages[i] = said{m.Role, m.Content}
	}
	c := conversation{pointer: "/messages", said: messages}
	text, err := c.question()
	if err != nil {
		return asking{}, err
	}
	return asking{idempotencyKey: in.IdempotencyKey, text: text, before: c.before(), stream: in.Body.Stream, limit: limit, promptTokens: c.tokens()}, nil
}

// said is a message of a conversation. Its content is a text, or a list of parts.
type said struct {
	role    string
	content any
}

// text returns the text of a message.
func (m said) text() string {
	if text, ok := m.content.(string); ok {
		return text
	}
	parts, _ := m.content.([]any)
	var texts []string
	for _, part := range parts {
		if members, ok := part.(map[string]any); ok {
			if text, ok := members["text"].(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// check refuses what cannot be done, and returns where the text ends.
func (in *chatInput) check() (chatLimit, error) {
	b := &in.Body
	switch {
	case b.N != nil && *b.N > 1:
		return chatLimit{}, apierr.BadField("/n", "must be 1: a question has one answer")
	case !mayCallNothing(b.ToolChoice):
		return chatLimit{}, apierr.BadField("/tool_choice", "must be auto or none: no tool is called")
	case !mayCallNothing(b.FunctionCall):
		return chatLimit{}, apierr.BadField("/function_call", "must be auto or none: no function is called")
	case b.ResponseFormat.Type != "" && b.ResponseFormat.Type != "text":
		return chatLimit{}, apierr.BadField("/response_format", "must have the type text: an answer is Markdown, not JSON")
	case slices.ContainsFunc(b.Modalities, func(m string) bool { return m != "text" }):
		return chatLimit{}, apierr.BadField("/modalities", "must be text alone")
	case b.Logprobs:
		return chatLimit{}, apierr.BadField("/logprobs", "must be false: there are no probabilities")
	}
	stops, err := stopsOf(b.Stop)
	limit := chatLimit{stops: stops}
	limit.atMost(b.MaxTokens)
	limit.atMost(b.MaxCompletionTokens)
	return limit, err
}

// mayCallNothing reports whether a choice of tools leaves it to the model to call none. Some programs send it as an object, and one
// that allows only some tools has it as its mode.
func mayCallNothing(choice any) bool {
	if object, ok := choice.(map[string]any); ok {
		if object["type"] == "allowed_tools" {
			if allowed, ok := object["allowed_tools"].(map[string]any); ok {
				object = allowed
			}
			return object["mode"] == "auto"
		}
		choice, ok = object["type"].(string)
		if !ok {
			return false // it names a function
		}
	}
	return choice == nil || choice == "auto" || choice == "none"
}

// mostStops is how many texts may end an answer.
const mostStops = 4

// stopsOf reads the texts before which an answer ends.
func stopsOf(stop any) ([]string, error) {
	list, isList := stop.([]any)
	if !isList && stop != nil {
		list = []any{stop}
	}
	refused := apierr.BadField("/stop", "must be a text, or a list of up to %d texts", mostStops)
	if len(list) > mostStops {
		return nil, refused
	}
	var stops []string
	for _, one := range list {
		text, ok := one.(string)
		if !ok {
			return nil, refused
		}
		if text != "" {
			stops = append(stops, text)
		}
	}
	return stops, nil
}

// conversation is what was said so far, oldest first, with the member of the request that has it.
type conversation struct {
	pointer      string
	said         []said
	instructions string // the system message of a request that has it apart from what was said
}

// question returns the last message of the user.
func (c conversation) question() (string, error) {
	for i, m := range c.said {
		switch m.content.(type) {
		case nil, string, []any:
		default:
			return "", apierr.BadField(fmt.Sprintf("%s/%d/content", c.pointer, i), "must be a text or a list of parts")
		}
	}
	for i, m := range slices.Backward(c.said) {
		if m.role != "user" {
			continue
		}
		if err := c.onlyText(m, i); err != nil {
			return "", err
		}
		text := typed(m.text())
		switch n := utf8.RuneCountInString(text); {
		case isBackgroundTask(text) || c.setsTask():
			return "", apierr.BadField(c.pointer, "must end with a question; give the tasks of the chat program, such as titles of chats, another model, or turn them off")
		case strings.TrimSpace(text) == "":
			return "", apierr.BadField(c.pointer, "must have text in the last message of the user")
		case n > answer.MaxQuestion:
			return "", apierr.BadField(c.pointer, "must have at most %d characters of text in the last message of the user; it has %d", answer.MaxQuestion, n)
		}
		return text, nil
	}
	return "", apierr.BadField(c.pointer, "must have a message of the user")
}

// onlyText refuses a question with parts that are not text, such as images. In messages before the question they have no effect:
// a chat in which one was sent can go on.
func (c conversation) onlyText(m said, i int) error {
	parts, _ := m.content.([]any)
	for k, part := range parts {
		members, _ := part.(map[string]any)
		if _, ok := members["text"].(string); !ok {
			return apierr.BadField(fmt.Sprintf("%s/%d/content/%d", c.pointer, i, k), "must have the type text; images, audio and files are not read")
		}
	}
	return nil
}

// before returns the messages of the user before the last one, oldest first.
func (c conversation) before() []string {
	var texts []string
	for _, m := range c.said {
		if m.role == "user" {
			texts = append(texts, typed(m.text()))
		}
	}
	return texts[:max(len(texts)-1, 0)]
}

// tokens estimates the tokens of all messages and the instructions.
func (c conversation) tokens() int {
	n := tokensOf(c.instructions)
	for _, m := range c.said {
		n += tokensOf(m.text())
	}
	return n
}

// describeChat gives the members of several types their schemas. They are read in code, with better errors than a list of
// alternatives gives. An object among the alternatives has a name, because generators write a wrong name for it otherwise.
func describeChat(doc *huma.OpenAPI) {
	post := doc.Paths["/chat/completions"].Post
	body := doc.Components.Schemas.SchemaFromRef(post.RequestBody.Content["application/json"].Schema.Ref)
	text, most := &huma.Schema{Type: huma.TypeString}, mostStops
	choice := namedObject(doc, "ToolChoice", &huma.Schema{Properties: map[string]*huma.Schema{"type": text}})
	for name, other := range map[string]*huma.Schema{
		"stop":          {Type: huma.TypeArray, Items: text, MaxItems: &most},
		"tool_choice":   choice,
		"function_call": namedObject(doc, "FunctionChoice", &huma.Schema{Properties: map[string]*huma.Schema{"name": text}}),
	} {
		member := body.Properties[name]
		body.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{text, other, {Type: "null"}}, Description: member.Description}
	}
}
