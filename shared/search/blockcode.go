package search

import (
	"strings"

	"docent/shared/search/text"
)

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
