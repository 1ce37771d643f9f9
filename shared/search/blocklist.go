package search

import (
	"strings"

	"docent/shared/search/text"
)

// listOrFence reads a list, or the code block that the content of its first item begins with.
func listOrFence(lines []string, open *items) (block, int) {
	it := itemOf(text.Unquote(lines[0]))
	if openFence(it.content) == "" {
		return listBlock(lines, open)
	}
	open.begin(it)
	return fenced(spaces(it.offset)+it.content, lines)
}

// listBlock reads a list: items and the paragraphs indented below them. The indent of the first
// item is left out of all units.
func listBlock(lines []string, open *items) (block, int) {
	var list listReader
	shift := indentOf(text.Unquote(lines[0]))
	afterBlank := false
	n := 0
	for ; n < len(lines); n++ {
		line := text.Unquote(lines[n])
		if strings.TrimSpace(line) == "" {
			list.endParagraph()
			afterBlank = true
			continue
		}
		if afterBlank {
			open.enter(line)
		}
		inner := outdent(line, min(open.last(), indentOf(line)))
		isItem := n == 0 || itemMark.MatchString(line) && !isBreak(inner)
		if endsList(line, inner, lines[n+1:], isItem, afterBlank) {
			break
		}
		switch {
		case isItem:
			list.endItem()
			it := itemOf(line)
			open.begin(it)
			list.add(strings.TrimRight(spaces(it.indent-shift)+it.mark+spaces(it.offset-it.indent-len(it.mark))+it.content, " "))
		case len(list.paragraph) == 0 && definition.MatchString(inner):
			continue
		default:
			line = strings.TrimSpace(line)
			if len(list.paragraph) == 0 {
				line = sign.ReplaceAllString(line, "")
			}
			list.add(spaces(open.last()-shift) + line)
		}
		afterBlank = false
	}
	list.endItem()
	return block{kind: listKind, units: list.items, links: list.links >= 3 && list.links == len(list.items)}, max(n, 1)
}

// endsList reports whether a list ends before line, which these lines follow; inner is what is left of line within the item. It
// ends before code, tables and headings, and at a blank line if the next line is neither an item nor indented.
func endsList(line, inner string, following []string, isItem, afterBlank bool) bool {
	level, _ := text.ATXHeading(inner)
	switch {
	case level > 0, openFence(line) != "", isItem && openFence(itemOf(line).content) != "":
		return true
	case !isItem && (isBreak(inner) || len(following) > 0 && text.IsTable(inner, following[0])):
		return true
	case !afterBlank:
		return false
	default:
		return isIndented(inner) || !isItem && (indentOf(line) == 0 || begins(inner, following))
	}
}

// isBreak reports whether line is a rule or the mark of a container.
func isBreak(line string) bool { return breakLine.MatchString(line) || isContainer(line) }

// listReader gathers the items of a list.
type listReader struct {
	items      []string // safe Markdown
	paragraphs []string // of the item that is read, safe
	paragraph  []string // the lines of the one that is read
	links      int      // items that are a link
}

// add adds a line to the paragraph.
func (r *listReader) add(line string) { r.paragraph = append(r.paragraph, line) }

func (r *listReader) endParagraph() {
	if len(r.paragraph) == 1 && len(r.paragraphs) == 0 && linkItem.MatchString(r.paragraph[0]) {
		r.links++
	}
	// A code span or link does not go across a blank line.
	if text := strings.TrimRight(safeInline(strings.Join(r.paragraph, "\n")), " \n"); strings.TrimSpace(text) != "" {
		r.paragraphs = append(r.paragraphs, text)
	}
	r.paragraph = nil
}

func (r *listReader) endItem() {
	r.endParagraph()
	if len(r.paragraphs) > 0 {
		r.items = append(r.items, strings.Join(r.paragraphs, "\n\n"))
	}
	r.paragraphs = nil
}
