package web

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/fetch"
)

// rules are those of a robots.txt for Docent (RFC 9309). The zero rules allow everything.
type rules struct {
	paths []pathRule
	delay time.Duration // of a Crawl-delay, which is not part of the RFC
}

type pathRule struct {
	path  string
	allow bool
}

// maxDelay bounds a Crawl-delay that is read, in seconds.
const maxDelay = 1e6

// noRules forbid everything.
var noRules = rules{paths: []pathRule{{path: "/"}}}

// parseRules returns the rules of the group for Docent, or of the group for all if there is none. Groups for the same name are
// one. It ignores lines that are invalid or in no group.
func parseRules(text string) rules {
	agent := strings.ToLower(fetch.UserAgent)
	groups := map[string]*rules{} // by name
	names := map[string]bool{}    // of the current group, as far as they are Docent's
	named := true                 // the line before was a name
	for line := range strings.FieldsFuncSeq(strings.TrimPrefix(text, "\ufeff"), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), firstWord(value)
		switch key {
		case "user-agent", "useragent":
			if !named {
				clear(names)
			}
			if name := strings.ToLower(value); name == "*" || name != "" && strings.HasPrefix(agent, name) {
				names[name] = true
			}
			named = true
		case "allow", "disallow", "crawl-delay", "crawldelay":
			for name := range names {
				if groups[name] == nil {
					groups[name] = &rules{}
				}
				groups[name].add(key, value)
			}
			named = false
		}
	}
	if len(groups) == 0 {
		return rules{}
	}
	return *groups[slices.MaxFunc(slices.Collect(maps.Keys(groups)), specific)]
}

func firstWord(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i]
	}
	return text
}

// specific compares names of groups: the longer one is meant more, and the one for all least.
func specific(a, b string) int {
	switch {
	case a == "*":
		return -1
	case b == "*":
		return 1
	}
	return len(a) - len(b)
}

func (r *rules) add(key, value string) {
	if strings.HasPrefix(key, "crawl") {
		if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
			r.delay = time.Duration(min(seconds, maxDelay) * float64(time.Second))
		}
		return
	}
	path := strings.TrimRight(value, "*")
	if value == "" {
		return // it is about no page
	}
	if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "*") {
		path = "/" + path
	}
	r.paths = append(r.paths, pathRule{escaped(path), key == "allow"})
}

// escaped returns text in the form in which paths are compared, by RFC 9309 section 2.2.2: what is not ASCII is escaped, an unreserved
// character is not.
func escaped(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c, isEscape := text[i], false
		if c == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, isEscape, i = byte(n), true, i+2
			}
		}
		if c > '~' || isEscape && !isUnreserved(c) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isUnreserved reports whether c means the same whether it is escaped or not, by RFC 3986 section 2.3.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// allow reports whether a page may be read, by the longest rule about it. Of two of the same length the one
// that allows it counts.
func (r *rules) allow(target string) bool {
	target = escaped(target)
	best, allowed := -1, true
	for _, p := range r.paths {
		if n := len(p.path); (n > best || n == best && p.allow) && p.matches(target) {
			best, allowed = n, p.allow
		}
	}
	return allowed
}

// matches reports whether a rule is about a page: whether the target begins with the path, in which * is any text and $ the
// end. It reads the target once.
func (p pathRule) matches(target string) bool {
	path, atEnd := strings.CutSuffix(p.path, "$")
	part, rest, more := strings.Cut(path, "*")
	target, ok := strings.CutPrefix(target, part)
	for ok && more {
		part, rest, more = strings.Cut(rest, "*")
		if atEnd && !more {
			return strings.HasSuffix(target, part)
		}
		_, target, ok = strings.Cut(target, part)
	}
	return ok && (!atEnd || target == "")
}
