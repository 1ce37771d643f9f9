package httpapi

import (
	"context"
	"fmt"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/memory"
)

type getContentInput struct {
	Body struct {
		URLs []string `json:"urls" minItems:"1" maxItems:"10" doc:"Absolute http or https URLs of at most 2048 characters."`
	}
}

type getContentOutput struct {
	Body struct {
		Results []urlContent `json:"results" doc:"In the order of the request."`
	}
}

type urlContent struct {
	URL        string    `json:"url"`
	Title      string    `json:"title,omitempty"`
	Content    string    `json:"content,omitempty"`
	SourceType string    `json:"sourceType,omitempty"`
	Provider   string    `json:"provider,omitempty"`
	Truncated  bool      `json:"truncated,omitempty" doc:"The content was cut at 250,000 bytes."`
	Error      *urlError `json:"error,omitempty"`
}

type urlError struct {
	Code   string `json:"code" enum:"not-found,unsupported-url,blocked-url,fetch-failed,timeout"`
	Detail string `json:"detail"`
}

// contentCost is the memory that one byte of content needs while a reply is made. A reply
// to an agent contains it twice, once as JSON in JSON.
const contentCost = 8

func (h *contexts) get(ctx context.Context, in *getContentInput) (*getContentOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	for i, u := range in.Body.URLs {
		if n := utf8.RuneCountInString(u); n < 1 || n > 2048 {
			return nil, apierr.BadField(fmt.Sprintf("/urls/%d", i), "must have 1 to 2048 characters")
		}
	}
	all, err := h.Questions.Get(ctx, p.TeamID, askedBy(p), in.Body.URLs)
	if err != nil {
		return nil, err
	}
	length := 0
	for _, g := range all {
		length += len(g.Content)
	}
	if err := memory.Reserve(ctx, contentCost*int64(length)); err != nil {
		return nil, err
	}
	out, found := &getContentOutput{}, 0
	for _, g := range all {
		one := urlContent{URL: g.URL, Title: g.Title, Content: g.Content, SourceType: g.SourceType, Provider: g.Provider, Truncated: g.Truncated}
		if g.Error != nil {
			one.Error = &urlError{g.Error.Code, g.Error.Detail}
		} else {
			found++
		}
		out.Body.Results = append(out.Body.Results, one)
	}
	noteSources(ctx, found, nil)
	return out, nil
}
