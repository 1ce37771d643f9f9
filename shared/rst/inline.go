package rst

import (
	"regexp"
	"strings"

	"docent/shared/backtick"
)

var (
	roleBefore  = regexp.MustCompile("^:([A-Za-z][\\w.+:-]*):`")
	roleAfter   = regexp.MustCompile(`^:([A-Za-z][\w.+:-]*):`)
	footnoteRef = regexp.MustCompile(`^\[(#?[\w.-]*|\*)\]_`)
	substitute  = regexp.MustCompile(`^\|([^|\s](?:[^|\n]{0,98}[^|\s])?)\|(?:__?)?`)
	address     = regexp.MustCompile("^(?:https?|ftp)://[^\\s<>\"`]+")
	bracketed   = regexp.MustCompile(`^<(?:https?://|mailto:)[^\s<>]+>`)
	word        = regexp.MustCompile(`^[\pL\pN_]+(?:[-.+:][\pL\pN_]+)*`)
)

// maxRole is how many bytes are searched for the name of a role.
const maxRole = 100

// scanner converts the markup within a paragraph.
type scanner struct {
	*document
	text string
	at   int
	out  strings.Builder
	// names says whether substitutions and the titles of labels are looked up. They are not within what was put for one: it could
	// name itself.
	names bool
	// unclosed says, by the number of backticks, that no further ones end a text in them, so that they are looked for once.
	unclosed [3]bool
}

// inline converts the markup within a text.
func (d *document) inline(text string) string { return d.scan(text, true) }

func (d *document) scan(text string, names bool) string {
	s := &scanner{document: d, text: text, names: names}
	for s.at < len(s.text) {
		if n := s.step(s.text[s.at:]); n > 0 {
			s.at += n
			continue
		}
		s.out.WriteByte(s.text[s.at])
		s.at++
	}
	return s.out.String()
}

// step converts the markup at the beginning of rest and returns its length, or 0 if there is none.
func (s *scanner) step(rest string) int {
	switch c := rest[0]; {
	case c == '\\':
		return s.escape(rest)
	case c == '`':
		return s.quoted(rest, "")
	case c == ':':
		if m := roleBefore.FindStringSubmatch(rest[:min(len(rest), maxRole)]); m != nil {
			if n := s.quoted(rest[len(m[0])-1:], m[1]); n > 0 {
				return len(m[0]) - 1 + n
			}
		}
	case c == '|':
		return s.substitution(rest)
	case c == '[':
		if m := footnoteRef.FindStringSubmatch(rest); m != nil {
			s.out.WriteString("[" + strings.TrimLeft(m[1], "#") + "]")
			return len(m[0])
		}
	case c == '<':
		if m := bracketed.FindString(rest); m != "" {
			s.out.WriteString(m)
			return len(m)
		}
		s.out.WriteString(`\<`)
		return 1
	case c == '_' && strings.HasPrefix(rest, "_`"): // the target of a link
		return 1
	default:
		return s.word(rest)
	}
	return 0
}

// escape converts a backslash and what it takes the meaning from. An escaped blank separates markup, and is not shown.
func (s *scanner) escape(rest string) int {
	switch {
	case len(rest) == 1:
		s.out.WriteString(`\\`)
		return 1
	case rest[1] == ' ' || rest[1] == '\n':
	case isPunctuation(rest[1]):
		s.out.WriteString(rest[:2])
	default:
		s.out.WriteByte(rest[1])
	}
	return 2
}

// word copies a word, and makes a link of one with an underscore behind it that has an address.
func (s *scanner) word(rest string) int {
	if m := address.FindString(rest); m != "" {
		s.out.WriteString(m)
		return len(m)
	}
	m := word.FindString(rest)
	if m == "" {
		return 0
	}
	if name := strings.TrimRight(m, "_"); name != m && name != "" {
		if to := s.addressOf(name); to != "" && s.spend(to) {
			s.out.WriteString(link(name, to))
			return len(m)
		}
	}
	if strings.HasPrefix(m, "_") || strings.HasSuffix(m, "_") {
		s.out.WriteString(strings.ReplaceAll(m, "_", `\_`))
	} else {
		s.out.WriteString(m)
	}
	return len(m)
}

// addressOf returns the web address of a name, or "".
func (s *scanner) addressOf(name string) string {
	to := s.addresses[nameOf(name)]
	for range 4 { // an address may be that of another name
		other, indirect := indirectly(to)
		if !indirect {
			return to
		}
		to = s.addresses[nameOf(other)]
	}
	return ""
}

// indirectly returns the name whose address is meant by the address "name_", and reports whether it is one.
func indirectly(to string) (name string, indirect bool) {
	name, indirect = strings.CutSuffix(to, "_")
	return name, indirect && !strings.Contains(to, "://")
}

// webAddress returns an address without the blanks in it, or "" if it is not one of the web.
func webAddress(to string) string {
	if to = strings.Join(strings.Fields(to), ""); address.FindString(to) != to {
		return ""
	}
	return to
}

func link(text, to string) string {
	to = strings.NewReplacer("(", "%28", ")", "%29").Replace(to)
	return "[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(text) + "](" + to + ")"
}

func (s *scanner) substitution(rest string) int {
	m := substitute.FindStringSubmatch(rest)
	if m == nil {
		return 0
	}
	text, known := s.substitutions[m[1]]
	if !known || !s.names || !s.spend(text) {
		text = m[1]
	}
	s.out.WriteString(s.document.scan(text, false))
	return len(m[0])
}

// quoted converts a text in backticks at the beginning of rest, with the role before it.
func (s *scanner) quoted(rest, role string) int {
	if strings.HasPrefix(rest, "``") && role == "" {
		end := s.end(rest[2:], "``")
		if end < 1 {
			return 0
		}
		for strings.HasPrefix(rest[2+end+2:], "`") { // the last two of a run end it
			end++
		}
		s.out.WriteString(code(rest[2 : 2+end]))
		return 2 + end + 2
	}
	end := s.end(rest[1:], "`")
	if end < 1 {
		return 0
	}
	content, after, n := rest[1:1+end], rest[end+2:], end+2
	switch m := roleAfter.FindStringSubmatch(after[:min(len(after), maxRole)]); {
	case role != "":
		s.out.WriteString(s.role(role, content))
	case strings.HasPrefix(after, "_"):
		s.out.WriteString(s.reference(content))
		if n++; strings.HasPrefix(after, "__") {
			n++
		}
	case m != nil:
		s.out.WriteString(s.role(m[1], content))
		n += len(m[0])
	default:
		s.out.WriteString(code(content))
	}
	return n
}

// end returns where mark, one or two backticks, is in text, or -1.
func (s *scanner) end(text, mark string) int {
	if s.unclosed[len(mark)] {
		return -1
	}
	end := strings.Index(text, mark)
	s.unclosed[len(mark)] = end < 0
	return end
}

// reference converts the text of a link: "text <address>", or a name that has an address elsewhere.
func (s *scanner) reference(content string) string {
	text, to, found := cutTarget(content)
	if !found {
		return s.linked(text, s.addressOf(content))
	}
	if text == "" {
		text = to
	}
	if name, indirect := indirectly(to); indirect {
		return s.linked(text, s.addressOf(name))
	}
	return s.linked(text, webAddress(to))
}

func (s *scanner) linked(text, to string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = s.scan(strings.ReplaceAll(text, "`", ""), false)
	if to == "" || !s.spend(to) {
		return text
	}
	return link(text, to)
}

// cutTarget divides "text <target>", and reports whether it has that form.
func cutTarget(content string) (text, target string, found bool) {
	open := strings.LastIndexByte(content, '<')
	if open < 0 || !strings.HasSuffix(content, ">") {
		return content, "", false
	}
	return strings.TrimSpace(content[:open]), strings.TrimSpace(content[open+1 : len(content)-1]), true
}

// code returns text as code, on one line.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	n := backtick.Longest(text)
	if n == 0 {
		return "`" + text + "`"
	}
	mark := strings.Repeat("`", n+1)
	return mark + " " + text + " " + mark
}
