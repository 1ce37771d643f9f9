package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"docent/shared/document"
	"docent/shared/source"
)

// For tests of what no request shows alone.
var (
	DecodeCursor = decodeCursor
	EncodeCursor = encodeCursor
	CheckURI     = document.CheckURI
	WaitOf       = waitOf
	LevelOf      = levelOf
	Closing      = closing

	WithoutCodePrompts = withoutCodePrompts
)

// PathsOf returns the paths of an area's operations.
func PathsOf(providers []source.Provider, area Area) []string {
	m := newMux(NewRoom())
	services := Services{Sources: &source.Service{Providers: providers}}
	return slices.Sorted(maps.Keys(m.register(services, []Area{area}).OpenAPI().Paths))
}

// Inflate is inflate outside of a request.
func Inflate(packed []byte) ([]byte, error) { return inflate(context.Background(), packed, nil) }

// UnpackBody is unpackBody outside of a request.
func UnpackBody(body string) (string, error) { return unpackBody(context.Background(), body) }

// DescribedOperations returns the ids of the operations that descriptions has a text for.
func DescribedOperations() []string { return slices.Sorted(maps.Keys(descriptions)) }

// ShownExamples returns the requests and replies that the document shows, by operation.
func ShownExamples() map[string][2]string {
	all := map[string][2]string{}
	for id, e := range examples {
		all[id] = [2]string{e.request, e.reply}
	}
	return all
}

// The ids in ShownExamples.
const (
	ExampleCollection = exampleCollection
	ExampleDocument   = exampleDocument
	ExampleQuestion   = exampleQuestion
)

// NewCheckedStream returns the send, beforeText and close of a stream to w, which refusal ends.
func NewCheckedStream(w http.ResponseWriter, refusal func() []byte) (send func(name, id string, data any), beforeText, end func()) {
	s := newEventStream(w, time.Now(), refusal)
	return s.send, s.beforeText, s.close
}

// NewEventStream returns the send and close of a stream to w, which refusal ends, unless it is nil.
func NewEventStream(w http.ResponseWriter, refusal func() []byte) (send func(name, id string, data any), end func()) {
	s := newEventStream(w, time.Now(), refusal)
	return s.send, s.close
}

// ReadingPatterns are the operations that read documents.
var ReadingPatterns = readingPatterns

// ScopesOf returns the scopes of an operation.
var ScopesOf = scopesOf

// SignOnChanges are the operations that need a full key.
var SignOnChanges = signOnChanges

// ScopedPatterns returns the operations in the table of scopes.
func ScopedPatterns() []string { return slices.Collect(maps.Keys(scopes)) }

// IsWithoutKey reports whether the operation at pattern needs no key.
func IsWithoutKey(pattern string) bool { return isOpen(pattern) || isSigned(pattern) }
