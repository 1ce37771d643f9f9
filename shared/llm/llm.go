// Package llm has answers written by a language model from passages that were
// found before, and lets through only what those passages bear out. Prompt, check
// and Markdown are the same for every model; llm/openai and llm/bedrock are what
// a model is reached by.
package llm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Composer writes from the passages that it is given and from nothing else. It
// gives back what the model wrote, unchecked; all of it comes from Writer. It
// repeats what was throttled or failed at the server twice, within ctx. Its
// errors hold nothing of the request or of the reply.
type Composer interface {
	Compose(ctx context.Context, r Request) (Draft, error)
}

// Task is what a model is to do with a question.
type Task uint8

// The tasks.
const (
	WriteAnswer     Task = iota // from the passages
	ProposeWordings             // other words for it
	ProposeParts                // what it asks for, one by one
)

// Request is what a model is given.
type Request struct {
	Task        Task
	Question    string
	Instruction string   // the asker's wishes for the wording; may be empty
	Passages    []string // numbered from 1 by place
}

// Draft is what a model wrote, unchecked.
type Draft struct {
	Parts        []Part // in order; none: the model found no answer
	Cut          bool   // the model came to the end of its room, not of its text
	InputTokens  int    // as the server counts; 0 when it does not
	OutputTokens int
}

// Part is a run of Markdown with the sources that the server gave for it. Marks
// such as [2] within the text are sources as well.
type Part struct {
	Text   string
	Cites  []int    // numbers of passages
	Quotes []string // what the server says stands in them
}

// Passage is one that an answer may be written from.
type Passage struct {
	Document string // tells documents apart; passages of one document are one reference
	Text     string // with title and heading path before it
	Link     string // what its reference links to, as a Markdown target; empty: no link
}

// Bounds of a request and of what becomes of it.
const (
	MaxOutputTokens = 800              // of a draft
	MaxTime         = 20 * time.Second // for a draft, with all that is repeated
	MaxReply        = 1 << 20          // bytes of one reply of a server

	maxPassages  = 24
	maxPassage   = 8 << 10  // bytes
	maxDraft     = 16 << 10 // bytes
	leastTime    = 2 * time.Second
	timeToRecord = time.Second // of ctx, that the model does not get
)

// The errors of a Composer, wrapped. Everything else that fails is described by
// its own error.
var (
	ErrThrottled = errors.New("the model is throttled")
	ErrRefused   = errors.New("the model or its server refused to write")
	ErrReply     = errors.New("the reply of the model's server can not be read")
)

// errNoTime: what is left of the time is too little to ask a model.
var errNoTime = errors.New("too little time is left")

// Outcome says what became of an answer that a model was to write.
type Outcome string

// The outcomes. Only Written has an answer.
const (
	Written    Outcome = "written"
	NoAnswer   Outcome = "no-answer"  // the model says that the passages hold none
	Unverified Outcome = "unverified" // less than half of the draft is borne out
	Throttled  Outcome = "throttled"
	OutOfTime  Outcome = "out-of-time"
	Errored    Outcome = "failed"
)

// Answer is what a Writer made.
type Answer struct {
	Outcome      Outcome
	Markdown     string // safe to render; empty unless Written
	Used         []int  // places in passages: the first cited of each document, in order of first use
	Kept         int    // sentences, items and rows of the draft that are in Markdown
	Dropped      int    // those that are not
	InputTokens  int
	OutputTokens int
}

// Writer has answers written.
type Writer struct {
	Model Composer
	Time  time.Duration // for a draft, with all that is repeated; 0: MaxTime
}

// Write has the answer to question written from passages, of which it takes the
// first 24. The error says why a model that was asked did not answer; the outcome
// is set all the same. It takes at most w.Time, and leaves of ctx's time enough
// to record another answer.
func (w *Writer) Write(ctx context.Context, question, instruction string, passages []Passage) (Answer, error) {
	ctx, cancel, err := within(ctx, cmp.Or(w.Time, MaxTime))
	if err != nil {
		return Answer{Outcome: OutOfTime}, err
	}
	defer cancel()
	passages = slices.Clone(passages[:min(len(passages), maxPassages)])
	request := Request{Question: question, Instruction: instruction}
	for _, p := range passages {
		request.Passages = append(request.Passages, cutText(p.Text, maxPassage))
	}
	draft, err := w.Model.Compose(ctx, request)
	answer := Answer{InputTokens: draft.InputTokens, OutputTokens: draft.OutputTokens}
	switch {
	case err == nil:
	case errors.Is(err, ErrThrottled):
		answer.Outcome = Throttled
		return answer, err
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		answer.Outcome = OutOfTime
		return answer, err
	default:
		answer.Outcome = Errored
		return answer, err
	}
	if len(draft.Parts) == 0 {
		answer.Outcome = NoAnswer
		return answer, nil
	}
	for i := range request.Passages {
		passages[i].Text = request.Passages[i] // only what was sent can be cited
	}
	v := Verify(question, passages, draft)
	answer.Markdown, answer.Used, answer.Kept, answer.Dropped = v.Markdown, v.Used, v.Kept, v.Dropped
	if answer.Outcome = Written; v.Markdown == "" {
		answer.Outcome = Unverified
	}
	return answer, nil
}

// within bounds ctx for one request to a model: by most, and by what is left of
// ctx's time when what comes after the request has its part.
func within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc, error) {
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)-timeToRecord)
	}
	if most < leastTime {
		return nil, nil, errNoTime
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	return ctx, cancel, nil
}
