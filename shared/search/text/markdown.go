package text

import "strings"

// maxTarget bounds a link's target, so that scanning stays linear.
const maxTarget = 2048

// stripLinks takes Markdown's marks away that are no content: [text](target) and
// ![alt](target) keep their text, <a name=…></a> goes.
func stripLinks(s string) string {
	if !strings.Contains(s, "](") && !strings.Contains(s, "<a ") {
		return s
	}
	out := make([]byte, 0, len(s))
	var open []int // where in out an unmatched '[' stands
	for i := 0; i < len(s); {
		switch {
		case s[i] == '[':
			open = append(open, len(out))
		case s[i] == '\n' && strings.HasPrefix(s[i:], "\n\n"):
			open = open[:0]
		case s[i] == ']' && len(open) > 0:
			at := open[len(open)-1]
			open = open[:len(open)-1]
			if n := LinkTargetLen(s[i+1:]); n > 0 {
				out[at] = 0
				if at > 0 && out[at-1] == '!' {
					out[at-1] = 0
				}
				i += 1 + n
				continue
			}
		case s[i] == '<':
			if n := anchorLen(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	kept := out[:0]
	for _, b := range out {
		if b != 0 {
			kept = append(kept, b)
		}
	}
	return string(kept)
}

// LinkTargetLen is the length of the "(target)" at the start of s, 0 when there is
// none. Parentheses may nest; neither a line ends nor a bracket stands within, so
// that all calls over one text together are linear in its length.
func LinkTargetLen(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	depth := 0
	for i := 0; i < len(s) && i < maxTarget; i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n', '[', ']':
			return 0
		}
	}
	return 0
}

// anchorLen is the length of an <a name=…></a> at the start of s, 0 when there is none.
func anchorLen(s string) int {
	if !strings.HasPrefix(s, "<a name=") && !strings.HasPrefix(s, "<a id=") {
		return 0
	}
	s = s[:min(len(s), maxTarget)]
	i := strings.IndexByte(s, '>')
	if i < 0 || !strings.HasPrefix(s[i+1:], "</a>") {
		return 0
	}
	return i + 1 + len("</a>")
}
