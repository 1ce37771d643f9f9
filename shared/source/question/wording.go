package question

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/search"
)

// Bounds of the texts that a question is turned into.
const (
	maxParts       = 4
	titleDocuments = 3    // whose titles and headings widen a question
	maxWording     = 2000 // bytes
)

var (
	quotedText = regexp.MustCompile(`"([^"]{2,200})"`)
	identifier = regexp.MustCompile(`[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\.[A-Za-z]|\w/\w|\(\)|[A-Za-z]\d|\d[A-Za-z]`)
	difference = regexp.MustCompile(`(?i)^\s*(?:what(?:'s| is| are)\s+)?(?:the\s+)?differences?\s+between\s+(.+?)\s+and\s+(.+?)\s*\??\s*$`)
	versus     = regexp.MustCompile(`(?i)^\s*(.+?)\s+(?:vs\.?|versus)\s+(.+?)\s*\??\s*$`)
	questions  = regexp.MustCompile(`(?i)\s*(?:,\s*)?\b(?:and|or)\s+((?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|could|should|will)\s)`)
)

// rarestHalf returns the most specific half of a question: quoted texts, identifiers
// and the words that the fewest found passages contain. It is empty if that is all
// of the question or nothing.
func rarestHalf(question string, found search.Result) string {
	var kept []string
	for _, m := range quotedText.FindAllStringSubmatch(question, -1) {
		kept = append(kept, m[1])
	}
	type rated struct {
		text  string
		index int
		held  int
	}
	var words []rated
	seen := map[string]bool{}
	for index, w := range strings.Fields(quotedText.ReplaceAllString(question, " ")) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '(' && r != ')' })
		low := strings.ToLower(w)
		if w == "" || seen[low] || slices.Contains(fillers, low) {
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
			held = len(found.Best) + 1 // a word that no passage contains finds nothing
		}
		if identifier.MatchString(w) {
			held = -1
		}
		words = append(words, rated{w, index, held})
	}
	slices.SortStableFunc(words, func(a, b rated) int { return cmp.Compare(a.held, b.held) })
	half := words[:(len(words)+1)/2]
	if len(words) < 2 || len(half) == len(words) {
		return ""
	}
	slices.SortFunc(half, func(a, b rated) int { return a.index - b.index })
	for _, w := range half {
		kept = append(kept, w.text)
	}
	return clip(strings.Join(kept, " "))
}

// widened returns a question with the titles and heading paths of its best documents
// at half the weight of its own words. It is empty if nothing was found.
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

// parts splits a question that asks several things into at most maxParts. A part
// without searchable words joins the one before it.
func parts(question string) []string {
	for _, pair := range []*regexp.Regexp{difference, versus} {
		if m := pair.FindStringSubmatch(question); m != nil && searchable(m[1]) && searchable(m[2]) {
			return []string{strings.TrimSpace(m[1]), strings.TrimSpace(m[2])}
		}
	}
	var out []string
	add := func(text string) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case len(out) > 0 && (!searchable(text) || len(out) == maxParts):
			out[len(out)-1] += " " + text
		case len(out) == 1 && !searchable(out[0]):
			out[0] += " " + text
		default:
			out = append(out, text)
		}
	}
	for _, piece := range pieces(question) {
		for {
			at := questions.FindStringSubmatchIndex(piece)
			if at == nil || !searchable(piece[:at[0]]) {
				break
			}
			add(piece[:at[0]])
			piece = piece[at[2]:]
		}
		add(piece)
	}
	return out
}

// pieces cuts a question after question marks and at semicolons. Signs within a word, such as those of an address, are not cut at.
func pieces(question string) []string {
	var out []string
	start := 0
	for i := 0; i < len(question); {
		r, size := utf8.DecodeRuneInString(question[i:])
		end := i + size
		next, _ := utf8.DecodeRuneInString(question[end:])
		switch {
		case !strings.ContainsRune("?;？；؟", r), strings.ContainsRune("?;؟", r) && end < len(question) && !unicode.IsSpace(next):
		case r == ';', r == '；':
			out = append(out, question[start:i])
			start = end
		default:
			out = append(out, question[start:end])
			start = end
		}
		i = end
	}
	return append(out, question[start:])
}

// searchable reports whether a text has a word that is not a filler word.
func searchable(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		w = strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		return w != "" && !slices.Contains(fillers, w)
	})
}
