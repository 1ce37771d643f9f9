package search

import (
	"slices"
	"strings"

	"docent/shared/search/text"
)

// blockKind decides how a block is cut and shown.
type blockKind int

const (
	paragraphKind blockKind = iota
	listKind                // with its lead-in line
	tableKind               // with its lead-in line
	codeKind                // with the line before it
)

// block is a piece of a passage that is quoted as a whole. Its text is safe Markdown, except
// lines of code, which are shown between fences.
type block struct {
	kind  blockKind
	lead  string   // the line before it that announces or names it
	intro string   // the paragraph that lead ends
	units []string // items, rows (first the two of the head) or code lines; sentences are cut later
	text  string   // of a paragraph
	info  string   // of code: its language
	links bool     // a list of nothing but links, such as a table of contents
}

// isLead reports whether b is a paragraph that only announces what follows it. Such a
// paragraph is not an answer.
func (b block) isLead() bool { return b.kind == paragraphKind && leadsIn(b.text) }

func (b block) empty() bool {
	return strings.TrimSpace(b.text) == "" && len(b.units) == 0
}

// trimmed returns b without blank lines at both ends.
func (b block) trimmed() block {
	for len(b.units) > 0 && strings.TrimSpace(b.units[0]) == "" {
		b.units = b.units[1:]
	}
	for len(b.units) > 0 && strings.TrimSpace(b.units[len(b.units)-1]) == "" {
		b.units = b.units[:len(b.units)-1]
	}
	return b
}

// blocks cuts a passage, which begins in these list items, into blocks. Headings, rules and
// definitions of link targets are not content, and end a block. Indented lines are code only if
// they are indented more than the text of the item around them.
func blocks(passage string, open items) []block {
	lines := strings.Split(lineEnds.Replace(passage), "\n")
	var c cutter
	for i := 0; i < len(lines); {
		i += c.next(lines[:i], lines[i:], &open)
	}
	return c.blocks
}

// cutter cuts a passage into blocks.
type cutter struct {
	blocks   []block
	lastAt   int  // of the last block, the column of the content around it
	tabTitle bool // the last block is the title of a tab
}

// next reads what begins at lines[0], after the lines before, and returns how many lines it takes.
func (c *cutter) next(before, lines []string, open *items) int {
	line := text.Unquote(lines[0])
	if strings.TrimSpace(line) == "" {
		return 1
	}
	at := open.enter(line)
	line = outdent(line, at)
	if n := commentLines(line, lines); n > 0 {
		return n
	}
	if holdsIndented.MatchString(line) {
		open.begin(item{indent: at, offset: at + codeIndent})
	}
	if n := markLines(line, lines); n > 0 {
		return n
	}
	if name := directive.FindStringSubmatch(line); name != nil && textual.MatchString(name[1]) {
		b, n := fenced(text.Unquote(lines[0]), lines)
		if content := blocks(strings.Join(b.units, "\n"), nil); len(content) > 0 {
			c.blocks, c.lastAt = append(c.blocks, content...), at
		}
		return n
	}
	b, n := readBlock(line, lines, at, open)
	c.add(b, at, before, tab.MatchString(line))
	return n
}

// markLines returns the number of lines, from line on, that are not content and end a block: a heading, a rule, the definition
// of a link target, or the marks of a container with its options. It is 0 for content.
func markLines(line string, lines []string) int {
	level, _ := text.ATXHeading(line)
	if level == 0 && !breakLine.MatchString(line) && !definition.MatchString(line) && !callout.MatchString(line) && !isContainer(line) {
		return 0
	}
	n := 1
	for colons.MatchString(line) && n < len(lines) && option.MatchString(text.Unquote(lines[n])) {
		n++
	}
	return n
}

// readBlock reads the block that begins with line, which stands for lines[0], within content that begins at column at. It
// returns how many lines the block takes.
func readBlock(line string, lines []string, at int, open *items) (block, int) {
	switch {
	case openFence(line) != "":
		return fenced(text.Unquote(lines[0]), lines)
	case isIndented(line):
		return indented(lines, at)
	case len(lines) > 1 && text.IsTable(line, lines[1]):
		return tableBlock(lines)
	case isRow(line):
		return rowsBlock(lines)
	case itemMark.MatchString(line):
		return listOrFence(lines, open)
	default:
		return paragraphBlock(lines, at)
	}
}

// add adds b, which follows the lines before, unless it has no content of its own.
func (c *cutter) add(b block, at int, before []string, tabTitle bool) {
	if b.empty() || b.kind == paragraphKind && !hasWord(b.text) {
		return
	}
	if b.onlyIncludes() {
		if len(c.blocks) > 0 && c.tabTitle {
			c.blocks = c.blocks[:len(c.blocks)-1]
		}
		return
	}
	c.tabTitle = b.kind == paragraphKind && tabTitle
	if last := len(c.blocks) - 1; last >= 0 && at >= c.lastAt && adjacent(before) && c.blocks[last].leads(b) {
		b.intro = c.blocks[last].text
		b.lead = lastLine(b.intro)
		if b.kind == paragraphKind {
			b.intro = c.blocks[last].lastSentence()
			b.lead = b.intro
		}
	}
	c.blocks, c.lastAt = append(c.blocks, b), at
}

// title returns the title before the block, such as the term of a definition, or "".
func (b block) title() string {
	if (block{text: b.intro}).isTitle(true) {
		return b.intro
	}
	return ""
}

// leads reports whether the paragraph b says what next, the block after it, is about. A list or code takes the last line of
// any paragraph. A table takes it only if the line announces the table. A paragraph takes a sentence that announces it, and a title, as the term of a
// definition is one.
func (b block) leads(next block) bool {
	if b.kind != paragraphKind {
		return false
	}
	switch next.kind {
	case tableKind:
		return leadsIn(lastLine(b.text))
	case paragraphKind:
		return b.isTitle(true) || b.announces()
	}
	return true
}

// lastSentence returns the last sentence of a paragraph.
func (b block) lastSentence() string {
	all := sentences(b.text)
	if len(all) < 2 {
		return b.text
	}
	return safeInline(b.text[all[len(all)-1][0]:]) // it may begin within a code span
}

// onlyIncludes reports whether b is code that only stands for files.
func (b block) onlyIncludes() bool {
	return b.kind == codeKind && !slices.ContainsFunc(b.units, func(line string) bool { return !includes.MatchString(line) && strings.TrimSpace(line) != "" })
}

// paragraphBlock reads a paragraph within content that begins at column at.
func paragraphBlock(lines []string, at int) (block, int) {
	var stripped []string
	n := 0
	for ; n < len(lines); n++ {
		line := outdent(text.Unquote(lines[n]), at)
		level, _ := text.ATXHeading(line)
		if n > 0 && (strings.TrimSpace(line) == "" || level > 0 || breakLine.MatchString(line) || openFence(line) != "" ||
			itemMark.MatchString(line) || footnote.MatchString(line) || isContainer(line) || n+1 < len(lines) && text.IsTable(line, lines[n+1])) {
			break
		}
		stripped = append(stripped, strings.TrimSpace(text.Unquote(line)))
	}
	if len(stripped) > 0 {
		stripped[0] = sign.ReplaceAllString(stripped[0], "")
	}
	if n < len(lines) && isUnderline(outdent(lines[n], at)) {
		return block{}, n + 1 // a setext heading
	}
	return block{kind: paragraphKind, text: strings.TrimSpace(safeInline(strings.Join(stripped, "\n")))}, n
}

// isUnderline reports whether line makes the paragraph before it a heading.
func isUnderline(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}
