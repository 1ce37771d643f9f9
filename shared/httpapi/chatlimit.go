package httpapi

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// chatLimit is where the text of a completion ends. The zero chatLimit has no end.
type chatLimit struct {
	tokens int // 0: any number
	stops  []string
}

// Reasons why a completion ends.
const (
	finishStop   = "stop"
	finishLength = "length"
)

// of returns the part of text that may be sent, and why it ends there. Of a text that is not whole yet, the end
// is left out that may be the beginning of a stop.
func (l chatLimit) of(text string, whole bool) (part, finish string) {
	end := len(text)
	for _, stop := range l.stops {
		if at := strings.Index(text, stop); at >= 0 {
			end = min(end, at)
		}
	}
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

// within returns those of citations that are in text.
func within(citations []completionCitation, text string) []completionCitation {
	length := utf8.RuneCountInString(text)
	return slices.DeleteFunc(citations, func(c completionCitation) bool { return c.Citation.EndIndex > length })
}
