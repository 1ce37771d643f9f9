package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"docent/shared/search"
	"docent/shared/search/text"
)

// Bounds of a text that is split into questions. A longer one describes a case, and its parts belong together.
const (
	maxParts      = 3
	maxSplitBytes = 400
)

var (
	// asking matches a word that asks, in the languages of references.
	asking = `(?:how|what|which|who|whom|whose|where|when|why|wie|was|welche[mnrs]?|wer|wann|wo|warum|wieso|cómo|qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|cuánt[ao]s?` +
		`|comment|quel(?:le)?s?|quand|où|pourquoi|combien|come|cosa|qual[ei]|quando|dove|perché|como|qua(?:l|is)|quem|onde|hoe|wat|welke?|wie|wanneer|waar|waarom)\s`
	nextQuestion = regexp.MustCompile(`(?i),?\s+(?:and|und|y|et|e|ed|en)\s+(` + asking + `)`)
	asks         = regexp.MustCompile(`(?i)(?:^|[\s("¿])` + asking)
	compares     = regexp.MustCompile(`(?i)(?:^|\s)(?:between|versus|vs\.?|zwischen|entre|tussen|tra)\s`)
)

// partsOf returns the questions that a text asks one after the other, or the text if it asks one.
func partsOf(question string) []string {
	if len(question) > maxSplitBytes || compares.MatchString(question) {
		return []string{question}
	}
	var parts []string
	rest := strings.TrimSpace(question)
	for len(parts) < maxParts-1 {
		at, next := questionEnd(rest)
		if at < 0 {
			break
		}
		parts = append(parts, strings.TrimSpace(rest[:at]))
		rest = strings.TrimSpace(rest[next:])
	}
	return append(parts, rest)
}

// questionEnd returns where the first question of s ends and where the next one begins, or -1 if s is one question.
func questionEnd(s string) (end, next int) {
	for i, r := range s {
		after := s[i+utf8.RuneLen(r):]
		if (r == '?' && strings.HasPrefix(after, " ") || r == '？') && isQuestion(after) && namesSomething(s[:i]) {
			return i + utf8.RuneLen(r), i + utf8.RuneLen(r)
		}
	}
	for _, at := range nextQuestion.FindAllStringSubmatchIndex(s, -1) {
		if asks.MatchString(s[:at[0]]+" ") && namesSomething(s[:at[0]]) && namesSomething(s[at[2]:]) {
			return at[0], at[2]
		}
	}
	return -1, -1
}

// isQuestion reports whether s ends as a question and names something.
func isQuestion(s string) bool {
	s = strings.TrimSpace(s)
	return (strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")) && namesSomething(s)
}

// namesSomething reports whether s has a word to search for.
func namesSomething(s string) bool {
	analyser := text.Analyser{Language: text.LanguageOf(s)}
	for _, term := range analyser.AppendTerms(nil, s) {
		if term != "" {
			return true
		}
	}
	return false
}

// searchesOfPart returns what to search for, as searches does, to answer part, which follows the questions before it in one text,
// and those of context. A short question there refers to the one before it.
func searchesOfPart(before []string, part, context string) []asked {
	texts := searches(part, lastLines(slices.Concat(strings.Split(context, "\n"), before)))
	if len(before) > 0 && texts[0].before == "" {
		slices.Reverse(texts)
	}
	return texts
}

// joined returns the passages that were found for all parts, the best of each first.
func joined(parts []search.Part) search.Result {
	var all search.Result
	type passage struct {
		document uuid.UUID
		text     string
	}
	known := map[passage]bool{}
	for rank, more := 0, true; more; rank++ {
		more = false
		for _, p := range parts {
			r := p.Result
			if !r.Found() {
				continue
			}
			all.Passages, all.HasTerms = r.Passages, true
			if rank < len(r.Best) {
				more = true
				if of := (passage{r.Best[rank].Document, r.Best[rank].Passage}); !known[of] {
					known[of] = true
					all.Best = append(all.Best, r.Best[rank])
				}
			}
		}
	}
	return all
}
