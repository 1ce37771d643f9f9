package rst

import (
	"strings"

	"docent/shared/raised"
)

// texts are roles whose text is shown as such. That of others, such as the name of a function or of an option, is shown as code.
var texts = words("ref doc term any numref sub sup subscript superscript abbr abbreviation guilabel menuselection title title-reference t " +
	"eq rfc pep cve cwe issue ghissue pr pull gh bpo user wiki download index raw-html youtube-short text dfn")

// role converts a text with a role.
func (s *scanner) role(role, content string) string {
	role = strings.ToLower(role[strings.LastIndexByte(role, ':')+1:])
	text, target, titled := cutTarget(content)
	switch {
	case titled && strings.Contains(text, " "): // words about what has the role
		return s.linked(text, webAddress(target))
	case titled && text != "":
	case role == "ref" || role == "numref":
		if title, known := s.titles[nameOf(content)]; known && s.names && s.spend(title) {
			return s.scan(title, false)
		}
		text = strings.NewReplacer("-", " ", "_", " ").Replace(content)
	case role == "doc":
		page := strings.TrimSuffix(content, "/index")
		text = strings.NewReplacer("-", " ", "_", " ").Replace(page[strings.LastIndexByte(page, '/')+1:])
	case role == "rfc" || role == "pep" || role == "cve":
		text = strings.ToUpper(role) + " " + content
	case strings.HasPrefix(content, "~"):
		text = content[strings.LastIndexByte(content, '.')+1:]
		text = strings.TrimPrefix(text, "~")
	default:
		text = strings.TrimPrefix(content, "!")
	}
	switch {
	case role == "strong":
		return "**" + text + "**"
	case role == "sup" || role == "superscript":
		return s.linked(raised.Text(text), webAddress(target))
	case role == "emphasis":
		return "*" + text + "*"
	case texts[role]:
		return s.linked(text, webAddress(target))
	default:
		return code(text)
	}
}
