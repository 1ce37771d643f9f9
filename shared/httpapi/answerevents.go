package httpapi

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"unicode/utf8"

	"docent/shared/answer"
	"docent/shared/uri"
)

// The ids of an answer's events, which clients send back as Last-Event-ID. The id of a text event
// is its place, textPlace and the bytes of text so far, with a checksum of that text: an answer that
// another worker finished may have other text. The end comes one place after the whole text.
const (
	createdPlace = 1
	sourcesPlace = 2
	textPlace    = sourcesPlace
)

// The data of events.
type (
	createdEvent struct {
		QuestionID string       `json:"questionId"`
		State      answer.State `json:"state"`
	}
	sourcesEvent struct {
		Sources []eventSource `json:"sources"`
	}
	eventSource struct {
		Title string `json:"title,omitempty"`
		URL   string `json:"url"`
	}
	textEvent struct {
		Text       string `json:"text"`
		References []int  `json:"references"`
	}
)

// answerEvents sends the events of one answer, each part of the text once.
type answerEvents struct {
	textEvents
	seen    int    // the place up to which the client has everything, at most sourcesPlace
	resumed string // the id of the last event that the client has, until the text is known
}

// textEvents sends a text that grows, and what it cites.
type textEvents struct {
	send    func(name, id string, data any)
	id      func(text string) string // of an event after which the client has text
	sources map[string]int           // places in the list of sources, by URL
	text    string                   // that the client has
	stale   bool                     // the client has another text instead
}

func newAnswerEvents(send func(name, id string, data any)) *answerEvents {
	return &answerEvents{textEvents: textEvents{send: send, id: textID}}
}

func textID(text string) string {
	return fmt.Sprintf("%d-%08x", textPlace+len(text), crc32.ChecksumIEEE([]byte(text)))
}

// resume makes e leave out what a client has that received the event lastID. It leaves out
// nothing if it does not know the id.
func (e *answerEvents) resume(lastID string) {
	number, _, _ := strings.Cut(lastID, "-")
	place, err := strconv.Atoi(number)
	if err != nil || place < createdPlace {
		return
	}
	e.seen = min(place, sourcesPlace)
	e.resumed, e.stale = lastID, place > textPlace
}

// has finds out, once, how much of the final text the client has that resumes.
func (e *answerEvents) has(text string) {
	if !e.stale || e.resumed == "" {
		return
	}
	number, _, _ := strings.Cut(e.resumed, "-")
	place, _ := strconv.Atoi(number)
	if n := place - textPlace; n <= len(text) && textID(text[:n]) == e.resumed && (n == len(text) || utf8.RuneStart(text[n])) {
		e.text, e.stale = text[:n], false
	}
	e.resumed = ""
}

// created sends that there is an answer.
func (e *answerEvents) created(a answer.Answer) {
	if e.seen < createdPlace {
		e.send("answer.created", strconv.Itoa(createdPlace), createdEvent{a.QuestionID, a.State})
	}
}

// found sends the documents that the answer is made from. A client that resumes receives them
// again, without an id, because the references of text events are places in this list.
func (e *answerEvents) found(documents []answer.Reference) {
	id := strconv.Itoa(sourcesPlace)
	if e.seen >= sourcesPlace {
		id = ""
	}
	data := sourcesEvent{Sources: make([]eventSource, 0, len(documents))}
	e.sources = map[string]int{}
	for i, d := range documents {
		e.sources[uri.WithoutPage(d.HTMLURL)] = i
		data.Sources = append(data.Sources, eventSource{d.Title, uri.Link(d.HTMLURL)})
	}
	e.send("sources", id, data)
}

// written sends what has been added to the text. A text that does not continue the one before is
// not final, and waits.
func (e *textEvents) written(text string, cited []string) {
	if rest, ok := strings.CutPrefix(text, e.text); ok && rest != "" && !e.stale {
		e.send("text.delta", e.id(text), textEvent{rest, e.places(cited)})
		e.text = text
	}
}

// complete sends the rest of the final text, or all of it in place of what was sent.
func (e *textEvents) complete(text string, cited []string) {
	if e.stale || !strings.HasPrefix(text, e.text) {
		e.send("text.replace", e.id(text), textEvent{text, e.places(cited)})
		e.text, e.stale = text, false
	}
	e.written(text, cited)
}

// places returns the places of the cited documents in the list of sources.
func (e *textEvents) places(cited []string) []int {
	places := make([]int, 0, len(cited))
	for _, url := range cited {
		if i, ok := e.sources[uri.WithoutPage(url)]; ok {
			places = append(places, i)
		}
	}
	return places
}

func urlsOf(references []answer.Reference) []string {
	urls := make([]string, 0, len(references))
	for _, r := range references {
		urls = append(urls, r.HTMLURL)
	}
	return urls
}

// end sends the final state of a: what is not sent yet of its text and its whole body, or why it
// failed.
func (e *answerEvents) end(a answer.Answer, failed func(answer.Failure) *problem) {
	if a.State == answer.Failed {
		e.send("error", "", failed(*a.Failure))
		return
	}
	if e.sources == nil {
		e.found(a.References)
	}
	e.has(a.Markdown)
	e.complete(a.Markdown, urlsOf(a.References))
	e.send("answer.completed", completedID(a), answerOf(a))
}

// completedID is the id of the last event of a complete answer.
func completedID(a answer.Answer) string { return strconv.Itoa(textPlace + len(a.Markdown) + 1) }
