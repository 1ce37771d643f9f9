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
		Summary: "Get an answer", Tags: tags, Errors: []int{404}}, h.get)
	register(api, huma.Operation{OperationID: "deleteAnswer", Method: http.MethodDelete, Path: "/answers/{questionId}",
		Summary: "Delete a question and its answer", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.delete)
}

// answerBody is an answer in both forms that clients read: nested in result, and flat.
type answerBody struct {
	QuestionID string             `json:"questionId"`
	Question   string             `json:"question"`
	State      answer.State       `json:"state" enum:"processing,complete,failed"`
	Result     *answerResult      `json:"result,omitempty"`
	Answer     *string            `json:"answer,omitempty" doc:"Markdown; the same as in result."`
	References []answer.Reference `json:"references,omitzero" doc:"The same as in result."`
	Error      *answer.Failure    `json:"error,omitempty"`
}

type answerResult struct {
	Answer     string             `json:"answer" doc:"Markdown."`
	References []answer.Reference `json:"references"`
}

func answerOf(a answer.Answer) answerBody {
	body := answerBody{QuestionID: a.QuestionID, Question: a.Question, State: a.State, Error: a.Failure}
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
	return answer.Asker{UserID: p.UserID, Sources: p.Sources}
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
	Body struct {
		Question string `json:"question" minLength:"1" maxLength:"10000"`
	}
}

func (h *answers) ask(ctx context.Context, in *askInput) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(in.ID)
	if !answer.ValidID(id) {
		return nil, apierr.BadField("/path/questionId", "must be a UUID")
	}
	state, err := h.Answers.Ask(ctx, p.TeamID, askerOf(p),
		answer.Question{ID: id, Text: in.Body.Question, RequestID: requestFrom(ctx).id})
	if state.Name != "" {
		requestFrom(ctx).addQuota(state)
	}
	return nil, err
}

type getAnswerInput struct {
	QuestionPath
	Prefer string `header:"Prefer" doc:"wait=N waits up to N seconds, at most 20, for the answer (RFC 7240)."`
}

type getAnswerOutput struct {
	RetryAfter        string `header:"Retry-After" doc:"While processing: seconds to the next poll."`
	PreferenceApplied string `header:"Preference-Applied"`
	Body              answerBody
}

func (h *answers) get(ctx context.Context, in *getAnswerInput) (*getAnswerOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	out := &getAnswerOutput{}
	wait, wanted := waitOf(in.Prefer)
	if wanted {
		out.PreferenceApplied = fmt.Sprintf("wait=%d", wait/time.Second)
	}
	a, err := h.Answers.Await(ctx, p.TeamID, askerOf(p), strings.ToLower(in.ID), wait)
	if err != nil {
		return nil, err
	}
	if a.State == answer.Processing {
		out.RetryAfter = "2"
	}
	out.Body = answerOf(a)
	return out, nil
}

func (h *answers) delete(ctx context.Context, in *QuestionPath) (*struct{}, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Answers.Delete(ctx, p.TeamID, askerOf(p), strings.ToLower(in.ID))
}

// waitOf reads the preference wait (RFC 7240 section 4.3), cut to maxWait. A
// malformed one is ignored.
func waitOf(prefer string) (time.Duration, bool) {
	for preference := range strings.SplitSeq(prefer, ",") {
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
