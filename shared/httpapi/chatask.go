package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/team"
)

// asking is a question that a client of OpenAI's API asks.
type asking struct {
	idempotencyKey string
	text           string   // the last message of the user
	before         []string // the user's messages before it, oldest first
	previous       string   // the id of the reply that it follows; empty: none
	stream         bool
	limit          chatLimit
	promptTokens   int
}

// accepted is a question that was taken in.
type accepted struct {
	asking
	ID   string
	by   team.Principal
	work *pending.Work // nil for a repeated request
}

// onlyModel refuses the name of another model.
func onlyModel(name string) error {
	if name != chatModel {
		return apierr.New(apierr.NotFound, apierr.CodeNotFound, "There is no such model. The only one is docent.")
	}
	return nil
}

// chatID returns the id of the question that a request asks: of its Idempotency-Key if it has one. A key that acts for
// people has other ids for each of them, since none reads the questions of another.
func chatID(p team.Principal, idempotencyKey string) (string, error) {
	if idempotencyKey == "" {
		return uuid.NewString(), nil
	}
	space, err := uuid.Parse(p.TeamID)
	if err != nil {
		return "", err
	}
	caller := p.KeyID
	if p.ActsFor {
		caller += "/" + p.UserID
	}
	return uuid.NewSHA1(space, []byte("chat\x00"+caller+"\x00"+idempotencyKey)).String(), nil
}

// accept takes a question in. With stream, there is room for the events of its reply.
func (h *chats) accept(ctx context.Context, a asking) (accepted, error) {
	p, err := caller(ctx)
	if err != nil {
		return accepted{}, err
	}
	id, err := chatID(p, a.idempotencyKey)
	if err != nil {
		return accepted{}, err
	}
	if a.stream {
		if err := roomForEvents(ctx); err != nil {
			return accepted{}, err
		}
	}
	q := answer.Question{ID: id, Text: a.text, Previous: a.previous, Context: a.before, RequestID: requestFrom(ctx).id}
	state, work, err := h.Answers.Accept(ctx, p.TeamID, askerOf(p), q)
	noteQuota(ctx, state)
	taken := apierr.IsCode(err, apierr.CodeAnswerConflict)
	if err != nil && !taken {
		return accepted{}, err
	}
	// Clients repeat requests that failed, also with 409. That would ask again, or be refused again.
	requestFrom(ctx).reply.Header().Set("X-Should-Retry", "false")
	if taken {
		return accepted{}, apierr.New(apierr.Conflict, apierr.CodeAnswerConflict, "This Idempotency-Key was used for another question or conversation. Choose another one.")
	}
	return accepted{a, id, p, work}, nil
}

// written is the text of a reply, as far as the client wants it.
type written struct {
	text      string
	citations []urlCitation // where the references are in text
	finish    string
	askedAt   int64 // Unix seconds
}

// write answers q as a whole.
func (h *chats) write(ctx context.Context, q accepted) (written, error) {
	if q.work != nil {
		h.run(ctx, *q.work, answer.Listener{Found: func([]answer.Reference) { memory.Yield(ctx) }})
	}
	a, err := h.await(ctx, q.by, q.ID, func() bool { return false })
	if err != nil {
		return written{}, err
	}
	if failed := h.unfinished(ctx, a); failed != nil {
		return written{}, failed
	}
	return q.limit.written(strings.TrimRight(a.Markdown, "\n"), a), nil
}

// unverified comes before the whole text where the text sent before it is not part of the answer:
// what was said in a chat cannot be taken back.
const unverified = "\n\n---\n\n*The text above is withdrawn, because too little of it was supported by the documents. The answer is:*\n\n"

// tell answers q, and gives say each next part of the text while it is written.
func (h *chats) tell(ctx context.Context, q accepted, events *eventStream, say func(text string)) (written, *problem) {
	told := ""
	tell := func(text string) {
		if rest, ok := strings.CutPrefix(text, told); ok && rest != "" {
			events.beforeText()
			say(rest)
			told = text
		}
	}
	if q.work != nil {
		h.run(ctx, *q.work, answer.Listener{
			Found: func([]answer.Reference) { memory.Yield(ctx) },
			Written: func(c answer.Composed) {
				part, _ := q.limit.of(strings.TrimRight(c.Markdown, "\n"), false)
				tell(part)
			},
		})
	}
	a, err := h.await(ctx, q.by, q.ID, events.isBroken)
	if err != nil {
		return written{}, toProblem(ctx, err)
	}
	if failed := h.unfinished(ctx, a); failed != nil {
		return written{}, failed
	}
	text, limit := strings.TrimRight(a.Markdown, "\n"), q.limit
	if !strings.HasPrefix(text, told) {
		text, limit = told+unverified+text, chatLimit{} // who was told what is withdrawn must learn that
	}
	w := limit.written(text, a)
	tell(w.text)
	return w, nil
}

// unfinished returns the problem of an answer that failed or is still processing, or nil.
func (h *chats) unfinished(ctx context.Context, a answer.Answer) *problem {
	var p *problem
	switch a.State {
	case answer.Complete:
		return nil
	case answer.Failed:
		p = failedProblem(ctx, *a.Failure)
	default:
		p = newProblem(ctx, http.StatusServiceUnavailable, apierr.CodeUnavailable,
			"The question is still being answered. GET /answers/"+a.QuestionID+" returns the answer when it is ready.")
	}
	requestFrom(ctx).code = p.Code
	p.ChatError = chatErrorOf(p)
	return p
}

// created returns when a question was asked, for events that are sent before it is read.
func (h *chats) created() int64 { return h.Now().UTC().Truncate(time.Second).Unix() }
