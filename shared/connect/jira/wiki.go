package jira

import (
	"regexp"
	"strings"

	"docent/shared/raised"
)

// The forms of wiki markup that are rewritten. Everything else stays as it is, which
// people can read.
var (
	wikiHeading = regexp.MustCompile(`^h([1-6])\.\s+(.*)$`)
	wikiList    = regexp.MustCompile(`^\s*([*#-]+)\s+(.*)$`)
	wikiBlock   = regexp.MustCompile(`^\s*\{(code|noformat|quote|panel)(?::([^}]*))?\}\s*(.*)$`)
	wikiLink    = regexp.MustCompile(`\[([^\]|\n]+)\|([^\]|\n]+)(?:\|[^\]\n]*)?\]`)
	wikiBare    = regexp.MustCompile(`\[((?:https?|mailto):[^\]|\s]+)\]`)
	wikiUser    = regexp.MustCompile(`\[~([^\]\n]+)\]`)
	wikiMono    = regexp.MustCompile(`\{\{([^}\n]+)\}\}`)
	wikiBold    = regexp.MustCompile(`(^|[\s(])\*(\S(?:[^*\n]*\S)?)\*($|[\s.,;:!?)])`)
	wikiRaised  = regexp.MustCompile(`\^([^\^\s]{1,20})\^`)
	wikiColor   = regexp.MustCompile(`\{color(?::[^}]*)?\}`)
	wikiImage   = regexp.MustCompile(`!([^!\s|][^!\n|]*\.[A-Za-z]{3,4})(?:\|[^!\n]*)?!`)
)

// wiki returns wiki markup as Markdown.
func wiki(markup, base string) string {
	r := rewriting{base: base}
	for line := range strings.Lines(strings.ReplaceAll(markup, "\r\n", "\n")) {
		r.line(strings.TrimRight(line, "\n"))
	}
	if r.end != "" {
		r.out = append(r.out, "```")
	}
	return strings.Join(r.out, "\n")
}

// rewriting is one call of wiki.
type rewriting struct {
	base   string
	out    []string
	end    string // of the block of code that is open; empty: none is
	quoted bool   // a quote is open
	isRow  bool   // the line before is a row of a table
}

func (r *rewriting) line(line string) {
	if r.end != "" {
		if line = r.code(line); strings.TrimSpace(line) == "" {
			return
		}
	}
	if m := wikiBlock.FindStringSubmatch(line); m != nil {
		if line = r.begin(m[1], m[2], m[3]); line == "" {
			return
		}
	}
	prefix := ""
	if r.quoted {
		prefix = "> "
		if before, _, closed := strings.Cut(line, "{quote}"); closed {
			line, r.quoted = before, false
		}
	}
	isRow := strings.HasPrefix(line, "|")
	r.out = append(r.out, prefix+wikiLine(line, r.base))
	if isRow && !r.isRow { // Markdown wants a line below the first row
		cells := strings.Count(strings.ReplaceAll(line, "||", "|"), "|") - 1
		r.out = append(r.out, prefix+strings.Repeat("|---", min(max(cells, 1), 100))+"|")
	}
	r.isRow = isRow
}

// code adds a line of the block of code that is open, and returns what follows the block's end.
func (r *rewriting) code(line string) (after string) {
	before, after, closed := strings.Cut(line, r.end)
	if !closed {
		r.out = append(r.out, line)
		return ""
	}
	if before != "" {
		r.out = append(r.out, before)
	}
	r.out, r.end = append(r.out, "```"), ""
	return after
}

// begin begins or ends a block. line is what follows its mark; begin returns what is left of it to add.
func (r *rewriting) begin(block, parameters, line string) (left string) {
	switch block {
	case "code", "noformat":
		language, title := wikiCode(parameters)
		r.title(title)
		r.out, r.end = append(r.out, "```"+language), "{"+block+"}"
		if code, after, closed := strings.Cut(line, r.end); closed { // on one line
			r.out, r.end = append(r.out, code, "```"), ""
			if strings.TrimSpace(after) != "" {
				r.out = append(r.out, wikiLine(after, r.base))
			}
		} else if line != "" {
			r.out = append(r.out, line)
		}
		return ""
	case "quote":
		r.quoted = !r.quoted
	case "panel":
		_, title := wikiCode(parameters)
		r.title(title)
	}
	return line
}

func (r *rewriting) title(title string) {
	if title != "" {
		r.out = append(r.out, "**"+title+"**", "")
	}
}

// wikiCode returns the language and the title in the parameters of a block.
func wikiCode(parameters string) (language, title string) {
	for one := range strings.SplitSeq(parameters, "|") {
		switch name, value, found := strings.Cut(one, "="); {
		case found && name == "title":
			title = value
		case found && name == "language", !found && name != "" && !strings.ContainsAny(name, " `"):
			language = strings.TrimSpace(name)
			if found {
				language = strings.TrimSpace(value)
			}
		}
	}
	return language, title
}

// wikiLine returns a line outside of code.
func wikiLine(line, base string) string {
	if m := wikiHeading.FindStringSubmatch(line); m != nil {
		return strings.Repeat("#", int(m[1][0]-'0')) + " " + wikiText(m[2], base)
	}
	if quote, ok := strings.CutPrefix(line, "bq. "); ok {
		return "> " + wikiText(quote, base)
	}
	if m := wikiList.FindStringSubmatch(line); m != nil && m[1] != "----" {
		mark := "- "
		if strings.HasSuffix(m[1], "#") {
			mark = "1. "
		}
		return strings.Repeat("  ", min(len(m[1]), 10)-1) + mark + wikiText(m[2], base)
	}
	if strings.HasPrefix(line, "||") {
		line = strings.ReplaceAll(line, "||", "|")
	}
	return wikiText(line, base)
}

func wikiText(line, base string) string {
	line = wikiUser.ReplaceAllStringFunc(line, func(m string) string {
		name := wikiUser.FindStringSubmatch(m)[1]
		if strings.HasPrefix(name, "accountid:") {
			name = "someone"
		}
		return "@" + name
	})
	line = wikiRaised.ReplaceAllStringFunc(line, func(m string) string {
		if number := strings.Trim(m, "^"); raised.Number(number) {
			return raised.Text(number)
		}
		return m
	})
	line = wikiColor.ReplaceAllString(line, "")
	line = wikiBold.ReplaceAllString(line, "$1**$2**$3")
	line = wikiMono.ReplaceAllString(line, "`$1`")
	line = wikiLink.ReplaceAllStringFunc(line, func(m string) string {
		parts := wikiLink.FindStringSubmatch(m)
		if !strings.Contains(parts[2], ":") && !strings.HasPrefix(parts[2], "#") { // the key of an issue
			return "[" + parts[1] + "](" + base + "/browse/" + parts[2] + ")"
		}
		return "[" + parts[1] + "](" + parts[2] + ")"
	})
	line = wikiBare.ReplaceAllString(line, "<$1>")
	return wikiImage.ReplaceAllString(line, "[$1]")
}
