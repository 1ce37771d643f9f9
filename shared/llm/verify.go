package llm

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Verified is the part of a draft that remains.
type Verified struct {
	Markdown string // safe to render; empty when less than half is left
	Used     []int  // places in passages: the first cited of each document, in order of first use
	Kept     int    // sentences, items, rows and blocks of code in Markdown
	Dropped  int    // those that are not
}

// Verify keeps the parts of a draft that its passages support, as Markdown. A sentence,
// row or block of code stays if
//
//   - it cites, and only passages that were sent,
//   - what it quotes, and its code, is in a passage that it cites,
//   - each of its numbers, dates, versions and identifiers is in such a passage or in
//     the question.
//
// A heading, the head of a table and a line that ends in a colon stay with what follows
// them. A numbered list stays whole or not at all: without one of its steps a procedure
// is another one. If less than half of a draft is left, nothing is. Verify cannot see
// whether a sentence follows from what it cites.
func Verify(question string, passages []Passage, d Draft) Verified {
	v := &verifier{asked: factsOf(question), parts: d.Parts}
	for _, p := range passages {
		v.passages = append(v.passages, evidence{factsOf(p.Text), foldQuote(p.Text), spaced(p.Text)})
	}
	kept := v.read(d)
	r := &renderer{passages: passages, numbers: map[string]int{}}
	markdown := r.document(kept)
	if r.claims == 0 || 2*r.claims < v.claims || !safe(markdown, passages) {
		return Verified{Dropped: v.claims}
	}
	return Verified{markdown, r.used, r.claims, v.claims - r.claims}
}

// evidence is a passage as the checks read it.
type evidence struct {
	facts  facts
	quotes string // by foldQuote
	code   string // unchanged, with single spaces
}

type verifier struct {
	asked    facts
	passages []evidence
	parts    []Part
	starts   []int // where in the draft each part starts
	claims   int   // sentences, rows and blocks of code that were seen
}

// claim checks a sentence, a cell or code, which inherits cites. ok reports whether it
// stays.
func (v *verifier) claim(l line, inherited []int) (c claim, ok bool) {
	c.line, c.cites = withoutMarks(l)
	for _, i := range v.partsOf(l) {
		c.cites = append(c.cites, v.parts[i].Cites...)
		if !v.quoted(v.parts[i]) {
			return c, false
		}
	}
	if c.cites = unique(c.cites); len(c.cites) == 0 {
		c.cites = inherited
	}
	if len(c.cites) == 0 || slices.ContainsFunc(c.cites, func(n int) bool { return n < 1 || n > len(v.passages) }) {
		return c, false
	}
	return c, c.line.text != "" && v.supported(c, quotations(c.line))
}

// supported reports whether the quotations, code and facts of c are in what it cites.
func (v *verifier) supported(c claim, quoting []string) bool {
	in := []facts{v.asked}
	for _, n := range c.cites {
		in = append(in, v.passages[n-1].facts)
	}
	for _, q := range quoting {
		if !v.stands(c.cites, func(e evidence) bool { return standsIn(foldQuote(q), e.quotes) }) {
			return false
		}
	}
	for _, span := range codeIn(c.line) {
		if !v.stands(c.cites, func(e evidence) bool { return standsIn(spaced(span), e.code) }) {
			return false
		}
	}
	return unsupported(c.line.text, in) == ""
}

func (v *verifier) stands(cites []int, in func(evidence) bool) bool {
	return slices.ContainsFunc(cites, func(n int) bool { return in(v.passages[n-1]) })
}

// quoted reports whether what the server says that p quotes is in what p cites.
func (v *verifier) quoted(p Part) bool {
	for _, n := range p.Cites {
		if n < 1 || n > len(v.passages) {
			return false
		}
	}
	for _, q := range p.Quotes {
		if q = foldQuote(q); q != "" && !v.stands(p.Cites, func(e evidence) bool { return strings.Contains(e.quotes, q) }) {
			return false
		}
	}
	return true
}

// partsOf returns the parts of the draft of which l has more than white space.
func (v *verifier) partsOf(l line) []int {
	found := map[int]bool{}
	for i, from := range l.from {
		if l.text[i] != ' ' {
			at, exact := slices.BinarySearch(v.starts, from)
			if !exact {
				at--
			}
			found[at] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// withoutMarks returns l without its citations.
func withoutMarks(l line) (line, []int) {
	var out line
	var cites []int
	end := 0
	keep := func(to int) {
		out.text += l.text[end:to]
		out.style = append(out.style, l.style[end:to]...)
		out.from = append(out.from, l.from[end:to]...)
	}
	for _, m := range mark.FindAllStringIndex(l.text, -1) {
		if slices.ContainsFunc(l.style[m[0]:m[1]], func(s style) bool { return s&code != 0 }) {
			continue
		}
		for _, n := range number.FindAllString(strings.NewReplacer(",", " ", ";", " ").Replace(l.text[m[0]:m[1]]), -1) {
			value, _ := strconv.Atoi(n) // at most nine digits
			cites = append(cites, value)
		}
		keep(max(end, len(strings.TrimRight(l.text[:m[0]], " "))))
		end = m[1]
	}
	keep(len(l.text))
	return out.trim(), unique(cites)
}

func unique(numbers []int) []int {
	var out []int
	for _, n := range numbers {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// quotation matches text between quotes of any kind, after foldSigns.
var quotation = regexp.MustCompile(`"([^"]+)"|(?:^|[\s(])'([^']+)'(?:$|[\s.,;:!?)])`)

// quotations returns those of three words or more, and every quotation in a script
// without spaces.
func quotations(l line) []string {
	var out []string
	for _, q := range quotation.FindAllStringSubmatch(foldSigns(l.text), -1) {
		if text := q[1] + q[2]; len(strings.Fields(text)) >= 3 || len(text) > 24 {
			out = append(out, text)
		}
	}
	return out
}

// codeIn returns the runs of code in l.
func codeIn(l line) []string {
	var out []string
	for i := 0; i < len(l.text); {
		end := i
		for end < len(l.text) && l.style[end]&code == l.style[i]&code {
			end++
		}
		if l.style[i]&code != 0 {
			out = append(out, l.text[i:end])
		}
		i = end
	}
	return out
}

var linkTail = regexp.MustCompile(`\]\([^()\s]*\)`)

// foldQuote returns s in the form in which quotations are compared: with ASCII signs
// and single spaces, without marks of Markdown and punctuation at the ends.
func foldQuote(s string) string {
	s = linkTail.ReplaceAllString(foldSigns(s), "")
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`#\\|[]>\"'", r) {
			return -1
		}
		return r
	}, s)
	return strings.Trim(spaced(s), " .,;:!?")
}
