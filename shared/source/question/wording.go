package question

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"docent/shared/search"
)

// Bounds of what a question is turned into.
const (
	maxParts       = 4
	titleDocuments = 3 // whose titles and headings widen a question
	maxWording     = 2000
)

var (
	quotedText = regexp.MustCompile(`"([^"]{2,200})"`)
	identifier = regexp.MustCompile(`[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\.[A-Za-z]|\w/\w|\(\)|[A-Za-z]\d|\d[A-Za-z]`)
	difference = regexp.MustCompile(`(?i)^\s*(?:what(?:'s| is| are)\s+)?(?:the\s+)?differences?\s+between\s+(.+?)\s+and\s+(.+?)\s*\??\s*$`)
	versus     = regexp.MustCompile(`(?i)^\s*(.+?)\s+(?:vs\.?|versus)\s+(.+?)\s*\??\s*$`)
	questions  = regexp.MustCompile(`(?i)\s*(?:,\s*)?\b(?:and|or)\s+((?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|could|should|will)\s)`)
)

// rarer is the half of a question that says most: what is quoted or looks like an
// identifier, and the words that fewest of the passages that were found hold.
// Empty when that is all of it or nothing.
func rarer(question string, found search.Result) string {
	var kept []string
	for _, m := range quotedText.FindAllStringSubmatch(question, -1) {
		kept = append(kept, m[1])
	}
	type rated struct {
		text  string
		place int
		held  int
	}
	var words []rated
	seen := map[string]bool{}
	for place, w := range strings.Fields(quotedText.ReplaceAllString(question, " ")) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '(' && r != ')' })
		low := strings.ToLower(w)
		if w == "" || seen[low] || slices.Contains(hollow, low) {
			continue
		}
		seen[low] = true
		held := 0
		for _, h := range found.Best {
			if strings.Contains(strings.ToLower(h.Passage), low) {
				held++
			}
		}
		if held == 0 {
			held = len(found.Best) + 1 // unknown words find nothing
		}
		if identifier.MatchString(w) {
			held = -1
		}
		words = append(words, rated{w, place, held})
	}
	slices.SortStableFunc(words, func(a, b rated) int { return cmp.Compare(a.held, b.held) })
	half := words[:(len(words)+1)/2]
	if len(words) < 2 || len(half) == len(words) {
		return ""
	}
	slices.SortFunc(half, func(a, b rated) int { return a.place - b.place })
	for _, w := range half {
		kept = append(kept, w.text)
	}
	return clip(strings.Join(kept, " "))
}

// widened is a question with the titles and heading paths of its best documents at
// half the weight of its own words. Empty when nothing was found.
func widened(question string, found search.Result) string {
	var more []string
	for _, h := range found.Hits[:min(titleDocuments, len(found.Hits))] {
		more = append(more, h.Title, h.Heading)
	}
	text := strings.TrimSpace(strings.Join(more, " "))
	if text == "" {
		return ""
	}
	return clip(question + "\n" + question + "\n" + text)
}

func clip(text string) string {
	if len(text) > maxWording {
		text = strings.ToValidUTF8(text[:maxWording], "")
	}
	return text
}

// parts cuts a question that asks several things, at most maxParts. A part without
// words of its own joins the one before it.
func parts(question string) []string {
	for _, pair := range []*regexp.Regexp{difference, versus} {
		if m := pair.FindStringSubmatch(question); m != nil && telling(m[1]) && telling(m[2]) {
			return []string{strings.TrimSpace(m[1]), strings.TrimSpace(m[2])}
		}
	}
	var out []string
	add := func(text string) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case len(out) > 0 && (!telling(text) || len(out) == maxParts):
			out[len(out)-1] += " " + text
		case len(out) == 1 && !telling(out[0]):
			out[0] += " " + text
		default:
			out = append(out, text)
		}
	}
	for _, piece := range strings.FieldsFunc(strings.ReplaceAll(question, "?", "?;"), func(r rune) bool { return r == ';' }) {
		for {
			at := questions.FindStringSubmatchIndex(piece)
			if at == nil || !telling(piece[:at[0]]) {
				break
			}
			add(piece[:at[0]])
			piece = piece[at[2]:]
		}
		add(piece)
	}
	return out
}

// telling tells whether a text has a word that could be looked for.
func telling(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		w = strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		return w != "" && !slices.Contains(hollow, w)
	})
}
