package httpapi

import (
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/answer"
)

// chatLimit is where the text of a reply ends. The zero chatLimit has no end.
type chatLimit struct {
	tokens int // of the text before the references; 0: any number
	stops  []string
}

// Reasons why a completion ends.
const (
	finishStop   = "stop"
	finishLength = "length"
)

// atMost makes l end after the given number of tokens, unless it ends before; nil, 0 and -1 change nothing.
func (l *chatLimit) atMost(tokens *int) {
	if tokens != nil && *tokens > 0 && (l.tokens == 0 || *tokens < l.tokens) {
		l.tokens = *tokens
	}
}

// written returns the text of an answer with the references of a as a list at the end. The list is whole also where the text
// before it is cut, unless the client wants nothing after a stop.
func (l chatLimit) written(text string, a answer.Answer) written {
	w := written{askedAt: a.AskedAt.Unix()}
	w.text, w.finish = l.of(text, true)
	if w.finish == finishStop && w.text != text {
		return w
	}
	if w.finish == finishLength {
		w.text += closing(w.text)
	}
	var list string
	list, w.citations = referenceList(a.References, utf8.RuneCountInString(w.text))
	w.text += list
	if end := l.stop(w.text); end < len(w.text) {
		w.text, w.finish = w.text[:end], finishStop
		length := utf8.RuneCountInString(w.text)
		w.citations = slices.DeleteFunc(w.citations, func(c urlCitation) bool { return c.EndIndex > length })
	}
	return w
}

// of returns the part of an answer's text that may be sent, and why it ends there. Of a text that is not whole yet, the end
// is left out that may be the beginning of a stop.
func (l chatLimit) of(text string, whole bool) (part, finish string) {
	end := l.stop(text)
	if end == len(text) && !whole {
		end -= l.begun(text)
	}
	part = text[:end]
	if l.tokens == 0 || tokensOf(part) <= l.tokens {
		return part, finishStop
	}
	at := 0
	for range l.tokens * tokenRunes {
		_, size := utf8.DecodeRuneInString(part[at:])
		at += size
	}
	return part[:at], finishLength
}

// stop returns where the first stop in text begins, and the length of text without one.
func (l chatLimit) stop(text string) int {
	end := len(text)
	for _, stop := range l.stops {
		if at := strings.Index(text, stop); at >= 0 {
			end = min(end, at)
		}
	}
	return end
}

// begun returns the length of the longest end of text that is the beginning of a stop.
func (l chatLimit) begun(text string) int {
	longest := 0
	for _, stop := range l.stops {
		for n := min(len(stop)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// closing returns what ends the code block in which text was cut, so that what follows is not shown as code; empty outside of one.
// A block within a list or a quotation ends with that.
func closing(text string) string {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		if open == "" {
			open = fenceOf(line)
		} else if fence := fenceOf(strings.TrimLeft(line, " ")); strings.HasPrefix(fence, open) && strings.TrimSpace(strings.TrimLeft(line, " "+open[:1])) == "" {
			open = ""
		}
	}
	if open == "" {
		return ""
	}
	return "\n" + open
}

// fenceOf returns the fence of code with which line begins, if it does.
func fenceOf(line string) string {
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if fence := line[:len(line)-len(rest)]; len(fence) >= len("```") && (sign == "~" || !strings.Contains(rest, sign)) {
			return fence
		}
	}
	return ""
}
