package answer

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/search"
	"docent/shared/search/text"
	"docent/shared/table"
)

// Bounds of what a follow-up question takes over from the questions before it.
const (
	contextQuestions = 3
	contextBytes     = 2000
	carriedWords     = 12
)

// followUp makes a follow the question q.Previous, which the asker must be allowed to read. If that question was deleted,
// repeats reports that this one was asked before, when the other still existed.
func (s *Service) followUp(ctx context.Context, teamID string, asker Asker, q Question, a *Answer) (repeats bool, _ error) {
	a.Previous = q.Previous
	a.Context = lastLines(q.Context)
	if q.Previous == "" {
		return false, nil
	}
	before, err := s.Get(ctx, teamID, asker, q.Previous)
	if err == nil {
		a.Context = lastLines(slices.Concat(strings.Split(before.Context, "\n"), []string{before.Question}, q.Context))
		return false, nil
	}
	if !apierr.IsCode(err, apierr.CodeNotFound) {
		return false, err
	}
	item, err := s.Table.Get(ctx, answerKey(q.ID))
	if err == nil && repeated(&item, asker, *a) == nil {
		return true, nil
	}
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return false, err
	}
	return false, apierr.BadField("/previousQuestionId", "is not the id of a question that you may read")
}

// lastLines returns the last questions as lines, the newest last.
func lastLines(questions []string) string {
	var lines []string
	room := contextBytes
	for i := len(questions) - 1; i >= 0 && len(lines) < contextQuestions; i-- {
		line := strings.Join(strings.Fields(questions[i]), " ")
		if line == "" {
			continue
		}
		for len(line) > room {
			_, size := utf8.DecodeLastRuneInString(line)
			line = line[:len(line)-size]
		}
		room -= len(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// leanTerms is the most distinctive words of a short question: one that may need the question before it to be understood.
const leanTerms = 4

// Weights of a carried word. A question such as "And hotels?" names another thing than the one before it; one such as "How long
// does it take?" needs what that one names.
const (
	afterAnd     = 0.2
	afterPronoun = 0.7
)

// asked is a text to search with and to quote for.
type asked struct {
	text    string
	before  string // the questions whose words are in text; empty: text is the question itself
	carried search.Carried
}

// correction matches how a correction of the question before it begins, as in "Sorry, I meant keys".
var correction = regexp.MustCompile(`(?i)^\s*(?:(?:\pL+[,;.!…]+\s*)*` +
	`(?:i meant|ich meinte|je voulais dire|quería decir|quise decir|volevo dire|intendevo|queria dizer|quis dizer|ik bedoelde)[,:…]*` +
	`|(?:sorry|oops|entschuldigung|pardon|désolée?|perdón|scusa|scusi|desculpe|desculpa)[,;.!…]+)\s+`)

// withoutCorrection returns the question without the words that say that it corrects another one.
func withoutCorrection(question string) string {
	if rest := correction.ReplaceAllString(question, ""); rest != "" {
		return rest
	}
	return question
}

// searches returns what to search for, one after the other, until something is found. context has the questions before it. A question that refers to another one,
// as in "How long does it take?", is searched first with the words of the questions before it, then alone. A question that
// is only short, as in "How fast?", is searched alone first. For every other question the earlier ones do not matter.
func searches(question, context string) []asked {
	if context == "" {
		return []asked{{text: question}}
	}
	analyser := text.Analyser{Language: text.LanguageOf(context + " " + question)}
	refers, continues, short := leans(analyser, question)
	question = withoutCorrection(question)
	alone := asked{text: question}
	lines := strings.Split(context, "\n")
	from := len(lines) - 1
	for from > 0 { // back to a question that can be understood alone
		if refers, _, short := leans(analyser, lines[from]); !refers && !short {
			break
		}
		from--
	}
	words := carriedFrom(analyser, question, lines[from:])
	together := asked{text: question + words, before: strings.Join(lines[from:], "\n")}
	switch {
	case continues:
		together.carried = search.Carried{Words: words, Weight: afterAnd, Meaning: question + " " + lines[len(lines)-1]}
	case refers:
		together.carried = search.Carried{Words: words, Weight: afterPronoun}
	}
	switch {
	case refers:
		return []asked{together, alone}
	case short:
		return []asked{alone, together}
	}
	return []asked{alone}
}

// Bounds of a question in a script without spaces, in letters: leanLetters as leanTerms, and shortLetters of a short one.
const (
	leanLetters  = 20
	shortLetters = 6
)

// The referring words of Japanese and of Chinese, which stand without spaces, and those that continue at the beginning. "その他" and
// "其他" are "other". A connective such as "それでは" begins as a referring word does, and only continues.
var (
	japaneseReferences  = regexp.MustCompile(`[そこあ](?:れ|こ|ち|の[^他]|んな)`)
	japaneseFirst       = regexp.MustCompile(`^(?:では|じゃあ|でも|また|そして)`)
	japaneseConnectives = regexp.MustCompile(`^(?:それでは|それじゃあ?|それから|それなら|それとも|(?:その(?:上|うえ|ほか)|それに|そこで)、)`)
	chineseReferences   = regexp.MustCompile(`(?:^|[^其])[它他她]|[这這]|那[个個些里裡样樣]`)
	chineseFirst        = regexp.MustCompile(`^(?:那|还有|還有|但|然后|然後)`)
	chineseConnectives  = regexp.MustCompile(`^(?:(?:[这那]样的话|[這那]樣的話|这么说|這麼說)|(?:[这那]样|[這那]樣)[，,])`)
)

// leansUnspaced is leans for a question mostly in a script without spaces. ok is false for every other question.
func leansUnspaced(question string) (refers, continues, short, ok bool) {
	letters, unspaced := 0, 0
	references, first, connectives := chineseReferences, chineseFirst, chineseConnectives
	for _, r := range question {
		if unicode.IsLetter(r) {
			letters++
			if text.Unspaced(r) {
				unspaced++
			}
			if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
				references, first, connectives = japaneseReferences, japaneseFirst, japaneseConnectives
			}
		}
	}
	if unspaced == 0 || 2*unspaced < letters {
		return false, false, false, false
	}
	if letters > leanLetters {
		return false, false, false, true
	}
	question = strings.TrimSpace(question)
	asks := strings.HasSuffix(question, "?") || strings.HasSuffix(question, "？")
	rest := connectives.ReplaceAllString(question, "")
	refers, continues = references.MatchString(rest), rest != question || first.MatchString(question)
	return refers || continues, continues && !refers, letters <= shortLetters && asks, true
}

// leans reports whether a question refers to an earlier one, whether it does so only by beginning with a word such as "and" or
// because it is a correction, and whether it is short: then it may refer to one.
func leans(analyser text.Analyser, question string) (refers, continues, short bool) {
	if refers, continues, short, ok := leansUnspaced(question); ok {
		return refers, continues, short
	}
	rest := withoutCorrection(question)
	continues = rest != question
	question = rest
	distinct := map[string]bool{}
	for _, term := range analyser.AppendTerms(nil, question) {
		if term != "" {
			distinct[term] = true
		}
	}
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if len(distinct) > leanTerms || len(words) == 0 {
		return false, false, false
	}
	language := analyser.Language.Code()
	for i, w := range words {
		if language != "de" || i == 0 || w != "Sie" { // which is "you"
			words[i] = strings.ToLower(w)
		}
	}
	for _, at := range []referring{references["en"], references[language]} {
		continues = continues || slices.Contains(at.first, words[0])
		refers = refers || slices.Contains(at.last, words[len(words)-1]) ||
			slices.ContainsFunc(words, func(w string) bool { return slices.Contains(at.anywhere, w) })
	}
	refers = refers || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(askMore, w) })
	short = len(distinct) <= 2 && strings.HasSuffix(strings.TrimSpace(question), "?")
	return refers || continues, continues && !refers, short
}

// referring are words that refer to what was said before: anywhere in a question, as its first word, and as its last word.
type referring struct{ anywhere, first, last []string }

// askMore are words of questions such as "Give me another example, please.", which name nothing without the question before.
var askMore = strings.Fields("a an and another any can could detail details example examples explain for further give in me more of please" +
	" some sample show tell that the you beispiel beispiele bitte dafür ein gib mir nenne noch und weiteres zeig donne et exemple moi montre un dame ejemplo otro y")

// references are the referring words of languages. Those of English count in all, because a conversation may change its
// language. Words that as often do not refer, such as "es" in "Gibt es" and "ce" in "Est-ce que", are left out.
var references = map[string]referring{
	"en": {
		strings.Fields("it its it's they them their he him his she her this these those ones else instead again"),
		strings.Fields("and but or so then also why"), strings.Fields("that one other others"),
	},
	"de": {
		strings.Fields("er ihn ihm ihnen sie dabei dadurch dafür dagegen damit danach daran darauf daraus darin darüber davon dazu diese diesem diesen dieser dieses stattdessen"),
		strings.Fields("und aber oder dann auch"), strings.Fields("das es die den dem andere anderen"),
	},
	"es": {
		strings.Fields("él ella ello ellos ellas ese esa eso esos esas este esto estos estas su sus"),
		strings.Fields("y pero entonces también"), nil,
	},
	"fr": {
		strings.Fields("elle ils elles ça cela ceci celui celle ceux celles ces cet cette sa ses leur leurs"),
		strings.Fields("et mais donc alors aussi"), nil,
	},
	"it": {
		strings.Fields("esso essa essi esse ciò lui loro questo questa questi queste quello quella quelli quelle suo sua suoi sue"),
		strings.Fields("e ed ma però quindi allora anche"), nil,
	},
	"pt": {
		strings.Fields("ele ela eles elas isso isto aquilo esse essa esses essas este esta estes estas seu sua seus suas dele dela deles delas"),
		strings.Fields("e mas então também"), nil,
	},
	"nl": {
		strings.Fields("hij hem hun zij ze deze daarmee daarvan daarvoor ermee ervan ervoor"),
		strings.Fields("en maar dus dan ook"), strings.Fields("dat dit het die"),
	},
}

// carriedFrom returns the words of lines that the question does not repeat, each after a space, those of the last line first.
func carriedFrom(analyser text.Analyser, question string, lines []string) string {
	seen := map[string]bool{}
	for _, term := range analyser.AppendTerms(nil, question) {
		seen[term] = true
	}
	var out strings.Builder
	words := 0
	for _, line := range slices.Backward(lines) {
		for _, word := range strings.Fields(line) {
			added := false
			for _, term := range analyser.AppendTerms(nil, word) {
				if term != "" && !seen[term] {
					seen[term], added = true, true
				}
			}
			if added && words < carriedWords {
				words++
				out.WriteString(" " + strings.Trim(word, "?!.,;:"))
			}
		}
	}
	return out.String()
}
