package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
)

// chatModel is the name of the one model that chat programs see.
const chatModel = "docent"

// chats serves OpenAI's Chat Completions and Responses, so that chat programs are clients: the last message of
// the user is asked as a question, with the same quota, rights and records.
type chats struct{ Services }

func (h *chats) routes(api huma.API) {
	tags := []string{"Answers"}
	register(api, huma.Operation{OperationID: "createChatCompletion", Method: http.MethodPost, Path: "/chat/completions",
		Summary: "Ask as chat programs do", Tags: tags, Errors: []int{404, 409}}, h.complete)
	describeEvents(api, "/chat/completions", http.MethodPost, "With stream: chunks as OpenAI's Chat Completions have them, then [DONE].")
	register(api, huma.Operation{OperationID: "createResponse", Method: http.MethodPost, Path: "/responses",
		Summary: "Ask as OpenAI's newer libraries do", Tags: tags, Errors: []int{404, 409}}, h.respond)
	describeEvents(api, "/responses", http.MethodPost, "With stream: the events of OpenAI's Responses, numbered by sequence_number: response.created, response.in_progress, response.output_item.added, "+
		"response.content_part.added, response.output_text.delta, response.output_text.annotation.added, response.output_text.done, response.content_part.done, response.output_item.done, "+
		"and at the end response.completed, response.incomplete or response.failed.")
	register(api, huma.Operation{OperationID: "listModels", Method: http.MethodGet, Path: "/models",
		Summary: "List the models that chat programs may name", Tags: tags}, h.models)
	register(api, huma.Operation{OperationID: "getModel", Method: http.MethodGet, Path: "/models/{model}",
		Summary: "Get a model", Tags: tags, Errors: []int{404}}, h.model)
}

// isChat reports whether clients of OpenAI's API call the path, and read its errors. It does for paths of that API
// that are not served, too: those clients show the text of no other error.
func isChat(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "chat", "models", "responses", "completions", "embeddings", "conversations", "moderations", "files", "vector_stores", "images", "audio",
		"batches", "assistants", "threads":
		return true
	default:
		return false
	}
}

// chatError is an error as clients of OpenAI's API read it.
type chatError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

func chatErrorOf(p *problem) *chatError {
	e := &chatError{Message: cmp.Or(p.Detail, p.Title), Code: p.Code}
	switch {
	case p.Status == http.StatusUnauthorized:
		e.Type = "authentication_error"
	case p.Status == http.StatusForbidden:
		e.Type = "permission_error"
	case p.Code == apierr.CodeRateExceeded:
		e.Type = "rate_limit_error"
	case p.Status == http.StatusTooManyRequests:
		e.Type = "insufficient_quota"
	case p.Status >= 500:
		e.Type = "server_error"
	default:
		e.Type = "invalid_request_error"
	}
	if len(p.Errors) > 0 {
		param := paramOf(p.Errors[0].Pointer)
		e.Param = &param
	}
	return e
}

// paramOf returns a JSON pointer as OpenAI's errors name a parameter, such as messages[0].role.
func paramOf(pointer string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch _, err := strconv.Atoi(part); {
		case err == nil:
			b.WriteString("[" + part + "]")
		case b.Len() > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}

type chatModelBody struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"model"`
	Created int64  `json:"created" doc:"Unix seconds."`
	OwnedBy string `json:"owned_by"`
}

// modelSince is when the model was first there, in Unix seconds.
const modelSince = 1_767_225_600

var theModel = chatModelBody{ID: chatModel, Object: "model", Created: modelSince, OwnedBy: "docent"}

type listModelsOutput struct {
	Body struct {
		Object string          `json:"object" enum:"list"`
		Data   []chatModelBody `json:"data"`
	}
}

func (h *chats) models(ctx context.Context, _ *struct{}) (*listModelsOutput, error) {
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	out := &listModelsOutput{}
	out.Body.Object, out.Body.Data = "list", []chatModelBody{theModel}
	return out, nil
}

type getModelInput struct {
	Model string `path:"model"`
}

type getModelOutput struct{ Body chatModelBody }

func (h *chats) model(ctx context.Context, in *getModelInput) (*getModelOutput, error) {
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	if in.Model != chatModel {
		return nil, apierr.Missing("model")
	}
	return &getModelOutput{theModel}, nil
}

type chatOutput struct {
	Body completionBody
}

type completionBody struct {
	ID      string             `json:"id" doc:"The question's id; GET /answers/{questionId} returns the same answer."`
	Object  string             `json:"object" enum:"chat.completion"`
	Created int64              `json:"created" doc:"Unix seconds."`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   completionUsage    `json:"usage"`
}

type completionChoice struct {
	Index        int               `json:"index"`
	Message      completionMessage `json:"message"`
	FinishReason string            `json:"finish_reason" enum:"stop,length" doc:"length: the text was cut at max_tokens or max_completion_tokens. The references after it are whole."`
}

type completionMessage struct {
	Role        string               `json:"role" enum:"assistant"`
	Content     string               `json:"content" doc:"Markdown, with the references as a list at the end."`
	Annotations []completionCitation `json:"annotations"`
}

type completionCitation struct {
	Type     string      `json:"type" enum:"url_citation"`
	Citation urlCitation `json:"url_citation"`
}

type urlCitation struct {
	StartIndex int    `json:"start_index" doc:"Of its entry in the list of references, in characters."`
	EndIndex   int    `json:"end_index"`
	URL        string `json:"url"`
	Title      string `json:"title"`
}

type completionUsage struct {
	PromptTokens     int `json:"prompt_tokens" doc:"An estimate, as are the others: four characters count as one token."`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// tokenRunes is how many characters count as one token.
const tokenRunes = 4

func tokensOf(text string) int { return (utf8.RuneCountInString(text) + tokenRunes - 1) / tokenRunes }

func usageOf(prompt int, content string) completionUsage {
	return completionUsage{prompt, tokensOf(content), prompt + tokensOf(content)}
}

func (h *chats) complete(ctx context.Context, in *chatInput) (*chatOutput, error) {
	a, err := in.asking()
	if err != nil {
		return nil, err
	}
	q, err := h.accept(ctx, a)
	if err != nil {
		return nil, err
	}
	if a.stream {
		h.stream(ctx, q, in.Body.StreamOptions.IncludeUsage)
		return nil, nil //nolint:nilnil // the reply is sent
	}
	w, err := h.write(ctx, q)
	if err != nil {
		return nil, err
	}
	return &chatOutput{completionBody{ID: q.ID, Object: "chat.completion", Created: w.askedAt, Model: chatModel, Usage: usageOf(a.promptTokens, w.text),
		Choices: []completionChoice{{FinishReason: w.finish, Message: completionMessage{"assistant", w.text, completionCitations(w.citations)}}}}}, nil
}

// completionCitations returns citations as completions have them.
func completionCitations(citations []urlCitation) []completionCitation {
	out := make([]completionCitation, len(citations))
	for i, c := range citations {
		out[i] = completionCitation{"url_citation", c}
	}
	return out
}
