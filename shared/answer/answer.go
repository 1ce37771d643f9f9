// Package answer takes questions, has them answered by a worker behind a queue,
// and keeps questions and answers until they are deleted.
package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/filter"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/table"
)

// MaxQuestion bounds a question in Unicode code points.
const MaxQuestion = 10000

// State is the state of an answer.
type State string

// The states. Complete and Failed are final.
const (
	Processing State = "processing"
	Complete   State = "complete"
	Failed     State = "failed"
)

// The codes of a failed answer.
const (
	GenerationFailed = "generation-failed"
	TimedOut         = "timeout"
)

// Reference is a document that an answer quotes or cites.
type Reference struct {
	HTMLURL string `json:"htmlUrl"`
	Title   string `json:"title,omitempty"`
}

// Failure is the reason why there is no answer.
type Failure struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Fields are the fields of an answer that are stored as they are.
type Fields struct {
	Question   string          `json:"question"`
	FilterJSON json.RawMessage `json:"filter,omitempty"`     // see Answer.Filter; nil: none
	Sources    []string        `json:"sources"`              // what the asking key was restricted to; nil: everything
	Markdown   string          `json:"answer,omitempty"`     // when Complete
	References []Reference     `json:"references,omitempty"` // when Complete; empty when nothing was found
	Failure    *Failure        `json:"error,omitempty"`      // when Failed
	// Documents are the ids of the documents that it was made from, when Complete: those
	// that it refers to, those that it names as the closest and, if a model wrote it, all
	// that the model was shown.
	Documents []string `json:"documents,omitempty"`
	// Texts are when the texts of Documents that it was made from became current, in Unix milliseconds. Answers of releases that
	// did not store them lack them.
	Texts []int64 `json:"texts,omitempty"`
	// Restricted are the ids of Documents that had an access rule when the answer was made.
	Restricted []string `json:"restricted,omitempty"`

	Previous string    `json:"previous,omitempty"` // the question that it follows
	Context  string    `json:"context,omitempty"`  // the text of the questions before it, one a line, newest last
	Feedback *Feedback `json:"feedback,omitempty"`
}

// Answer is a question with its answer.
type Answer struct {
	QuestionID string
	Fields
	State   State
	Model   *ModelUse // of a model that was asked; for Worker.Ended only, it is not kept
	AskedAt time.Time // milliseconds
	TeamID  string
	UserID  string // the person for whom it is made; empty: a team key that acts for nobody

	origin audit.Origin // of the asking
}

// Filter returns what the question was limited to; nil: nothing.
func (a Answer) Filter() (*filter.Filter, error) {
	if a.FilterJSON == nil {
		return nil, nil //nolint:nilnil // no filter
	}
	f, err := filter.Parse(a.FilterJSON)
	if err != nil {
		return nil, fmt.Errorf("read the filter of question %s: %w", a.QuestionID, err)
	}
	return f, nil
}

// Asker is the key that asks or reads.
type Asker struct {
	UserID  string   // of a personal key, or of the person for whom a team key acts; otherwise empty
	Sources []string // what the key is restricted to; nil: everything
	// Reader decides which documents the asker may read at this moment.
	Reader access.Reader
}

// mayRead reports whether a may read the answer of. A person may read their own answers, with whatever key they
// were asked. A team key that acts for nobody may read all answers of its team. A restricted key may read
// only answers that were asked for within its restriction.
func (a Asker) mayRead(teamID string, of Answer) bool {
	if of.TeamID != teamID || a.UserID != "" && a.UserID != of.UserID {
		return false
	}
	return within(of.Sources, a.Sources)
}

// within reports whether the restriction inner is within outer. Nil restricts nothing.
func within(inner, outer []string) bool {
	if outer == nil {
		return true
	}
	if inner == nil {
		return false
	}
	allowed := make(map[string]bool, len(outer))
	for _, id := range outer {
		allowed[id] = true
	}
	for _, id := range inner {
		if !allowed[id] {
			return false
		}
	}
	return true
}

// Service holds the rules of questions and answers.
type Service struct {
	Table  table.Store
	Events *audit.Log // nil: nothing is recorded
	Work   queue.Queue
	Now    func() time.Time
	// Wait pauses a long poll between two reads. It returns the error of ctx when ctx
	// ends.
	Wait func(ctx context.Context) error
	// Unreadable returns those of the documents that the asker may not read at this moment, and those that are gone. first
	// has their ids, each with the time of the first text that an answer was made from. The times in the results say
	// which answers a document concerns: those made from a text before that time. A document or a text that came
	// later to the same URI has the same id, and no part in them.
	Unreadable func(ctx context.Context, teamID string, asker Asker, first map[string]time.Time) (unreadable, gone map[string]time.Time, _ error)
	// Warn receives each message that could not be sent. Its work is pending, so it
	// will be sent again.
	Warn func(w pending.Work, err error)
}

// newEvent returns an event about the question of a. No event contains its text.
func newEvent(kind audit.Type, a Answer) audit.Event {
	return audit.Event{Type: kind, Targets: []audit.Target{{Type: audit.TargetAnswer, ID: a.QuestionID}}}
}

// askedEvent returns the event of asking a, which is recorded when a is finished.
func askedEvent(a Answer) audit.Event {
	e := newEvent(audit.AnswerAsked, a)
	e.OccurredAt, e.Origin = a.AskedAt, a.origin
	switch a.State {
	case Failed:
		e.Outcome = audit.Outcome{Result: audit.Failure, Reason: a.Failure.Code}
	case Processing:
		e.Outcome.Result = audit.Unknown // deleted before its end
	}
	return e
}

// Missing returns the error for a question id that the caller may not read.
func Missing() *apierr.Error { return apierr.Missing("question") }

func conflict() *apierr.Error {
	return apierr.New(apierr.Conflict, apierr.CodeAnswerConflict, "This question id is taken. Choose another one.")
}
