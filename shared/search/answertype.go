package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// answerType is the kind of answer that a question asks for, beyond its own words.
type answerType struct {
	holds func(sentences []string) bool // reports whether these contain the answer; nil: nothing particular is asked for
	steps bool                          // the question asks how to do something
}

var (
	asksNumber = regexp.MustCompile(`(?i)\b(how (many|much|long|often|old|far|big|large|tall|high|deep|fast|wide|heavy)|(what|which)( is| are| was|'s)?( the)?( default| maximum| minimum| total| current)? (percentage|percent|number|amount|price|size|version|port|interval|timeout|limit|duration))\b`)
	asksDate   = regexp.MustCompile(`(?i)\b(when|(what|which) (year|date|day|month|decade|century))\b`)
	asksName   = regexp.MustCompile(`(?i)\b(who|whom|whose|where)\b`)
	asksSteps  = regexp.MustCompile(`(?i)\bhow (to|((do|can|could|should|would|must|may|might) (i|we|you|one|someone|somebody|people|users|admins)))\b`)
	asksReason = regexp.MustCompile(`(?i)\bwhy\b`)

	number = regexp.MustCompile(`(?i)\d[\d.,]*|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|twice|once)\b`)
	date   = regexp.MustCompile(`(?i)\b(1\d{3}|20\d{2}|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{1,2}(st|nd|rd|th)|century|midnight|noon|seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b|\b\d{1,2}[:/.-]\d{1,2}`)
	reason = regexp.MustCompile(`(?i)\b(because|due to|so that|since|in order to|as a result|caused? by|reason)\b`)
)

// answerTypeOf returns the type of answer that question asks for, or nil if it shows
// none.
func answerTypeOf(question string) *answerType {
	own := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(question), notWord) {
		own[w] = true
	}
	matches := func(re *regexp.Regexp) *answerType {
		return &answerType{holds: func(sentences []string) bool {
			for _, s := range sentences {
				for _, m := range re.FindAllString(s, -1) {
					if !own[strings.ToLower(strings.Trim(m, ".,"))] {
						return true
					}
				}
			}
			return false
		}}
	}
	switch {
	case asksNumber.MatchString(question):
		return matches(number)
	case asksDate.MatchString(question):
		return matches(date)
	case asksName.MatchString(question):
		return &answerType{holds: func(sentences []string) bool { return holdsName(sentences, own) }}
	case asksReason.MatchString(question):
		return matches(reason)
	}
	if asksSteps.MatchString(question) {
		return &answerType{steps: true}
	}
	return nil
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// holdsName reports whether the sentences contain a name: a capitalised word that does not
// start a sentence and is not in own, the words of the question.
func holdsName(sentences []string, own map[string]bool) bool {
	for _, s := range sentences {
		for i, w := range strings.FieldsFunc(s, notWord) {
			first, _ := utf8.DecodeRuneInString(w)
			if i > 0 && unicode.IsUpper(first) && !own[strings.ToLower(w)] && w != "I" {
				return true
			}
		}
	}
	return false
}

// value returns 1 if the sentences contain what is asked for, 0 if not, and 0.5 if the
// question asks for nothing particular.
func (c *answerType) value(sentences []string) float64 {
	switch {
	case c == nil || c.holds == nil:
		return 0.5
	case c.holds(sentences):
		return 1
	}
	return 0
}

// asksSteps reports whether the question asks how to do something.
func (c *answerType) asksSteps() bool { return c != nil && c.steps }
