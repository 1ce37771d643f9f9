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
	wikiBlock   = regexp.MustCompile(`\{(code|noformat|quote|panel)(?::([^}]*))?\}`)
	wikiRaised  = regexp.MustCompile(`\^([^\^\s]{1,20})\^`)
	// wikiCellCode matches a block of code on one line, as a cell may have it.
	wikiCellCode = regexp.MustCompile(`\{(?:code|noformat)(?::[^}]*)?\}(.*?)\{(?:code|noformat)\}`)
	wikiLink     = regexp.MustCompile(`\[([^\]|\n]+)\|([^\]|\n]+)(?:\|[^\]\n]*)?\]`)
	wikiBare     = regexp.MustCompile(`\[((?:https?|mailto):[^\]|\s]+)\]`)
	wikiUser     = regexp.MustCompile(`\[~([^\]\n]+)\]`)
	wikiMono     = regexp.MustCompile(`\{\{([^}\n]+)\}\}`)
	wikiBold     = regexp.MustCompile(`(^|[\s(])\*(\S(?:[^*\n]*\S)?)\*($|[\s.,;:!?)])`)
	wikiColor    = regexp.MustCompile(`\{color(?::[^}]*)?\}`)
	wikiImage    = regexp.MustCompile(`!([^!\s|][^!\n|]*\.[A-Za-z]{3,4})(?:\|[^!\n]*)?!`)
)

// wiki returns wiki markup as Markdown.
func wiki(markup, base string) string {
	r := rewriting{base: base, rest: strings.ReplaceAll(markup, "\r\n", "\n"), inLine: map[string]int{}, below: map[string]int{}}
	for r.rest != "" {
		var line string
		line, r.rest, _ = strings.Cut(r.rest, "\n")
		r.line(line)
	}
	if r.end != "" {
		r.out = append(r.out, "```")
	}
	return strings.Join(r.out, "\n")
}

// rewriting is one call of wiki.
type rewriting struct {
	base   string
	rest   string // the lines after the one that is rewritten
	out    []string
	end    string // of the block of code that is open; empty: none is
	quoted bool   // a quote is open
	isRow  bool   // the line before is a row of a table
	// Where marks that end blocks are next, as follows knows it: in the line that is rewritten, and in rest.
	inLine, below map[string]int
}

func (r *rewriting) line(line string) {
	if r.end == "" && strings.HasPrefix(line, "|") {
		line = wikiCellCode.ReplaceAllStringFunc(line, cellCode)
	}
	clear(r.inLine)
	for {
		if r.end != "" {
			if line = r.code(line); strings.TrimSpace(line) == "" {
				return
			}
		}
		before, block, parameters, after, found := r.nextBlock(line)
		if !found {
			r.text(r.wholeRow(line))
			return
		}
		if strings.TrimSpace(before) != "" {
			r.text(before)
		}
		r.begin(block, parameters)
		if line = after; strings.TrimSpace(line) == "" {
			return
		}
	}
}

// cellCode returns a block of code in a cell as code within its line.
func cellCode(block string) string {
	code := strings.TrimSpace(wikiCellCode.FindStringSubmatch(block)[1])
	if code == "" || strings.Contains(code, "`") {
		return code
	}
	return "`" + strings.ReplaceAll(code, "|", `\|`) + "`"
}

// nextBlock divides a line outside of code at the first mark that begins or ends a block. Within a line, only one whose end follows begins one:
// people write about {code}, too.
func (r *rewriting) nextBlock(line string) (before, block, parameters, after string, found bool) {
	for from := 0; ; {
		m := wikiBlock.FindStringSubmatchIndex(line[from:])
		if m == nil {
			return "", "", "", "", false
		}
		begin, end := from+m[0], from+m[1]
		before, block, after = line[:begin], line[from+m[2]:from+m[3]], line[end:]
		if m[4] >= 0 {
			parameters = line[from+m[4] : from+m[5]]
		}
		isEscaped := strings.HasSuffix(before, `\`)
		if !isEscaped && (strings.TrimSpace(before) == "" || block == "quote" && r.quoted || r.isClosed("{"+block+"}", after)) {
			return before, block, parameters, after, true
		}
		from, parameters = end, ""
	}
}

// isClosed reports whether a mark follows, in the line or below.
func (r *rewriting) isClosed(mark, after string) bool {
	return follows(r.inLine, mark, after) || follows(r.below, mark, r.rest)
}

// follows reports whether mark is in text, which is what is left of a text that gets shorter from its start. known has, by mark, how many
// bytes of the text are left where the mark is next, or 0 if it does not come any more. So nothing is searched twice for a mark.
func follows(known map[string]int, mark, text string) bool {
	left, found := known[mark]
	if !found || left > len(text) {
		left = 0
		if at := strings.Index(text, mark); at >= 0 {
			left = len(text) - at
		}
		known[mark] = left
	}
	return left > 0
}

// text adds a line outside of code, or a part of one.
func (r *rewriting) text(line string) {
	isRow := strings.HasPrefix(line, "|")
	prefix := ""
	if r.quoted {
		prefix = "> "
	}
	line = wikiLine(line, r.base)
	r.out = append(r.out, prefix+line)
	if isRow && !r.isRow { // Markdown wants a line below the first row, with as many cells
		row := strings.TrimSuffix(strings.TrimRight(line, " \t"), "|")
		cells := strings.Count(row, "|") - strings.Count(row, `\|`)
		r.out = append(r.out, prefix+strings.Repeat("|---", min(max(cells, 1), 100))+"|")
	}
	r.isRow = isRow
}

// wholeRow returns the end of a line, and if it is a row of a table, with the lines in which its cells continue, which it takes. A row ends
// with a line that ends with |.
func (r *rewriting) wholeRow(line string) string {
	if !strings.HasPrefix(line, "|") {
		return line
	}
	const most = 100 // lines
	isWhole := func(line string) bool { return strings.HasSuffix(strings.TrimRight(line, " \t"), "|") }
	whole, rest := line, r.rest
	for n := 0; n < most && rest != "" && !isWhole(whole); n++ {
		var next string
		next, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimSpace(next) == "" || strings.HasPrefix(next, "|") || wikiBlock.MatchString(next) {
			return line
		}
		whole += "<br>" + strings.TrimSpace(next)
	}
	if !isWhole(whole) {
		return line
	}
	if whole != line {
		r.rest = rest
	}
	return whole
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

// begin begins or ends a block.
func (r *rewriting) begin(block, parameters string) {
	switch block {
	case "code", "noformat":
		language, title := wikiCode(parameters)
		r.title(title)
		r.out, r.end = append(r.out, "```"+language), "{"+block+"}"
	case "quote":
		if r.quoted {
			r.out = append(r.out, "") // else the next line continues the quote
		}
		r.quoted = !r.quoted
	case "panel":
		_, title := wikiCode(parameters)
		r.title(title)
	}
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
	line = strings.ReplaceAll(strings.ReplaceAll(line, "{*}", "**"), "{_}", "_") // Jira's editor writes these where words are next to them
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
