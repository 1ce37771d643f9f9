// Package markdown writes what readers find in files as Markdown: headings, paragraphs, lists and tables.
package markdown

import (
	"regexp"
	"strings"

	"docent/shared/extract"
)

// Writer collects the Markdown of one page. Budget is shared by the pages of a file.
type Writer struct {
	Budget *Budget
	text   strings.Builder
	last   kind
}

// Budget bounds the bytes of Markdown of a file.
type Budget struct {
	Left int
	Most int
}

// NewBudget returns a budget of most bytes.
func NewBudget(most int) *Budget { return &Budget{Left: most, Most: most} }

// Spend takes n bytes from the budget.
func (b *Budget) Spend(n int) error {
	if b.Left -= n; b.Left < 0 {
		return extract.Errorf("The file has more than %d MB of text.", b.Most>>20)
	}
	return nil
}

type kind int

const (
	nothing kind = iota
	block
	listItem
)

// String returns the Markdown so far, with a line end if there is any.
func (w *Writer) String() string {
	if w.text.Len() == 0 {
		return ""
	}
	return w.text.String() + "\n"
}

// Heading writes a heading of level 1 to 6; other levels become the nearest.
func (w *Writer) Heading(level int, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return nil
	}
	return w.write(block, strings.Repeat("#", min(max(level, 1), 6))+" "+text)
}

// Paragraph writes a paragraph. Its line ends become line ends of Markdown.
func (w *Writer) Paragraph(text string) error {
	text = tidy(text)
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = escapeStart(line)
	}
	return w.write(block, strings.Join(lines, "\\\n"))
}

// Item writes an item of a list, with the depth from 0 and a marker such as "-" or "2.".
func (w *Writer) Item(depth int, marker, text string) error {
	text = tidy(text)
	if text == "" {
		return nil
	}
	indent := strings.Repeat("    ", min(depth, 8))
	lines := strings.ReplaceAll(text, "\n", "\\\n"+indent+"  ")
	return w.write(listItem, indent+marker+" "+lines)
}

// Verbatim writes lines that are Markdown.
func (w *Writer) Verbatim(markdown string) error {
	if markdown == "" {
		return nil
	}
	return w.write(block, markdown)
}

func (w *Writer) write(k kind, text string) error {
	between := "\n\n"
	switch {
	case w.last == nothing:
		between = ""
	case w.last == listItem && k == listItem:
		between = "\n"
	}
	w.last = k
	if err := w.Budget.Spend(len(between) + len(text)); err != nil {
		return err
	}
	w.text.WriteString(between)
	w.text.WriteString(text)
	return nil
}

// starts are beginnings of a line that would make a paragraph something else.
var starts = regexp.MustCompile(`^(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|={3,}\s*$|-{3,}\s*$|` + "```|~~~" + `)`)

func escapeStart(line string) string {
	at := starts.FindStringIndex(line)
	if at == nil {
		return line
	}
	if c := line[0]; c >= '0' && c <= '9' {
		n := strings.IndexAny(line, ".)")
		return line[:n] + `\` + line[n:]
	}
	return `\` + line
}

// tidy returns text with single spaces in its lines, and without empty lines around it.
func tidy(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
