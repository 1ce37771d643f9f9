package jira

import (
	"regexp"
	"strings"
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
	wikiColor   = regexp.MustCompile(`\{color(?::[^}]*)?\}`)
	wikiImage   = regexp.MustCompile(`!([^!\s|][^!\n|]*\.[A-Za-z]{3,4})(?:\|[^!\n]*)?!`)
)

// wiki returns wiki markup as Markdown.
func wiki(markup, base string) string {
	var out []string
	quoted, head := false, false
	end := "" // of the block of code that is open
	for line := range strings.Lines(strings.ReplaceAll(markup, "\r\n", "\n")) {
		line = strings.TrimRight(line, "\n")
		if end != "" {
			before, after, closed := strings.Cut(line, end)
			if !closed {
				out = append(out, line)
				continue
			}
			if before != "" {
				out = append(out, before)
			}
			out, end = append(out, "```"), ""
			if line = after; strings.TrimSpace(line) == "" {
				continue
			}
		}
		if m := wikiBlock.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "code", "noformat":
				language, title := wikiCode(m[2])
				if title != "" {
					out = append(out, "**"+title+"**", "")
				}
				out, end = append(out, "```"+language), "{"+m[1]+"}"
				if code, after, closed := strings.Cut(m[3], end); closed { // on one line
					out, end = append(out, code, "```"), ""
					if strings.TrimSpace(after) != "" {
						out = append(out, wikiLine(after, base))
					}
				} else if m[3] != "" {
					out = append(out, m[3])
				}
				continue
			case "quote":
				quoted = !quoted
			case "panel":
				if _, title := wikiCode(m[2]); title != "" {
					out = append(out, "**"+title+"**", "")
				}
			}
			if line = m[3]; line == "" {
				continue
			}
		}
		prefix := ""
		if quoted {
			prefix = "> "
			if before, _, closed := strings.Cut(line, "{quote}"); closed {
				line, quoted = before, false
			}
		}
		isRow := strings.HasPrefix(line, "|")
		out = append(out, prefix+wikiLine(line, base))
		if isRow && !head {
			cells := strings.Count(strings.ReplaceAll(line, "||", "|"), "|") - 1
			out = append(out, prefix+strings.Repeat("|---", min(max(cells, 1), 100))+"|")
		}
		head = isRow
	}
	if end != "" {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
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
