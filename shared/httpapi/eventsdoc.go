package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

const (
	answerEventsDoc = "Server-sent events: answer.created with questionId and state; sources with what was found, " +
		"as title and url; text.delta with the next text and, as places in sources, all references so far; text.replace with text that replaces all before it; " +
		"answer.completed with the same body as GET; error with a problem. Only text that its sources support is sent. " +
		"A comment is sent every 10 seconds. A stream that ends without answer.completed or error is continued by GET with the header Last-Event-ID."
	researchEventsDoc = "Server-sent events: sources; text.delta with the next text and, as places in sources, all references so far; " +
		"text.replace with text that replaces all before it; answer.completed with the same body as without streaming; error with a problem."
)

// describeEvents documents that an operation replies with events if they are asked for.
func describeEvents(api huma.API, path, method, events string) {
	item := api.OpenAPI().Paths[path]
	op := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post}[method]
	const ok = "200"
	if op.Responses[ok] == nil {
		op.Responses[ok] = &huma.Response{Description: "Events, if they are asked for."}
	}
	if op.Responses[ok].Content == nil {
		op.Responses[ok].Content = map[string]*huma.MediaType{}
	}
	op.Responses[ok].Content[eventsType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: events}}
}
