package httpapi

import (
	"context"
	"net/http"
	"time"

	"docent/shared/answer"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/quota"
	"docent/shared/team"
)

const (
	// runTime bounds the answering of a question within its request. It is below pending.Grace, so
	// that the sweeper does not send a question that is being answered.
	runTime = 50 * time.Second
	// followTime bounds a stream that waits for the answer of another process. The client then
	// connects again.
	followTime = 90 * time.Second
	// lastPart of a function's time is left to end a stream, or a quarter of what is left.
	lastPart = 3 * time.Second
)

// bounded returns a context that ends after most, and early enough before ctx does. With detached, the
// end of the client does not end it.
func bounded(ctx context.Context, most time.Duration, detached bool) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		most = min(most, left-min(lastPart, left/4))
	}
	if detached {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithTimeout(ctx, most)
}

// accept takes the question in, with the day's quota in the reply. The work is nil if it was asked
// before.
func (h *answers) accept(ctx context.Context, p team.Principal, q answer.Question) (*pending.Work, error) {
	state, work, err := h.Answers.Accept(ctx, p.TeamID, askerOf(p), q)
	noteQuota(ctx, state)
	return work, err
}

func noteQuota(ctx context.Context, state quota.State) {
	if state.Name != "" {
		requestFrom(ctx).addQuota(state)
	}
}

// run answers the question of work here. If that fails, the queue gets it. The client may leave in
// the meantime: the answer is stored in any case.
func (s Services) run(ctx context.Context, work pending.Work, l answer.Listener) {
	if s.Answering == nil {
		s.Answers.Hand(ctx, work)
		return
	}
	running, cancel := bounded(ctx, runTime, true)
	defer cancel()
	err := memory.WaitTurn(running) // a search needs a processor
	if err == nil {
		err = s.Answering.Run(running, work, l)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a question was not answered in its request; the queue gets it", "question", work.ID, "err", err)
		s.Answers.Hand(context.WithoutCancel(ctx), work)
	}
}

// await returns an answer when it has left Processing, or as it is when time is up or stopped
// reports true.
func (s Services) await(ctx context.Context, p team.Principal, id string, stopped func() bool) (answer.Answer, error) {
	following, cancel := bounded(ctx, followTime, false)
	defer cancel()
	for {
		const part = 5 * time.Second
		begun := time.Now()
		a, err := s.Answers.Await(following, p.TeamID, askerOf(p), id, part)
		switch {
		case err != nil, a.State != answer.Processing, following.Err() != nil, stopped():
			return a, err
		case time.Since(begun) < part/2:
			return a, nil // it could not wait: the process stops, or has no time left
		}
	}
}

// stream asks the question and replies with the events of its answer. A question that was asked
// before is not asked again: its answer is followed.
func (h *answers) stream(ctx context.Context, p team.Principal, q answer.Question) error {
	if err := roomForEvents(ctx); err != nil {
		return err
	}
	work, err := h.accept(ctx, p, q)
	if err != nil {
		return err
	}
	events := openEvents(ctx)
	e := newAnswerEvents(events.send)
	if work == nil {
		e.resume(lastEventID(ctx))
	}
	e.created(answer.Answer{QuestionID: q.ID, State: answer.Processing})
	if work != nil {
		h.run(ctx, *work, answer.Listener{
			Found: func(documents []answer.Reference) {
				memory.Yield(ctx) // a model may write for a long time
				events.beforeText()
				e.found(documents)
			},
			Written: func(c answer.Composed) {
				events.beforeText()
				e.written(c.Markdown, urlsOf(c.References))
			},
		})
	}
	h.follow(ctx, p, q.ID, events, e)
	return nil
}

// follow sends the rest of the answer when it is there.
func (h *answers) follow(ctx context.Context, p team.Principal, id string, events *eventStream, e *answerEvents) {
	if events.isBroken() {
		return
	}
	a, err := h.await(ctx, p, id, events.isBroken)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		events.send("error", "", toProblem(ctx, err))
	case a.State != answer.Processing:
		events.beforeText()
		e.end(a, func(f answer.Failure) *problem { return failedProblem(ctx, f) })
	}
}

// failedProblem returns the problem of an answer that failed. Its status is 409 if its reader may no longer read its
// documents, and 500 otherwise.
func failedProblem(ctx context.Context, f answer.Failure) *problem {
	status := http.StatusInternalServerError
	if f.Code == answer.AccessChanged {
		status = http.StatusConflict
	}
	p := newProblem(ctx, status, f.Code, f.Detail)
	p.Title = "The question could not be answered"
	return p
}

// lastEventID returns the id of the last event that the client of the request has.
func lastEventID(ctx context.Context) string {
	return requestFrom(ctx).reply.r.Header.Get("Last-Event-ID")
}
