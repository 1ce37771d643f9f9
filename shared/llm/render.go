package llm

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/backtick"
)

// renderer writes blocks as Markdown and numbers the documents that they cite.
type renderer struct {
	passages []Passage
	numbers  map[string]int // of documents: their own, or from 1 in order of first use
	used     []int
	claims   int // written
}

func (r *renderer) document(blocks []*node) string {
	body := r.blocks(blocks)
	if body == "" {
		return ""
	}
	return intro + body + "\n"
}

// intro opens every answer. It does not depend on what follows, so that an answer can be
// sent while it is written.
const intro = "*Written by a language model from the documents that it cites.*\n\n"

func (r *renderer) blocks(blocks []*node) string {
	var out []string
	for _, b := range blocks {
		out = append(out, r.block(b))
	}
	return strings.Join(out, "\n\n")
}

func (r *renderer) block(n *node) string {
	switch n.kind {
	case heading:
		return strings.Repeat("#", min(max(n.level, 2)+1, 6)) + " " + inline(n.claims[0].line, false)
	case list:
		var out []string
		for i, child := range n.children {
			bullet := "- "
			if n.ordered {
				bullet = fmt.Sprintf("%d. ", n.start+i)
			}
			out = append(out, bullet+strings.ReplaceAll(r.blocks(child.children), "\n", "\n"+strings.Repeat(" ", len(bullet))))
		}
		return strings.Join(out, "\n")
	case quoteBlock:
		return "> " + strings.ReplaceAll(r.blocks(n.children), "\n", "\n> ")
	case codeBlock:
		r.claims++
		text := strings.TrimRight(n.claims[0].line.text, "\n")
		marks := backtick.Fence(text)
		return fmt.Sprintf("%s%s\n%s\n%s\n\n%s", marks, n.info, text, marks, r.references(n.claims[0].cites))
	case grid:
		var out []string
		for i, child := range n.children {
			out = append(out, r.row(child))
			if i == 0 {
				out = append(out, "|"+strings.Repeat(" --- |", len(child.claims)))
			}
		}
		return strings.Join(out, "\n")
	default:
		var out []string
		for _, c := range n.claims {
			out = append(out, r.sentence(c))
		}
		return startEscaped(strings.Join(out, " "))
	}
}

func (r *renderer) row(n *node) string {
	var b strings.Builder
	b.WriteString("|")
	for i, c := range n.claims {
		b.WriteString(" " + inline(c.line, true))
		if i == len(n.claims)-1 && !c.lead {
			r.claims++
			b.WriteString(" " + r.references(c.cites))
		}
		b.WriteString(" |")
	}
	return b.String()
}

// sentence writes a sentence with its references before the sign that ends it.
func (r *renderer) sentence(c claim) string {
	if c.lead {
		return inline(c.line, false)
	}
	r.claims++
	text := c.line.text
	sign, size := utf8.DecodeLastRuneInString(text)
	if body := len(text) - size; strings.ContainsRune(".!?:。！？", sign) && c.line.style[body] == 0 && body > 0 {
		return inline(c.line.slice(0, body), false) + " " + r.references(c.cites) + string(sign)
	}
	return inline(c.line, false) + " " + r.references(c.cites)
}

// references returns the numbers of the documents cited, as links if the documents have
// one.
func (r *renderer) references(cites []int) string {
	var out []string
	seen := map[int]bool{}
	for _, n := range cites {
		p := r.passages[n-1]
		number := r.numbers[p.Document]
		if number == 0 {
			r.used = append(r.used, n-1)
			number = cmp.Or(p.Number, len(r.used))
			r.numbers[p.Document] = number
		}
		if seen[number] {
			continue
		}
		seen[number] = true
		if p.Link == "" {
			out = append(out, fmt.Sprint(number))
		} else {
			out = append(out, fmt.Sprintf("[%d](%s)", number, p.Link))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// address matches what clients make a link of although it is not one.
var address = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S*|[\pL\pN._%+-]+@[\pL\pN.-]+|(?:mailto|javascript|data):\S*|(?:[\pL\pN-]+\.)+\pL{2,}[^\s,;)]*`)

// inline writes l. Addresses become code, which no client makes a link of.
func inline(l line, inTable bool) string {
	styles := append([]style{}, l.style...)
	for _, m := range address.FindAllStringIndex(l.text, -1) {
		end := m[0] + len(strings.TrimRight(l.text[m[0]:m[1]], ".,:;!?"))
		for i := m[0]; i < end; i++ {
			styles[i] |= code
		}
	}
	var b strings.Builder
	for i := 0; i < len(l.text); {
		end := i + 1
		for end < len(l.text) && styles[end]&code == styles[i]&code && styles[end]&strong == styles[i]&strong {
			end++
		}
		text := l.text[i:end]
		shown := escape(text)
		if styles[i]&code != 0 {
			shown = codeSpan(text, inTable)
		}
		if styles[i]&strong != 0 && standsAlone(l.text, i, end) {
			shown = "**" + shown + "**"
		}
		b.WriteString(shown)
		i = end
	}
	return b.String()
}

// standsAlone reports whether marks around text[from:to] are read as marks.
func standsAlone(text string, from, to int) bool {
	edge := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) }
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:to])
	last, _ := utf8.DecodeLastRuneInString(text[from:to])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return edge(before) && !unicode.IsSpace(first) && !unicode.IsSpace(last) &&
		(edge(after) || !unicode.IsPunct(last) && unicode.IsPunct(after))
}

// escape escapes text so that it shows as it is.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>&|~$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// opens matches what would turn the start of a paragraph into another block.
var opens = regexp.MustCompile(`^(?:[-+=#:]|\d{1,9}[.)])`)

func startEscaped(text string) string {
	if m := opens.FindString(text); m != "" {
		return m[:len(m)-1] + `\` + text[len(m)-1:]
	}
	return text
}

func codeSpan(text string, inTable bool) string {
	if inTable {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	marks := strings.Repeat("`", backtick.Longest(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return marks + text + marks
}
