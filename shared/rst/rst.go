// Package rst converts reStructuredText, the markup of Sphinx and Docutils, to Markdown. Read as Markdown or plain text, it would lose its
// headings, and an underline of tildes would begin a code block.
//
// Every text has a result: what is not well-formed stays as text. What only a build of the documentation could fill in is left out: tables of
// contents, included files, documentation taken from source code, pictures and raw HTML.
package rst

import (
	"strings"
	"unicode/utf8"

	"docent/shared/backtick"
)

// maxDepth is how deep blocks may be nested; what is nested more deeply stays as text.
const maxDepth = 16

// document is what a text says about itself, wherever it says it.
type document struct {
	styles        []string          // of headings, in the order of their levels
	addresses     map[string]string // of names, as in "name_"
	titles        map[string]string // of the sections that labels name
	substitutions map[string]string // of "|name|"
	spare         int               // how many bytes may still be put for names
}

// block is a part of the result without a blank line around it.
type block struct {
	text      string
	paragraph bool
}

// Markdown returns text as Markdown. It takes time in proportion to the text.
func Markdown(text string) string {
	lines := split(text)
	d := &document{addresses: map[string]string{}, titles: map[string]string{}, substitutions: map[string]string{}, spare: 64<<10 + len(text)}
	d.collect(lines)
	blocks := d.blocks(lines, 0)
	if len(blocks) == 0 {
		return ""
	}
	return join(blocks) + "\n"
}

// split returns the lines of a text without blanks at their ends, and with spaces for tabs.
func split(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = expandTabs(strings.TrimRight(line, " \t\f\v"))
	}
	return lines
}

// expandTabs puts spaces for tabs, up to columns that are multiples of 8.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := 8 - column%8
		b.WriteString(strings.Repeat(" ", n))
		column += n
	}
	return b.String()
}

func join(blocks []block) string {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.text
	}
	return strings.Join(texts, "\n\n")
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// indented returns the number of lines at the beginning that are blank or indented, without blank ones at their end.
func indented(lines []string) int {
	end := 0
	for i, line := range lines {
		if line != "" && line[0] != ' ' {
			break
		}
		if line != "" {
			end = i + 1
		}
	}
	return end
}

// dedent removes the indentation that all lines have.
func dedent(lines []string) []string {
	least := -1
	for _, line := range lines {
		if n := indentOf(line); line != "" && (least < 0 || n < least) {
			least = n
		}
	}
	return cutIndent(lines, least)
}

// cutIndent removes up to n spaces from the beginning of each line.
func cutIndent(lines []string, n int) []string {
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i] = line[min(max(n, 0), indentOf(line)):]
	}
	return cut
}

// indent puts prefix before all lines but the first and blank ones.
func indent(text, prefix string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n"+prefix), "\n"+prefix+"\n", "\n\n")
}

// fenced returns lines as a block of code.
func fenced(language string, lines []string) block {
	lines = dedent(trimBlank(lines))
	code := strings.Join(lines, "\n")
	fence := backtick.Fence(code)
	return block{text: fence + language + "\n" + code + "\n" + fence}
}

// spend takes text from the bytes that may be put for names, and reports whether there were enough. Without this bound a short
// name, often repeated, would make a small text very large.
func (d *document) spend(text string) bool {
	if len(text) > d.spare {
		return false
	}
	d.spare -= len(text)
	return true
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// adornment returns the character that a line repeats, as underlines of headings do, or 0. A line of one character is none.
func adornment(line string) byte {
	if len(line) < 2 || !isPunctuation(line[0]) || strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return line[0]
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') && c != 0x7f
}
