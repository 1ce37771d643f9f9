package rst

import (
	"regexp"
	"strings"
)

var (
	fieldLine  = regexp.MustCompile("^:([^: `][^:`]*):(?: +(.*))?$")
	optionLine = regexp.MustCompile(`^((?:--?|/)[A-Za-z0-9?#][^ ]*(?:[ =][A-Z<][^ ,]*)?(?:, (?:--?|/)[A-Za-z0-9?#][^ ]*(?:[ =][A-Z<][^ ,]*)?)*)(?:  +(.*))?$`)
)

// blocks converts lines whose blocks begin without indentation. What is indented nevertheless is read as if it was not: a
// quotation, or a slip of its author.
func (d *document) blocks(lines []string, depth int) []block {
	if depth > maxDepth {
		return []block{d.paragraph(dedent(lines))}
	}
	var out []block
	endless := false // whether no end of a simple table follows
	for i := 0; i < len(lines); {
		line := lines[i]
		if line == "" {
			i++
			continue
		}
		var some []block
		rest := lines[i:]
		n := gridLength(rest)
		if !endless && simpleBorder.MatchString(line) && strings.Count(line, " =") < maxColumns {
			n = simpleLength(rest)
			endless = n == 0
		}
		switch {
		case n > 0:
			some = []block{d.table(rest[:n], depth)}
		case line[0] == ' ':
			n = indented(rest)
			some = d.blocks(dedent(rest[:n]), depth+1)
		case headingLength(rest) > 0:
			n = headingLength(rest)
			some = []block{d.heading(rest[:n])}
		case len(line) >= 4 && adornment(line) != 0 && (len(rest) == 1 || rest[1] == ""):
			some, n = []block{{text: "---"}}, 1
		case line == ".." && (len(rest) == 1 || rest[1] == ""): // an empty comment
			n = 1
		case line == ".." || strings.HasPrefix(line, ".. "):
			n = 1 + indented(rest[1:])
			some = d.explicit(rest[:n], depth)
		case strings.HasPrefix(line, "__ "): // the address of a link without a name
			n = 1
		case strings.HasPrefix(line, ">>> "):
			n = paragraphLength(rest)
			some = []block{fenced("python", rest[:n])}
		case line == "|" || strings.HasPrefix(line, "| "):
			some, n = d.lineBlock(rest)
		case markerOf(rest) != nil:
			some, n = d.list(rest, depth)
		case fieldLine.MatchString(line):
			some, n = d.terms(rest, fieldLine, depth)
		case optionLine.MatchString(line) && (strings.Contains(line, "  ") || len(rest) > 1 && indentOf(rest[1]) > 0):
			some, n = d.terms(rest, optionLine, depth)
		default:
			some, n = d.text(rest, depth)
		}
		out = append(out, some...)
		i += n
	}
	return out
}

func paragraphLength(lines []string) int {
	n := 0
	for n < len(lines) && lines[n] != "" {
		n++
	}
	return n
}

// text converts a paragraph with the code that it announces, or a term with its definition.
func (d *document) text(lines []string, depth int) ([]block, int) {
	n := 1
	for n < len(lines) && lines[n] != "" && lines[n][0] != ' ' {
		n++
	}
	own := lines[:n]
	announces := strings.HasSuffix(own[n-1], "::")
	below := indented(lines[n:])
	switch {
	case announces && below > 0:
		last := strings.TrimSuffix(own[n-1], ":")
		if before, found := strings.CutSuffix(last, " :"); found || last == ":" {
			last = strings.TrimSuffix(before, ":")
		}
		own = append(append([]string{}, own[:n-1]...), last)
		code := fenced("", lines[n:n+below])
		if text := d.paragraph(own); text.text != "" {
			return []block{text, code}, n + below
		}
		return []block{code}, n + below
	case n == 1 && below > 0 && lines[1] != "":
		term, class, _ := strings.Cut(own[0], " : ")
		if class != "" {
			term += " (" + class + ")"
		}
		return d.defined(d.inline(term), lines[1:1+below], depth), 1 + below
	}
	return []block{d.paragraph(own)}, n
}

// defined returns a term and what follows about it, in one paragraph if it begins with one.
func (d *document) defined(term string, about []string, depth int) []block {
	if !strings.Contains(term, "*") {
		term = "**" + term + "**"
	}
	body := d.blocks(dedent(about), depth+1)
	if len(body) > 0 && body[0].paragraph {
		body[0].text = term + ": " + body[0].text
		return body
	}
	return append([]block{{text: term, paragraph: true}}, body...)
}

// terms converts a list of fields or of options of a command. form finds the name of each and the first line about it.
func (d *document) terms(lines []string, form *regexp.Regexp, depth int) ([]block, int) {
	var items []string
	n := 0
	for n < len(lines) {
		if lines[n] == "" && n+1 < len(lines) {
			n++
		}
		m := form.FindStringSubmatch(lines[n])
		if m == nil {
			break
		}
		below := indented(lines[n+1:])
		about := append([]string{m[2]}, dedent(lines[n+1:n+1+below])...)
		n += 1 + below
		switch m[1] {
		case "orphan", "tocdepth", "nocomments", "nosearch": // of the build
			continue
		}
		name := m[1]
		if form == optionLine {
			name = code(name)
		}
		items = append(items, "- "+indent(join(d.defined(name, about, depth)), "  "))
	}
	if items == nil {
		return nil, n
	}
	return []block{{text: strings.Join(items, "\n")}}, n
}

// lineBlock converts lines that each begin with "| ".
func (d *document) lineBlock(lines []string) ([]block, int) {
	var parts [][]string // of each line, which others may continue
	n := 0
	for ; n < len(lines) && lines[n] != ""; n++ {
		text, own := strings.CutPrefix(lines[n], "|")
		if own || n == 0 {
			parts = append(parts, nil)
		}
		last := &parts[len(parts)-1]
		*last = append(*last, strings.TrimSpace(text))
	}
	texts := make([]string, len(parts))
	for i, line := range parts {
		texts[i] = atLineStart(d.inline(strings.Join(line, " ")))
	}
	return []block{{text: strings.Trim(strings.Join(texts, "\\\n"), "\\\n"), paragraph: true}}, n
}

func (d *document) paragraph(lines []string) block {
	texts := strings.Split(d.inline(strings.TrimSpace(strings.Join(lines, "\n"))), "\n")
	for i, text := range texts {
		texts[i] = atLineStart(strings.TrimSpace(text))
	}
	return block{text: strings.Join(texts, "\n"), paragraph: true}
}

var marks = regexp.MustCompile("^(#{1,6}( |$)|>|[-+*]( |$)|=+$|-+$|~{3}|`{3})")
var number = regexp.MustCompile(`^(\d{1,9})([.)](?: |$))`)

// atLineStart escapes what would begin a heading, a list, a quotation or code in Markdown.
func atLineStart(line string) string {
	if marks.MatchString(line) {
		return `\` + line
	}
	return number.ReplaceAllString(line, `$1\$2`)
}
