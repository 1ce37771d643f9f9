package text

import "strings"

// maxTarget bounds the target of a link, so that scanning is linear.
const maxTarget = 2048

// stripLinks removes Markdown's marks of links: [text](target) and ![alt](target)
// become their text, <a name=…></a> is dropped.
func stripLinks(s string) string {
	if !strings.Contains(s, "](") && !strings.Contains(s, "<a ") {
		return s
	}
	out := make([]byte, 0, len(s))
	var open []int // where in out an unmatched '[' is
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

// LinkTargetLen returns the length of the "(target)" at the start of s, or 0.
// Parentheses may nest. A target contains no line end and no bracket, so all calls over
// one text together take linear time.
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

// anchorLen returns the length of an <a name=…></a> at the start of s, or 0.
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
