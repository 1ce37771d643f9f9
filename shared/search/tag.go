package search

import (
	"regexp"
	"strings"

	"docent/shared/raised"
)

// maxTagBytes bounds a tag, so that scanning is linear.
const maxTagBytes = 2048

// htmlTags are the elements that count as HTML. Anything else in angle brackets, such
// as List<String>, is text.
var htmlTags = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`a abbr address article aside audio b base bdi bdo blockquote body br button canvas caption center
		cite code col colgroup dd del details dfn div dl dt em embed fieldset figcaption figure font footer form frame h1 h2 h3 h4 h5 h6
		head header hr html i iframe img input ins kbd label li link main mark meta nav noscript object ol p param picture pre q s samp
		script section small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead title
		tr track tt u ul var video wbr`) {
		set[name] = true
	}
	return set
}()

// componentTag matches the tag of a component without content, as MDX has them, and component its inside.
var (
	componentTag = regexp.MustCompile(`<[A-Z][a-z]\w*\s[^<>]*/>`)
	component    = regexp.MustCompile(`^[A-Z][a-z]\w*\s[^<]*/$`)
	// around matches the inside of the tags of a component with content, and has its name.
	around = regexp.MustCompile(`^/?([A-Z][a-z]\w*)(?:\s[^<]*)?$`)
)

// tag returns the length of the HTML tag, comment, component or <address> at the start of s, and the text
// that replaces it: a space if the tag keeps words apart. A number that stands above the line belongs to its tag. The length is 0 if
// there is none. s begins with '<'.
func tag(s string) (n int, text string) {
	s = s[:min(len(s), maxTagBytes)]
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s, "-->"); end >= 0 {
			return end + 3, ""
		}
		return 0, ""
	}
	end := strings.IndexByte(s, '>')
	if end < 0 {
		return 0, ""
	}
	inside := s[1:end]
	if strings.HasPrefix(inside, "http://") || strings.HasPrefix(inside, "https://") || strings.HasPrefix(inside, "mailto:") {
		return end + 1, inside
	}
	name := strings.TrimPrefix(inside, "/")
	if i := strings.IndexAny(name, " \t\n/"); i >= 0 {
		name = name[:i]
	}
	if component.MatchString(inside) {
		return end + 1, ""
	}
	if m := around.FindStringSubmatch(inside); m != nil && (inside[0] == '/' || strings.Contains(s[end:], "</"+m[1]+">")) {
		return end + 1, ""
	}
	name = strings.ToLower(name)
	if !htmlTags[name] {
		return 0, ""
	}
	switch name {
	case "sup":
		number, after, _ := strings.Cut(s[end+1:], "<")
		if strings.EqualFold(inside, "sup") && strings.EqualFold(after[:min(len("/sup>"), len(after))], "/sup>") && raised.Number(number) {
			return end + 1 + len(number) + len("</sup>"), raised.Text(number)
		}
	case "img":
		return end + 1, attribute(inside, "alt")
	case "br", "caption", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "summary", "td", "th", "tr":
		return end + 1, " "
	}
	return end + 1, ""
}

// attribute returns the quoted value of an attribute within a tag, or "".
func attribute(tag, name string) string {
	i := strings.Index(strings.ToLower(tag), name+"=")
	if i < 0 || i+len(name)+1 >= len(tag) {
		return ""
	}
	quote := tag[i+len(name)+1]
	if quote != '"' && quote != '\'' {
		return ""
	}
	value, _, ok := strings.Cut(tag[i+len(name)+2:], string(quote))
	if !ok {
		return ""
	}
	return value
}
