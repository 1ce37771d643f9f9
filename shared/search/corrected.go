package search

import (
	"strings"
	"unicode"
)

// correctMeaning embeds the question again if words of it are misspelt: a model knows little of such words, and
// the vector of the question as it was written is far from the passages that it is about.
func (s *searchRun) correctMeaning() {
	if s.near == nil {
		return
	}
	corrected := correctedText(s.rankings, s.query.meaning())
	if corrected == s.query.meaning() {
		return
	}
	if v := s.index.embedQuestion(s.ctx, corrected)(); v != nil && len(v.Values) == len(s.near.question.Values) {
		s.near.ask(*v)
	}
}

// correctedText returns a question in which the words that rankings respelled are replaced. A word that a passage of any
// ranking contains is right.
func correctedText(rankings []*ranking, question string) string {
	respelled := false
	for _, r := range rankings {
		respelled = respelled || len(r.respelled) > 0
	}
	if !respelled {
		return question
	}
	var out strings.Builder
	for len(question) > 0 {
		end := strings.IndexFunc(question, notLetter)
		if end < 0 {
			end = len(question)
		}
		word := question[:end]
		rest := strings.IndexFunc(question[end:], unicode.IsLetter)
		if rest < 0 {
			rest = len(question) - end
		}
		out.WriteString(correctedWord(rankings, word))
		out.WriteString(question[end : end+rest])
		question = question[end+rest:]
	}
	return out.String()
}

func notLetter(c rune) bool { return !unicode.IsLetter(c) }

// correctedWord returns word, or what replaces it: of several corrections, the one in most passages.
func correctedWord(rankings []*ranking, word string) string {
	corrected, most := word, 0
	for _, r := range rankings {
		terms := r.profile.in(r.language).AppendTerms(nil, word)
		if len(terms) != 1 {
			return word
		}
		near, ok := r.respelled[terms[0]]
		if !ok {
			if t := r.byText[terms[0]]; t != nil && t.df > 0 {
				return word
			}
			continue
		}
		if df := r.byText[near].df; df > most {
			corrected, most = withEnding(near, terms[0], strings.ToLower(word)), df
		}
	}
	return corrected
}

// withEnding returns the word whose stem is near: it ends as word does, whose stem is stem.
func withEnding(near, stem, word string) string {
	same := 0
	for same < min(len(stem), len(word)) && stem[same] == word[same] {
		same++
	}
	if !strings.HasSuffix(near, stem[same:]) || strings.HasSuffix(near, word[same:]) {
		return near
	}
	return near[:len(near)-len(stem)+same] + word[same:]
}
