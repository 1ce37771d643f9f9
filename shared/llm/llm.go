// Package llm writes answers with a language model from passages that were found
// before, and keeps only what those passages support. Prompt, check and Markdown are
// the same for every model. Packages llm/openai and llm/bedrock connect to one.
package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/shared/memory"
)

// Composer writes from the passages it is given and from nothing else. It returns what
// the model wrote, unchecked; only Writer calls it. It repeats a call that was
// throttled or failed at the server twice, within ctx. Its errors contain nothing of
// the request or the reply.
type Composer interface {
	Compose(ctx context.Context, r Request) (Draft, error)
}

// Task is the work of a model on a question.
type Task uint8

// The tasks.
const (
	WriteAnswer     Task = iota // from the passages
	ProposeWordings             // other words for it
	ProposeParts                // what it asks for, one by one
)

// Request is the input of a model.
type Request struct {
	Task Task
	Asked
	Passages []string // numbered from 1 by place
	// Partial receives the draft so far, again and again while it is written. Each part has all
	// of its sources, and only the text of the last one may continue. Partial may be nil.
	Partial func(soFar Draft)
}

// Asked is a question with its context.
type Asked struct {
	Question    string
	Before      string // the questions that it follows, which only say what it is about; may be empty
	Instruction string // the asker's wishes for the wording; may be empty
}

// Draft is the unchecked output of a model.
type Draft struct {
	Parts        []Part // in order; none: the model found no answer
	Cut          bool   // the model came to the end of its room, not of its text
	InputTokens  int    // as the server counts; 0 when it does not
	OutputTokens int
}

// Part is a run of Markdown with the sources that the server named for it. Marks such
// as [2] within the text are sources as well.
type Part struct {
	Text   string
	Cites  []int    // numbers of passages
	Quotes []string // what the server says is in them
}

// Passage is a passage that an answer may be written from.
type Passage struct {
	Document string // identifies the document; its passages are one reference
	Text     string // with title and heading path before it
	Link     string // what its reference links to, as a Markdown target; empty: no link
	Number   int    // of its document in references; 0 for all: documents count in order of first use
}

// Bounds of a request and its result.
const (
	MaxOutputTokens = 800              // of a draft
	MaxTime         = 20 * time.Second // for a draft, with all that is repeated
	MaxReply        = 1 << 20          // bytes of one reply of a server
	TurnTime        = 10 * time.Second // to wait for a turn, before a draft

	maxPassages  = 24
	maxPassage   = 8 << 10  // bytes
	maxDraft     = 16 << 10 // bytes
	leastTime    = 2 * time.Second
	timeToRecord = 2 * time.Second // of ctx, that the model does not get
)

// The errors of a Composer, wrapped. Any other failure is described by its own error.
var (
	ErrThrottled = errors.New("the model is throttled")
	ErrRefused   = errors.New("the model or its server refused to write")
	ErrReply     = errors.New("the reply of the model's server cannot be read")
)

// errNoTime means that too little time is left to ask a model.
var errNoTime = errors.New("too little time is left")

// Outcome says what happened to an answer that a model was asked to write.
type Outcome string

// The outcomes. Only Written has an answer.
const (
	Written    Outcome = "written"
	NoAnswer   Outcome = "no-answer"  // the model says that the passages hold none
	Unverified Outcome = "unverified" // less than half of the draft is supported
	Throttled  Outcome = "throttled"
	OutOfTime  Outcome = "out-of-time"
	Errored    Outcome = "failed"
)

// Answer is the result of a Writer.
type Answer struct {
	Outcome      Outcome
	Markdown     string // safe to render; empty unless Written
	Used         []int  // places in passages: the first cited of each document, in order of first use
	Kept         int    // sentences, items and rows of the draft that are in Markdown
	Dropped      int    // those that are not
	InputTokens  int
	OutputTokens int
}

// Writer writes answers with a model.
type Writer struct {
	Model Composer
	Time  time.Duration // for a draft, with all that is repeated; 0: MaxTime
	// Turns are the requests to the model that may be in progress at a time. Others wait for a turn, by the owner of their
	// context: who has fewest in progress is next. A draft that gets none within TurnTime is Throttled. Nil: any number.
	Turns *memory.Pool
}

// Write answers asked from the first 24 of passages. The error says why a model that
// was asked did not answer; the outcome is always set. It takes at most w.Time,
// and leaves enough of ctx's time to record another answer.
func (w *Writer) Write(ctx context.Context, asked Asked, passages []Passage) (Answer, error) {
	return w.Stream(ctx, asked, passages, nil)
}

// Stream is Write, and calls so far, which may be nil, with the verified part of the answer
// each time that it has grown. Mostly the answer returned starts with the last one, but not
// always: less than half of the draft may be supported in the end.
func (w *Writer) Stream(ctx context.Context, asked Asked, passages []Passage, soFar func(Verified)) (Answer, error) {
	end, err := w.begin(ctx)
	if errors.Is(err, ErrThrottled) {
		return Answer{Outcome: Throttled}, err
	}
	if err != nil {
		return Answer{Outcome: OutOfTime}, err
	}
	defer end()
	ctx, cancel, err := within(ctx, cmp.Or(w.Time, MaxTime))
	if err != nil {
		return Answer{Outcome: OutOfTime}, err
	}
	defer cancel()
	passages = passages[:min(len(passages), maxPassages)]
	request := Request{Asked: asked}
	for _, p := range passages {
		request.Passages = append(request.Passages, cutText(p.Text, maxPassage))
	}
	sent := slices.Clone(passages)
	for i := range request.Passages {
		sent[i].Text = request.Passages[i] // only what was sent can be cited
	}
	if soFar != nil {
		request.Partial = (&progress{question: asked.Question, passages: sent, tell: soFar}).partial
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
	v := Verify(asked.Question, sent, draft)
	answer.Markdown, answer.Used, answer.Kept, answer.Dropped = v.Markdown, v.Used, v.Kept, v.Dropped
	if answer.Outcome = Written; v.Markdown == "" {
		answer.Outcome = Unverified
	}
	return answer, nil
}

// fewTurns is up to which number one owner may have all turns.
const fewTurns = 4

// NewTurns returns n turns for Writer.Turns, of which one owner has at most three quarters unless they are few; nil if n is 0.
func NewTurns(n int) *memory.Pool {
	switch {
	case n <= 0:
		return nil
	case n <= fewTurns:
		return memory.NewPool(int64(n), 0)
	}
	return memory.NewPool(int64(n), 3)
}

// begin waits for a turn at the model. The caller calls end after its request.
func (w *Writer) begin(ctx context.Context) (end func(), _ error) {
	if w.Turns == nil {
		return func() {}, nil
	}
	waiting, cancel, err := within(ctx, TurnTime)
	if err != nil {
		return nil, err
	}
	defer cancel()
	turn := w.Turns.Lease(memory.Owner(ctx))
	if err := turn.Take(waiting, 1); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err() //nolint:wrapcheck // the caller has left
		}
		return nil, fmt.Errorf("%w: no turn at it in %v: %w", ErrThrottled, TurnTime, err)
	}
	return turn.End, nil
}

// within bounds ctx for one request to a model: by most, and by the time left after the
// part reserved for what follows.
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
