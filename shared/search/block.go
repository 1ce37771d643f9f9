package search

import (
	"regexp"
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
	lead  string   // of a list, table or code: the line before it
	intro string   // the paragraph that lead ends
	units []string // items, rows (first the two of the head) or code lines; sentences are cut later
	text  string   // of a paragraph
	info  string   // of code: its language
	links bool     // a list of nothing but links, such as a table of contents
}

// include matches what stands for a file in mdBook, PyMdown and FastAPI's documentation.
const include = `\{\{#(?:include|rustdoc_include|playground)\s[^{}]*\}\}|-+8<-+\s.*|\{\*\s[^{}]*\*\}`

var (
	breakLine  = regexp.MustCompile(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*|-+[ \t]*)$`)
	definition = regexp.MustCompile(`^ {0,3}\[[^\]^][^\]]{0,199}\]:`)
	footnote   = regexp.MustCompile(`^ {0,3}\[\^[^\]]{1,200}\]:`)
	callout    = regexp.MustCompile(`^ {0,3}(?:\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]|(?:!!!|\?\?\?\+?) [a-z]+(?: ".*")?)\s*$`)
	// container matches a line that holds no text: the first and the last line of an admonition of Docusaurus, VitePress, MyST,
	// PyMdown and others, a name to document (mkdocstrings), tags of components (MDX) and of templates (Hugo, Jekyll), attributes
	// and files to include (Python-Markdown).
	container = regexp.MustCompile(`^ {0,3}(?::{3,}(?:[ \t]*(?:[a-z][\w-]*(?:\[.*\]|[ \t].*)?|[A-Za-z_]\w*(?:\.\w+)+|\{.*\}.*))?` +
		`|/{3,}(?:[ \t]+[a-z][\w-]*(?:[ \t]*\|.*)?)?` +
		`|(?:</?[A-Z][A-Za-z0-9]*[a-z][\w.]*(?:\s(?:[^<>"]|"[^"]*")*)?/?>\s*)+|</?>` +
		`|import\s(?:.*\sfrom\s)?['"][^'"]+['"];?` +
		`|(?:(?:\{\{<(?:[^<>"]|"[^"]*")*>\}\}|\{\{%[^%]*%\}\}|\{%[^%]*%\})\s*)+|\{[:.#][^{}]*\}|\{![^{}]*!\}|` + include + `)\s*$`)
	// includes matches a line of code that stands for a file, which is not part of the document.
	includes = regexp.MustCompile(`^\s*(?:\{!.*!\}|` + include + `)\s*$`)
	// tab matches the mark of a tab of PyMdown, before its title.
	tab = regexp.MustCompile(`^/{3,}[ \t]+tab[ \t]*\|[ \t]*`)
	// sign matches the sign of a note of HashiCorp, before its text, and what tab matches.
	sign = regexp.MustCompile(`^[-~!]>[ \t]+|` + tab.String())
	// holdsIndented matches the first line of an admonition or tab of Python-Markdown, whose content is indented like code.
	holdsIndented = regexp.MustCompile(`^(?:(?:!!!|\?\?\?\+?) [a-z]+(?: ".*")?|===[+!]? ".*")\s*$`)
	// directive matches the first line of a directive of MyST: its name and its argument.
	directive = regexp.MustCompile("^\\s*(?:`{3,}|~{3,})\\{([\\w-]+)\\}[ \\t]*([^`]*?)\\s*$")
	// textual are the directives whose content is text.
	textual = regexp.MustCompile(`^(?:note|tip|hint|important|attention|caution|warning|danger|error|seealso|admonition|dropdown|versionadded|versionchanged|deprecated|topic|sidebar|margin|aside|tab-set|tab-item|card|grid|epigraph)$`)
	// colons matches the first line of a directive of MyST between colons.
	colons = regexp.MustCompile(`^ {0,3}:{3,}[ \t]*\{`)
	// option matches an option of a directive, before its content.
	option = regexp.MustCompile(`^\s*:[\w-]+:(?:\s|$)`)
	// linkItem matches an item that is a link to another page.
	linkItem  = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])[.,;]?$`)
	lineEnds  = strings.NewReplacer("\r\n", "\n", "\r", "\n") // those of Markdown
	plainInfo = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,20}$`)
)

// blocks cuts a passage, which begins in these list items, into blocks. Headings, rules and
// definitions of link targets are not content, and end a block. Indented lines are code only if
// they are indented more than the text of the item around them.
func blocks(passage string, open items) []block {
	lines := strings.Split(lineEnds.Replace(passage), "\n")
	var out []block
	lastAt := 0       // of the last block, the column of the content around it
	tabTitle := false // the last block is the title of a tab
	for i := 0; i < len(lines); {
		line := text.Unquote(lines[i])
		if strings.TrimSpace(line) == "" {
			i++
			continue
		}
		at := open.enter(line)
		line = outdent(line, at)
		if n := commentLines(line, lines[i:]); n > 0 {
			i += n
			continue
		}
		var b block
		var n int
		if holdsIndented.MatchString(line) {
			open.begin(item{indent: at, offset: at + codeIndent})
		}
		switch level, _ := text.ATXHeading(line); {
		case level > 0, breakLine.MatchString(line), definition.MatchString(line), callout.MatchString(line), isContainer(line):
			i++
			for colons.MatchString(line) && i < len(lines) && option.MatchString(text.Unquote(lines[i])) {
				i++
			}
			continue
		case openFence(line) != "":
			b, n = fenced(text.Unquote(lines[i]), lines[i:])
			if name := directive.FindStringSubmatch(line); name != nil && textual.MatchString(name[1]) {
				if content := blocks(strings.Join(b.units, "\n"), nil); len(content) > 0 {
					out, lastAt = append(out, content...), at
				}
				i += n
				continue
			}
		case isIndented(line):
			b, n = indented(lines[i:], at)
		case i+1 < len(lines) && text.IsTable(line, lines[i+1]):
			b, n = tableBlock(lines[i:])
		case isRow(line):
			b, n = rowsBlock(lines[i:])
		case itemMark.MatchString(line):
			b, n = listOrFence(lines[i:], &open)
		default:
			b, n = paragraphBlock(lines[i:], at)
		}
		i += n
		if b.empty() || b.kind == paragraphKind && !hasWord(b.text) {
			continue
		}
		if b.kind == codeKind && !slices.ContainsFunc(b.units, func(line string) bool { return !includes.MatchString(line) && strings.TrimSpace(line) != "" }) {
			if len(out) > 0 && tabTitle {
				out = out[:len(out)-1]
			}
			continue
		}
		tabTitle = b.kind == paragraphKind && tab.MatchString(line)
		// A list or code takes the last line of the paragraph before it if no heading is
		// between them and the paragraph is not of an item that has ended. A table takes it
		// only if the line announces the table.
		if len(out) > 0 && b.kind != paragraphKind && out[len(out)-1].kind == paragraphKind && at >= lastAt && adjacent(lines[:i-n]) {
			before := out[len(out)-1].text
			if line := lastLine(before); b.kind != tableKind || leadsIn(line) {
				b.lead, b.intro = line, before
			}
		}
		out, lastAt = append(out, b), at
	}
	return out
}

// isContainer reports whether container matches line. Most lines begin otherwise, and cost less by that.
func isContainer(line string) bool {
	begin := strings.TrimLeft(line, " ")
	if strings.HasPrefix(begin, "-") {
		return strings.HasPrefix(strings.TrimLeft(begin, "-"), "8<") && container.MatchString(line)
	}
	return begin != "" && strings.IndexByte(":/<{i", begin[0]) >= 0 && container.MatchString(line) && !tab.MatchString(begin)
}

// commentLines returns the number of lines of the HTML comment that begins with first, which stands for lines[0]. It is 0 if
// none begins there, if it does not end in lines, or if text follows on its last line.
func commentLines(first string, lines []string) int {
	if isIndented(first) || !strings.HasPrefix(strings.TrimLeft(first, " "), "<!--") {
		return 0
	}
	for n, line := range lines {
		if _, after, ended := strings.Cut(line, "-->"); ended {
			if strings.TrimSpace(after) != "" {
				return 0
			}
			return n + 1
		}
	}
	return 0
}

var (
	// commentEnd matches a line that only ends a comment, and anyFence the marks of a fence at the start of a line.
	commentEnd = regexp.MustCompile(`(?m)^[ \t]*-->[ \t]*\r?$`)
	anyFence   = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)")
)

// openComment returns where in s, which begins in a fence or not, an HTML comment begins that does not end in s, or -1.
func openComment(s, fence string) int {
	at, place := -1, 0
	for line := range strings.Lines(s) {
		switch {
		case at >= 0:
			if strings.Contains(line, "-->") {
				at = -1
			}
		case fence == "" && !isIndented(line) && strings.HasPrefix(strings.TrimLeft(line, " "), "<!--"):
			if !strings.Contains(line, "-->") {
				at = place
			}
		default:
			fence = text.FenceAfter(fence, line)
		}
		place += len(line)
	}
	return at
}

// word matches what makes a text more than marks or a lone letter.
var word = regexp.MustCompile(`[\p{L}\p{M}\p{N}]{2}|\p{Han}`)

// hasWord reports whether s has a word or a number of at least two characters.
func hasWord(s string) bool { return word.MatchString(s) }

// leadsIn reports whether line only announces what follows it.
func leadsIn(line string) bool {
	line = strings.TrimRight(line, " *_")
	return (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) && len(text.Sentences(line)) == 1
}

// isLead reports whether b is a paragraph that only announces what follows it. Such a
// paragraph is not an answer.
func (b block) isLead() bool { return b.kind == paragraphKind && leadsIn(b.text) }

// adjacent reports whether the last line that is not blank is text.
func adjacent(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		line := text.Unquote(lines[i])
		if strings.TrimSpace(line) != "" {
			level, _ := text.ATXHeading(line)
			return level == 0 && !breakLine.MatchString(line)
		}
	}
	return false
}

func lastLine(s string) string {
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

func (b block) empty() bool {
	return strings.TrimSpace(b.text) == "" && len(b.units) == 0
}

// openFence returns the marks of the code fence that line opens at any indent, or "".
func openFence(line string) string {
	return text.FenceAfter("", strings.TrimLeft(line, " \t"))
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// fenced reads a code block that begins with the line first, which stands for lines[0]. The
// closing fence may be missing.
func fenced(first string, lines []string) (block, int) {
	opening := strings.TrimLeft(first, " \t")
	indent := len(first) - len(opening)
	isQuoted := text.Unquote(lines[0]) != lines[0]
	fence := openFence(first)
	b := block{kind: codeKind}
	info := strings.TrimSpace(opening[len(fence):])
	n := 1
	if name := directive.FindStringSubmatch(opening); name != nil {
		info = name[2]
		for n < len(lines) && option.MatchString(text.Unquote(lines[n])) {
			n++
		}
	}
	if language, _, _ := strings.Cut(info, " "); plainInfo.MatchString(language) {
		b.info = language
	}
	for ; n < len(lines); n++ {
		line := lines[n]
		if isQuoted {
			line = text.Unquote(line)
		}
		if text.FenceAfter(fence, strings.TrimLeft(line, " \t")) == "" {
			n++
			break
		}
		b.units = append(b.units, Visible(dedent(line, indent)))
	}
	return b.trimmed(), n
}

// indented reads an indented code block within content that begins at column at.
func indented(lines []string, at int) (block, int) {
	b := block{kind: codeKind}
	n := 0
	for ; n < len(lines); n++ {
		line := text.Unquote(lines[n])
		if indentOf(line) < at && strings.TrimSpace(line) != "" {
			break
		}
		if line = outdent(line, at); strings.TrimSpace(line) != "" && !isIndented(line) {
			break
		}
		b.units = append(b.units, Visible(dedent(line, 4)))
	}
	return b.trimmed(), n
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

func dedent(line string, n int) string {
	for i := 0; i < n && line != ""; i++ {
		switch line[0] {
		case ' ':
			line = line[1:]
		case '\t':
			return line[1:]
		default:
			return line
		}
	}
	return line
}

// blanks and dashes match what pads the cells of a table to the same width. It is not shown, but it would count as text.
var (
	blanks = regexp.MustCompile(`[ \t]+`)
	dashes = regexp.MustCompile(`-{4,}`)
)

func tableBlock(lines []string) (block, int) {
	b := block{kind: tableKind}
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(text.Unquote(lines[n]))
		if line == "" || n > 1 && !strings.Contains(line, "|") {
			break
		}
		if line = blanks.ReplaceAllString(line, " "); n == 1 {
			line = dashes.ReplaceAllString(line, "---")
		}
		b.units = append(b.units, safeRow(line))
	}
	return b, n
}

// isRow reports whether line is a row of a table between pipes.
func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 2 && line[0] == '|' && line[len(line)-1] == '|'
}

// rowsBlock reads rows whose head is unknown, and adds an empty head, because rows without one
// are rendered as text.
func rowsBlock(lines []string) (block, int) {
	b := block{kind: tableKind}
	n := 0
	for ; n < len(lines); n++ {
		line := strings.TrimSpace(text.Unquote(lines[n]))
		if !isRow(line) {
			break
		}
		if text.IsTableRule(line) {
			continue
		}
		row := safeRow(blanks.ReplaceAllString(line, " "))
		if b.units == nil {
			cells := max(strings.Count(row, "|")-strings.Count(row, `\|`)-1, 1)
			b.units = append(b.units, "|"+strings.Repeat("  |", cells), "|"+strings.Repeat("--|", cells))
		}
		b.units = append(b.units, row)
	}
	return b, max(n, 1)
}

// listOrFence reads a list, or the code block that the content of its first item begins with.
func listOrFence(lines []string, open *items) (block, int) {
	it := itemOf(text.Unquote(lines[0]))
	if openFence(it.content) == "" {
		return listBlock(lines, open)
	}
	open.begin(it)
	return fenced(spaces(it.offset)+it.content, lines)
}

// listBlock reads a list: items and the paragraphs indented below them. It ends before code,
// tables and headings, and at a blank line if the next line is neither an item nor indented. The
// indent of the first item is left out of all units.
func listBlock(lines []string, open *items) (block, int) {
	b := block{kind: listKind}
	var paragraphs []string // of the item, safe
	var paragraph []string
	links := 0 // items that are a link
	endParagraph := func() {
		if len(paragraph) == 1 && len(paragraphs) == 0 && linkItem.MatchString(paragraph[0]) {
			links++
		}
		// A code span or link does not go across a blank line.
		if text := strings.TrimRight(safeInline(strings.Join(paragraph, "\n")), " \n"); strings.TrimSpace(text) != "" {
			paragraphs = append(paragraphs, text)
		}
		paragraph = nil
	}
	endItem := func() {
		endParagraph()
		if len(paragraphs) > 0 {
			b.units = append(b.units, strings.Join(paragraphs, "\n\n"))
		}
		paragraphs = nil
	}
	shift := indentOf(text.Unquote(lines[0]))
	afterBlank := false
	n := 0
	for ; n < len(lines); n++ {
		line := text.Unquote(lines[n])
		if strings.TrimSpace(line) == "" {
			endParagraph()
			afterBlank = true
			continue
		}
		if afterBlank {
			open.enter(line)
		}
		inner := outdent(line, min(open.last(), indentOf(line)))
		level, _ := text.ATXHeading(inner)
		isBreak := breakLine.MatchString(inner) || isContainer(inner)
		isItem := n == 0 || itemMark.MatchString(line) && !isBreak
		switch {
		case level > 0, openFence(line) != "", !isItem && (isBreak || n+1 < len(lines) && text.IsTable(inner, lines[n+1])):
		case afterBlank && isIndented(inner), afterBlank && !isItem && (indentOf(line) == 0 || begins(inner, lines[n+1:])):
		case isItem:
			it := itemOf(line)
			if openFence(it.content) != "" {
				break
			}
			endItem()
			open.begin(it)
			paragraph = append(paragraph, strings.TrimRight(spaces(it.indent-shift)+it.mark+spaces(it.offset-it.indent-len(it.mark))+it.content, " "))
			afterBlank = false
			continue
		case len(paragraph) == 0 && definition.MatchString(inner):
			continue
		default:
			line = strings.TrimSpace(line)
			if len(paragraph) == 0 {
				line = sign.ReplaceAllString(line, "")
			}
			paragraph = append(paragraph, spaces(open.last()-shift)+line)
			afterBlank = false
			continue
		}
		break
	}
	endItem()
	b.links = links >= 3 && links == len(b.units)
	return b, max(n, 1)
}

// begins reports whether a table begins with line, which these lines follow.
func begins(line string, lines []string) bool {
	return isRow(line) || len(lines) > 0 && text.IsTable(line, lines[0])
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
