package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/filter"
	"docent/shared/memory"
	"docent/shared/team"
	"docent/shared/uri"
)

// maxWait bounds a long poll.
const maxWait = 20 * time.Second

type answers struct{ Services }

func (h *answers) routes(api huma.API) {
	tags := []string{"Answers"}
	register(api, huma.Operation{OperationID: "listAnswers", Method: http.MethodGet, Path: "/answers",
		Summary: "List questions and answers", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "askQuestion", Method: http.MethodPut, Path: "/answers/{questionId}",
		Summary: "Ask a question", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{409}}, h.ask)
	register(api, huma.Operation{OperationID: "getAnswer", Method: http.MethodGet, Path: "/answers/{questionId}",
		Summary: "Get an answer", Tags: tags, Errors: []int{400, 404}}, h.get)
	describeEvents(api, "/answers/{questionId}", http.MethodPut, answerEventsDoc)
	describeEvents(api, "/answers/{questionId}", http.MethodGet, answerEventsDoc)
	api.OpenAPI().Paths["/answers/{questionId}"].Get.Responses["204"] = &huma.Response{Description: "The client that resumes has all events."}
	register(api, huma.Operation{OperationID: "rateAnswer", Method: http.MethodPut, Path: "/answers/{questionId}/feedback",
		Summary: "Say whether an answer helped", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404, 409}}, h.rate)
	register(api, huma.Operation{OperationID: "deleteAnswer", Method: http.MethodDelete, Path: "/answers/{questionId}",
		Summary: "Delete a question and its answer", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.delete)
}

// answerBody is an answer in both forms that clients read: nested in result, and flat.
type answerBody struct {
	QuestionID string             `json:"questionId"`
	Question   string             `json:"question"`
	Filter     *filter.Filter     `json:"filter,omitempty"`
	State      answer.State       `json:"state" enum:"processing,complete,failed"`
	Result     *answerResult      `json:"result,omitempty"`
	Answer     *string            `json:"answer,omitempty" doc:"Markdown; the same as in result."`
	References []answer.Reference `json:"references,omitzero" doc:"The same as in result."`
	Error      *answer.Failure    `json:"error,omitempty"`
	Previous   string             `json:"previousQuestionId,omitempty" doc:"The question that it follows."`
	Feedback   *feedbackBody      `json:"feedback,omitempty"`
}

// feedbackBody is what a reader says of an answer.
type feedbackBody struct {
	Rating  answer.Rating `json:"rating" enum:"up,down"`
	Comment string        `json:"comment,omitempty" maxLength:"2000"`
}

type answerResult struct {
	Answer     string             `json:"answer" doc:"Markdown."`
	References []answer.Reference `json:"references"`
}

func answerOf(a answer.Answer) answerBody {
	body := answerBody{QuestionID: a.QuestionID, Question: a.Question, State: a.State, Error: a.Failure, Previous: a.Previous}
	if a.Feedback != nil {
		body.Feedback = &feedbackBody{a.Feedback.Rating, a.Feedback.Comment}
	}
	body.Filter, _ = a.Filter() // one that cannot be read has ended the question as failed
	if a.State == answer.Complete {
		references := make([]answer.Reference, 0, len(a.References))
		for _, r := range a.References {
			r.HTMLURL = uri.Link(r.HTMLURL) // the form of the links in the answer
			references = append(references, r)
		}
		body.Result = &answerResult{a.Markdown, references}
		body.Answer, body.References = &a.Markdown, references
	}
	return body
}

func askerOf(p team.Principal) answer.Asker {
	return answer.Asker{UserID: p.UserID, Sources: p.Sources, Reader: p.Reader}
}

type listAnswersOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []answerBody
}

func (h *answers) list(ctx context.Context, in *struct{ PageParams }) (*listAnswersOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "answers")
	if err != nil {
		return nil, err
	}
	slice, err := h.Answers.List(ctx, p.TeamID, askerOf(p), w)
	if err != nil {
		return nil, err
	}
	out := &listAnswersOutput{Body: make([]answerBody, 0, len(slice.Entries)),
		Link: linkHeader(h.BaseURL, p.TeamID, "answers", in.Limit, nil, slice)}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, answerOf(e.Value))
	}
	return out, nil
}

// QuestionPath is the path of one question.
type QuestionPath struct {
	ID string `path:"questionId"`
}

type askInput struct {
	QuestionPath
	LastEventIDParam
	Body struct {
		Question           string         `json:"question" minLength:"1" maxLength:"10000"`
		PreviousQuestionID string         `json:"previousQuestionId,omitempty" maxLength:"36" doc:"A question that this one follows. If this one cannot be understood alone, it is understood together with it."`
		Filter             *filter.Filter `json:"filter,omitempty"`
	}
}

func (h *answers) ask(ctx context.Context, in *askInput) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	id := in.ID
	if !answer.ValidID(id) {
		return nil, apierr.BadField("/path/questionId", "must be a UUID")
	}
	q := answer.Question{ID: id, Text: in.Body.Question, Filter: in.Body.Filter.OrNil(), Previous: canonicalID(in.Body.PreviousQuestionID), RequestID: requestFrom(ctx).id}
	if wantsEvents(ctx) {
		return nil, h.stream(ctx, p, q)
	}
	state, err := h.Answers.Ask(ctx, p.TeamID, askerOf(p), q)
	noteQuota(ctx, state)
	return nil, err
}

type getAnswerInput struct {
	QuestionPath
	Prefer string `header:"Prefer" doc:"wait=N waits up to N seconds, at most 20, for the answer (RFC 7240)."`
	LastEventIDParam
}

// LastEventIDParam is the header of a client that resumes a stream.
type LastEventIDParam struct {
	LastEventID string `header:"Last-Event-ID" maxLength:"100" doc:"The id of the last event that the client has. A stream starts after it."`
}

type getAnswerOutput struct {
	Status            int
	RetryAfter        string `header:"Retry-After" doc:"While processing: seconds to the next poll."`
	PreferenceApplied string `header:"Preference-Applied"`
	Body              answerBody
}

func (h *answers) get(ctx context.Context, in *getAnswerInput) (*getAnswerOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if wantsEvents(ctx) {
		return h.replay(ctx, p, in.ID, in.LastEventID)
	}
	out := &getAnswerOutput{Status: http.StatusOK}
	wait, wanted := waitOf(in.Prefer)
	if wanted {
		out.PreferenceApplied = fmt.Sprintf("wait=%d", wait/time.Second)
	}
	a, err := h.Answers.Await(ctx, p.TeamID, askerOf(p), in.ID, wait)
	if err != nil {
		return nil, err
	}
	if a.State == answer.Processing {
		out.RetryAfter = "2"
	}
	out.Body = answerOf(a)
	return out, nil
}

// replay replies with the events of an answer that was asked before, or with 204 if the client has
// them all.
func (h *answers) replay(ctx context.Context, p team.Principal, id, lastID string) (*getAnswerOutput, error) {
	a, err := h.Answers.Get(ctx, p.TeamID, askerOf(p), id)
	if err != nil {
		return nil, err
	}
	if a.State == answer.Complete && lastID == completedID(a) {
		return &getAnswerOutput{Status: http.StatusNoContent}, nil
	}
	if err := roomForEvents(ctx); err != nil {
		return nil, err
	}
	events := openEvents(ctx)
	e := newAnswerEvents(events.send)
	e.resume(lastID)
	e.created(a)
	if a.State != answer.Processing {
		events.beforeText()
		e.end(a, func(f answer.Failure) *problem { return failedProblem(ctx, f) })
		return &getAnswerOutput{}, nil
	}
	memory.Yield(ctx)
	h.follow(ctx, p, id, events, e)
	return &getAnswerOutput{}, nil
}

type rateInput struct {
	QuestionPath
	Body feedbackBody
}

func (h *answers) rate(ctx context.Context, in *rateInput) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Answers.Rate(ctx, p.TeamID, askerOf(p), in.ID, answer.Feedback{Rating: in.Body.Rating, Comment: in.Body.Comment})
}

func (h *answers) delete(ctx context.Context, in *QuestionPath) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Answers.Delete(ctx, p.TeamID, askerOf(p), in.ID)
}

// waitOf reads the preference wait (RFC 7240 section 4.3), cut to maxWait. A
// malformed one is ignored.
func waitOf(prefer string) (time.Duration, bool) {
	for preference := range listed(prefer) {
		name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		value, _, _ = strings.Cut(value, ";")
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		return min(time.Duration(seconds)*time.Second, maxWait), true
	}
	return 0, false
}
