package rst

import (
	"regexp"
	"strings"
)

var (
	targetLine       = regexp.MustCompile("^\\.\\. _(`[^`]+`|[^:`]+(?:\\\\:[^:`]*)*):(?: +(.*))?$")
	substitutionLine = regexp.MustCompile(`^\.\. \|([^|]+)\| +([A-Za-z][\w-]*)::(?: +(.*))?$`)
	footnoteLine     = regexp.MustCompile(`^\.\. \[([^\]]+)\](?: +(.*))?$`)
	directiveLine    = regexp.MustCompile(`^\.\. ([A-Za-z][\w:.+-]*?) ?::(?: +(.*))?$`)
	optionField      = regexp.MustCompile(`^:([A-Za-z][\w-]*):(?: +(.*))?$`)
)

// Bounds of what is put for a name. A longer text or address is left out.
const (
	maxLines = 20
	maxBytes = 2048
)

// collect reads what a text says about names: the addresses of links, the headings of labels, and substitutions.
func (d *document) collect(lines []string) {
	var labels []string // before the next line with text
	for i, line := range lines {
		line = strings.TrimLeft(line, " ")
		switch m := targetLine.FindStringSubmatch(line); {
		case line == "":
		case m != nil && m[2] == "":
			labels = append(labels, nameOf(m[1]))
		case m != nil && len(m[2]) <= maxBytes:
			to := m[2]
			if _, indirect := indirectly(to); !indirect {
				to = webAddress(to)
			}
			for _, label := range append(labels, nameOf(m[1])) {
				d.addresses[label] = to
			}
			labels = nil
		default:
			if n := headingLength(lines[i:]); n > 0 {
				for _, label := range labels {
					if title := strings.TrimSpace(lines[i+n-2]); len(title) <= maxBytes {
						d.titles[label] = title
					}
				}
			}
			labels = nil
			if m := substitutionLine.FindStringSubmatch(line); m != nil && m[2] == "replace" {
				below := lines[i+1 : i+1+indented(lines[i+1:min(i+1+maxLines, len(lines))])]
				if text := strings.Join(strings.Fields(m[3]+" "+strings.Join(below, " ")), " "); len(text) <= maxBytes {
					d.substitutions[m[1]] = text
				}
			}
		}
	}
}

// nameOf returns a name in the form in which names are compared.
func nameOf(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Trim(strings.ReplaceAll(name, `\`, ""), "`")), " "))
}

// explicit converts what begins with "..": a directive, a footnote, an address or a comment.
func (d *document) explicit(lines []string, depth int) []block {
	if m := footnoteLine.FindStringSubmatch(lines[0]); m != nil {
		body := d.blocks(append([]string{m[2]}, dedent(lines[1:])...), depth+1)
		mark := "[" + strings.TrimLeft(m[1], "#") + "]"
		if len(body) == 0 {
			return nil
		}
		body[0].text = mark + " " + body[0].text
		return body
	}
	m := directiveLine.FindStringSubmatch(lines[0])
	if m == nil {
		return nil
	}
	return d.directive(read(m[1], m[2], dedent(lines[1:])), depth)
}

// directive is a directive by its parts.
type directive struct {
	name      string
	arguments []string // lines
	options   map[string]string
	body      []string
}

// read divides the lines below the first one of a directive: more lines of arguments, options, and behind a blank line the body.
func read(name, argument string, lines []string) directive {
	x := directive{name: strings.ToLower(name), options: map[string]string{}}
	if argument != "" {
		x.arguments = append(x.arguments, argument)
	}
	for i, line := range lines {
		m := optionField.FindStringSubmatch(line)
		switch {
		case line == "":
			x.body = lines[i:]
			return x
		case m != nil:
			x.options[strings.ToLower(m[1])] = m[2]
		case len(x.options) == 0:
			x.arguments = append(x.arguments, strings.TrimRight(line, `\`))
		case line[0] != ' ': // behind options without a blank line
			x.body = lines[i:]
			return x
		}
	}
	return x
}
