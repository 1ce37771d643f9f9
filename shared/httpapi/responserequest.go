package httpapi

import (
	"fmt"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
)

// responseInput is a request for a response. What asks for another reply than there is, is refused by the same rule as in a request
// for a completion.
type responseInput struct {
	IdempotencyKey string `header:"Idempotency-Key" minLength:"1" maxLength:"255" doc:"A repeated request with the same key gets the same answer and is counted once."`
	Body           struct {
		Model              string            `json:"model" doc:"docent."`
		Input              any               `json:"input" doc:"The question, or a list of items. The last message of the user in it is the question, understood together with the user's messages before it; other items have no effect."`
		Instructions       string            `json:"instructions,omitempty" doc:"No effect."`
		PreviousResponseID string            `json:"previous_response_id,omitempty" maxLength:"64" doc:"The id of a response, or of a question, that this question follows. If it cannot be understood alone, it is understood together with it."`
		Stream             bool              `json:"stream,omitempty"`
		MaxOutputTokens    *int              `json:"max_output_tokens,omitempty" minimum:"-1" doc:"Where the text is cut, by the estimate of usage; 0 or -1: nowhere. The list of references after it is whole: only usage counts it."`
		Metadata           map[string]string `json:"metadata,omitempty" maxProperties:"16" doc:"Is in the reply, and not stored."`
		Store              *bool             `json:"store,omitempty" doc:"No effect: every question is stored. DELETE /answers/{questionId} removes it."`
		ToolChoice         any               `json:"tool_choice,omitempty" doc:"auto or none: no tool is called."`
		Text               responseTextInput `json:"text,omitempty"`
		Include            []string          `json:"include,omitempty" doc:"Not message.output_text.logprobs: there are no probabilities. Others have no effect."`
		Background         bool              `json:"background,omitempty" doc:"false. PUT /answers/{questionId} asks without waiting."`
		Conversation       any               `json:"conversation,omitempty" doc:"Must be absent. Send previous_response_id, or the messages."`
		Prompt             any               `json:"prompt,omitempty" doc:"Must be absent. There are no stored prompts."`
	}
}

type responseTextInput struct {
	Format textFormatInput `json:"format,omitempty"`
}

type textFormatInput struct {
	Type string `json:"type,omitempty" doc:"text: an answer is Markdown."`
}

// asking returns what a request asks, or refuses what cannot be done.
func (in *responseInput) asking() (asking, error) {
	b := &in.Body
	if err := onlyModel(b.Model); err != nil {
		return asking{}, err
	}
	if err := in.check(); err != nil {
		return asking{}, err
	}
	c, err := in.conversation()
	if err != nil {
		return asking{}, err
	}
	text, err := c.question()
	if err != nil {
		return asking{}, err
	}
	a := asking{idempotencyKey: in.IdempotencyKey, text: text, before: c.before(), previous: canonicalID(b.PreviousResponseID), stream: b.Stream,
		promptTokens: c.tokens()}
	a.limit.atMost(b.MaxOutputTokens)
	return a, nil
}

// check refuses what cannot be done.
func (in *responseInput) check() error {
	b := &in.Body
	switch {
	case !mayCallNothing(b.ToolChoice):
		return apierr.BadField("/tool_choice", "must be auto or none: no tool is called")
	case b.Text.Format.Type != "" && b.Text.Format.Type != "text":
		return apierr.BadField("/text/format", "must have the type text: an answer is Markdown, not JSON")
	case b.Background:
		return apierr.BadField("/background", "must be false; PUT /answers/{questionId} asks without waiting")
	case b.Conversation != nil:
		return apierr.BadField("/conversation", "must be absent: no conversations are kept; send previous_response_id, or the messages")
	case b.Prompt != nil:
		return apierr.BadField("/prompt", "must be absent: there are no stored prompts")
	}
	for i, name := range b.Include {
		if name == "message.output_text.logprobs" {
			return apierr.BadField(fmt.Sprintf("/include/%d", i), "must be something else: there are no probabilities")
		}
	}
	const longestName, longestValue = 64, 512
	for name, value := range b.Metadata {
		if utf8.RuneCountInString(name) > longestName || utf8.RuneCountInString(value) > longestValue {
			return apierr.BadField("/metadata", "must have names of at most %d characters, with texts of at most %d", longestName, longestValue)
		}
	}
	return nil
}

// mostItems bounds a conversation, as in a completion.
const mostItems = 10000

// conversation returns the messages of the input. Items that are no messages, such as the calls of tools, are left empty.
func (in *responseInput) conversation() (conversation, error) {
	c := conversation{pointer: "/input", instructions: in.Body.Instructions}
	list, ok := in.Body.Input.([]any)
	if !ok {
		text, ok := in.Body.Input.(string)
		if !ok {
			return c, apierr.BadField(c.pointer, "must be a text or a list of items")
		}
		c.said = []said{{"user", text}}
		return c, nil
	}
	if len(list) > mostItems {
		return c, apierr.BadField(c.pointer, "must have at most %d items", mostItems)
	}
	c.said = make([]said, len(list))
	for i, one := range list {
		item, ok := one.(map[string]any)
		if !ok {
			return c, apierr.BadField(fmt.Sprintf("/input/%d", i), "must be an object")
		}
		if kind := item["type"]; kind != nil && kind != "message" {
			if _, ok := kind.(string); !ok {
				return c, apierr.BadField(fmt.Sprintf("/input/%d/type", i), "must be a text")
			}
			continue
		}
		switch item["role"] {
		case "user", "assistant", "system", "developer":
		default:
			return c, apierr.BadField(fmt.Sprintf("/input/%d/role", i), "must be one of user, assistant, system, developer")
		}
		role, _ := item["role"].(string)
		c.said[i] = said{role, item["content"]}
	}
	return c, nil
}

// describeResponses gives the members of several types their schemas, as describeChat does.
func describeResponses(doc *huma.OpenAPI) {
	post := doc.Paths["/responses"].Post
	body := doc.Components.Schemas.SchemaFromRef(post.RequestBody.Content["application/json"].Schema.Ref)
	text, most := &huma.Schema{Type: huma.TypeString}, mostItems
	item := namedObject(doc, "ResponseItem", &huma.Schema{Properties: map[string]*huma.Schema{"type": {Type: huma.TypeString, Nullable: true}}})
	input := body.Properties["input"]
	body.Properties["input"] = &huma.Schema{AnyOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: item, MaxItems: &most}}, Description: input.Description}
	choice := body.Properties["tool_choice"]
	body.Properties["tool_choice"] = &huma.Schema{AnyOf: []*huma.Schema{text, {Ref: schemaPrefix + "ToolChoice"}, {Type: "null"}}, Description: choice.Description}
	for _, name := range []string{"conversation", "prompt"} {
		body.Properties[name] = onlyNull(body.Properties[name].Description)
	}
	response := doc.Components.Schemas.SchemaFromRef(post.Responses["200"].Content["application/json"].Schema.Ref)
	for _, name := range []string{"error", "incomplete_details", "usage"} {
		member := response.Properties[name]
		response.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: member.Ref}, {Type: "null"}}, Description: member.Description}
	}
}
