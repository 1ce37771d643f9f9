package page

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// yamlKey matches a line of YAML that is a top-level key or a comment.
var yamlKey = regexp.MustCompile(`^(#|["']?[\pL\pN_.-]+["']?[ \t]*:([ \t\r]|$))`)

// titleWithin is how many bytes of a file are searched for a heading.
const titleWithin = 64 << 10

// heading returns the text of the first level-1 heading, ATX or setext.
func heading(s string) string {
	if len(s) > titleWithin {
		s = s[:titleWithin]
		s = s[:strings.LastIndexByte(s, '\n')+1]
	}
	src := []byte(s)
	doc := goldmark.DefaultParser().Parse(gmtext.NewReader(src))
	var title string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering || h.Level != 1 {
			return ast.WalkContinue, nil
		}
		if title = choose(clean(inlineText(h, src, false)), clean(inlineText(h, src, true))); title != "" {
			return ast.WalkStop, nil
		}
		return ast.WalkSkipChildren, nil
	})
	return title
}

// inlineText returns the text of n that a reader sees: the text of links, without markup and raw HTML. With images set,
// it also has the alternative texts of images; in the title of a README these are badges.
func inlineText(n ast.Node, src []byte, images bool) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Image:
			if !images {
				return ast.WalkSkipChildren, nil
			}
		case *ast.Text:
			value := t.Segment.Value(src)
			if t.Parent().Kind() != ast.KindCodeSpan {
				value = util.UnescapePunctuations(value)
			}
			b.Write(value)
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(t.Value)
		case *ast.AutoLink:
			b.Write(t.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// cutFrontMatter splits s into the lines between an opening "---" and the next "---" or "...", and the rest.
// Without both there is no front matter.
func cutFrontMatter(s string) (front, body string) {
	first, rest, ok := strings.Cut(s, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return "", s
	}
	for at := 0; at < len(rest); {
		end := strings.IndexByte(rest[at:], '\n')
		line, after := rest[at:], len(rest)
		if end >= 0 {
			line, after = rest[at:at+end], at+end+1
		}
		switch strings.TrimRight(line, " \t\r") {
		case "---", "...":
			return rest[:at], strings.TrimLeft(rest[after:], "\r\n")
		}
		// Front matter starts with a key or a comment; anything else makes the first line a thematic break.
		if at == 0 && !yamlKey.MatchString(line) {
			return "", s
		}
		at = after
	}
	return "", s
}

// frontTitle returns the value of the top-level key title, in any of the three YAML scalar forms on one line, or
// "".
func frontTitle(front string) string {
	for line := range strings.Lines(front) {
		value, ok := strings.CutPrefix(line, "title:")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" {
			return ""
		}
		switch value[0] {
		case '"':
			return quoted(value, '"', `\"`, `"`)
		case '\'':
			return quoted(value, '\'', `''`, `'`)
		case '|', '>', '[', '{', '&', '*', '!', '#':
			return "" // not a scalar on one line
		}
		value, _, _ = strings.Cut(value, " #")
		return value
	}
	return ""
}

// quoted returns the text between value's first byte and the closing quote, with escape replaced by plain.
func quoted(value string, quote byte, escape, plain string) string {
	var b strings.Builder
	for i := 1; i < len(value); {
		if strings.HasPrefix(value[i:], escape) {
			b.WriteString(plain)
			i += len(escape)
			continue
		}
		if value[i] == quote {
			return b.String()
		}
		b.WriteByte(value[i])
		i++
	}
	return ""
}
