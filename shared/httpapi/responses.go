package httpapi

import (
	"context"
	"errors"
	"net/http"

	"docent/shared/apierr"
)

type responseOutput struct{ Body modelResponse }

// modelResponse is a response. Its members without a use are those that OpenAI's libraries need.
type modelResponse struct {
	ID                 string             `json:"id" doc:"The question's id; GET /answers/{questionId} returns the same answer."`
	Object             string             `json:"object" enum:"response"`
	CreatedAt          int64              `json:"created_at" doc:"Unix seconds."`
	Status             string             `json:"status" enum:"in_progress,completed,incomplete,failed" doc:"incomplete: the text was cut at max_output_tokens."`
	Error              *responseError     `json:"error" doc:"When failed."`
	IncompleteDetails  *incompleteDetails `json:"incomplete_details" doc:"When incomplete."`
	Instructions       *string            `json:"instructions" doc:"null."`
	MaxOutputTokens    *int               `json:"max_output_tokens"`
	Metadata           map[string]string  `json:"metadata"`
	Model              string             `json:"model"`
	Output             []responseMessage  `json:"output" doc:"One message."`
	ParallelToolCalls  bool               `json:"parallel_tool_calls"`
	PreviousResponseID *string            `json:"previous_response_id"`
	Store              bool               `json:"store" doc:"true: every question is stored."`
	Temperature        *float64           `json:"temperature" doc:"null."`
	Text               responseTextConfig `json:"text"`
	ToolChoice         string             `json:"tool_choice" enum:"none"`
	Tools              []any              `json:"tools" doc:"Empty."`
	TopP               *float64           `json:"top_p" doc:"null."`
	Truncation         string             `json:"truncation" enum:"disabled"`
	Usage              *responseUsage     `json:"usage" doc:"At the end."`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incompleteDetails struct {
	Reason string `json:"reason" enum:"max_output_tokens"`
}

type responseTextConfig struct {
	Format textFormat `json:"format"`
}

type textFormat struct {
	Type string `json:"type" enum:"text"`
}

type responseMessage struct {
	ID      string         `json:"id"`
	Type    string         `json:"type" enum:"message"`
	Status  string         `json:"status" enum:"in_progress,completed,incomplete"`
	Role    string         `json:"role" enum:"assistant"`
	Content []responseText `json:"content"`
}

type responseText struct {
	Type        string             `json:"type" enum:"output_text"`
	Text        string             `json:"text" doc:"Markdown, with the references as a list at the end."`
	Annotations []responseCitation `json:"annotations"`
	Logprobs    []any              `json:"logprobs" doc:"Empty."`
}

type responseCitation struct {
	Type       string `json:"type" enum:"url_citation"`
	StartIndex int    `json:"start_index" doc:"Of its entry in the list of references, in characters."`
	EndIndex   int    `json:"end_index"`
	URL        string `json:"url"`
	Title      string `json:"title"`
}

type responseUsage struct {
	InputTokens         int                `json:"input_tokens" doc:"An estimate, as are the others: four characters count as one token."`
	InputTokensDetails  promptTokenDetails `json:"input_tokens_details"`
	OutputTokens        int                `json:"output_tokens"`
	OutputTokensDetails replyTokenDetails  `json:"output_tokens_details"`
	TotalTokens         int                `json:"total_tokens"`
}

type promptTokenDetails struct {
	CacheWriteTokens int `json:"cache_write_tokens"`
	CachedTokens     int `json:"cached_tokens"`
}

type replyTokenDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

// The states of a response and of its message.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
)

func (h *chats) respond(ctx context.Context, in *responseInput) (*responseOutput, error) {
	a, err := in.asking()
	if err != nil {
		return nil, err
	}
	q, err := h.accept(ctx, a)
	if err != nil {
		return nil, namingResponse(err)
	}
	body := in.begun(q.ID, h.created())
	if a.stream {
		h.streamResponse(ctx, q, body)
		return nil, nil //nolint:nilnil // the reply is sent
	}
	w, err := h.write(ctx, q)
	if err != nil {
		return nil, err
	}
	body.CreatedAt = w.askedAt
	body.end(w, a.promptTokens)
	return &responseOutput{body}, nil
}

// namingResponse returns err with the name that a wrong previous question has in the request.
func namingResponse(err error) error {
	var refused *apierr.Error
	if errors.As(err, &refused) && len(refused.Fields) > 0 && refused.Fields[0].Pointer == "/previousQuestionId" {
		return apierr.BadField("/previous_response_id", "is not the id of a response that you may read")
	}
	return err
}

// begun returns the response to a request while it is written.
func (in *responseInput) begun(id string, created int64) modelResponse {
	b := modelResponse{ID: id, Object: "response", CreatedAt: created, Status: statusInProgress, Model: chatModel, Output: []responseMessage{}, Store: true,
		MaxOutputTokens: in.Body.MaxOutputTokens, Metadata: in.Body.Metadata, ToolChoice: "none", Tools: []any{}, Truncation: "disabled"}
	if b.Metadata == nil {
		b.Metadata = map[string]string{}
	}
	if previous := in.Body.PreviousResponseID; previous != "" {
		b.PreviousResponseID = &previous
	}
	b.Text.Format.Type = "text"
	return b
}

// message returns the message of a response: empty before anything is written.
func (b *modelResponse) message() responseMessage {
	return responseMessage{ID: "msg_" + b.ID, Type: "message", Status: statusInProgress, Role: "assistant", Content: []responseText{}}
}

// end makes w the output of b.
func (b *modelResponse) end(w written, promptTokens int) {
	b.Status = statusCompleted
	if w.finish == finishLength {
		b.Status, b.IncompleteDetails = statusIncomplete, &incompleteDetails{"max_output_tokens"}
	}
	m := b.message()
	m.Status, m.Content = b.Status, []responseText{outputText(w)}
	b.Output = []responseMessage{m}
	b.Usage = &responseUsage{InputTokens: promptTokens, OutputTokens: tokensOf(w.text), TotalTokens: promptTokens + tokensOf(w.text)}
}

// fail ends b because of p, and takes its output back.
func (b *modelResponse) fail(p *problem) {
	b.Status, b.Error = statusFailed, &responseError{p.Code, chatErrorOf(p).Message}
	b.Output, b.Usage, b.IncompleteDetails = []responseMessage{}, nil, nil
	if p.Status >= http.StatusInternalServerError {
		b.Error.Code = "server_error"
	}
}

// outputText returns what was written as a part of a message.
func outputText(w written) responseText {
	t := responseText{Type: "output_text", Text: w.text, Annotations: make([]responseCitation, len(w.citations)), Logprobs: []any{}}
	for i, c := range w.citations {
		t.Annotations[i] = responseCitation{"url_citation", c.StartIndex, c.EndIndex, c.URL, c.Title}
	}
	return t
}
