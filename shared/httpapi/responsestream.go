package httpapi

import (
	"context"
	"sync"
)

// responseEvents sends the events of a response.
type responseEvents struct {
	stream *eventStream

	mu     sync.Mutex // held while an event is sent, so that the numbers are in order
	number int        // of the next event
	ended  bool       // by failure
	body   modelResponse
	begun  bool // the message is
}

// responseEvent is an event of a response. Which members it has depends on its type.
type responseEvent struct {
	Type     string `json:"type"`
	Number   int    `json:"sequence_number"`
	Response any    `json:"response,omitempty"`
	*partOfResponse
}

// partOfResponse is the part that an event is about. There is only one: the text of the only message.
type partOfResponse struct {
	OutputIndex     int               `json:"output_index"`
	Item            *responseMessage  `json:"item,omitempty"`
	ItemID          string            `json:"item_id,omitempty"`
	ContentIndex    *int              `json:"content_index,omitempty"`
	Part            *responseText     `json:"part,omitempty"`
	Delta           *string           `json:"delta,omitempty"`
	Text            *string           `json:"text,omitempty"`
	Logprobs        []any             `json:"logprobs,omitzero"`
	AnnotationIndex *int              `json:"annotation_index,omitempty"`
	Annotation      *responseCitation `json:"annotation,omitempty"`
}

// text returns the event that the text of the message makes, of which the caller sets what is new.
func (e *responseEvents) text() partOfResponse {
	return partOfResponse{ItemID: e.body.message().ID, ContentIndex: new(int)}
}

// sendPart sends an event about a part of the response.
func (e *responseEvents) sendPart(kind string, part partOfResponse) {
	e.send(responseEvent{Type: kind, partOfResponse: &part})
}

// sendWhole sends an event with the response as it is.
func (e *responseEvents) sendWhole(kind string) { e.send(responseEvent{Type: kind, Response: e.body}) }

func (e *responseEvents) send(event responseEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	event.Number = e.number
	e.number++
	e.stream.send(event.Type, "", event)
}

// failure returns the event that ends the response because of p. No event comes after it.
func (e *responseEvents) failure(p *problem) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	body := e.body
	body.fail(p)
	e.ended = true
	return eventOf("response.failed", "", responseEvent{Type: "response.failed", Number: e.number, Response: body})
}

// begin sends that the message begins, once.
func (e *responseEvents) begin() {
	if e.begun {
		return
	}
	e.begun = true
	message, empty, part := e.body.message(), outputText(written{}), e.text()
	e.sendPart("response.output_item.added", partOfResponse{Item: &message})
	part.Part = &empty
	e.sendPart("response.content_part.added", part)
}

// say sends the next part of the text.
func (e *responseEvents) say(text string) {
	e.begin()
	part := e.text()
	part.Delta, part.Logprobs = &text, []any{}
	e.sendPart("response.output_text.delta", part)
}

// end sends what comes after the text.
func (e *responseEvents) end() {
	e.begin()
	message := e.body.Output[0]
	whole := message.Content[0]
	for i, citation := range whole.Annotations {
		part := e.text()
		part.AnnotationIndex, part.Annotation = &i, &citation
		e.sendPart("response.output_text.annotation.added", part)
	}
	part := e.text()
	part.Text, part.Logprobs = &whole.Text, whole.Logprobs
	e.sendPart("response.output_text.done", part)
	part = e.text()
	part.Part = &whole
	e.sendPart("response.content_part.done", part)
	e.sendPart("response.output_item.done", partOfResponse{Item: &message})
	e.sendWhole("response." + e.body.Status)
}

// streamResponse replies with a response in events, for which there is room.
func (h *chats) streamResponse(ctx context.Context, q accepted, body modelResponse) {
	e := &responseEvents{body: body}
	e.stream = openEventsEnding(ctx, e.failure)
	e.sendWhole("response.created")
	e.sendWhole("response.in_progress")
	w, failed := h.tell(ctx, q, e.stream, e.say)
	if failed != nil {
		e.stream.writeLast(e.failure(failed))
		return
	}
	body.end(w, q.promptTokens)
	e.setBody(body)
	e.end()
}

// setBody makes body the response, which no failure may read at the same time.
func (e *responseEvents) setBody(body modelResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.body = body
}
