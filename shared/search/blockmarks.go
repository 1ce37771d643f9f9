package search

import (
	"regexp"
	"strings"

	"docent/shared/search/text"
)

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

// isContainer reports whether container matches line. Most lines begin otherwise, and cost less by that.
func isContainer(line string) bool {
	begin := strings.TrimLeft(line, " ")
	if strings.HasPrefix(begin, "-") {
		return strings.HasPrefix(strings.TrimLeft(begin, "-"), "8<") && container.MatchString(line)
	}
	return begin != "" && strings.IndexByte(":/<{i", begin[0]) >= 0 && container.MatchString(line) && !tab.MatchString(begin)
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
