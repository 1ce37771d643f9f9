package repository

import (
	"regexp"
	"slices"
	"strings"
)

// Attributes is the name of the file that says which files an archive leaves out.
const Attributes = ".gitattributes"

// maxPatterns bounds the patterns of an Attributes file that are kept: the last ones, which count most.
const maxPatterns = 500

// Exported are the files of a commit that its archive has.
type Exported struct{ patterns []pattern }

// pattern is one of an Attributes file that sets or unsets export-ignore.
type pattern struct {
	form    *regexp.Regexp
	base    bool // it is about the last name of a path, in any folder
	folder  bool // it is about folders only
	ignored bool
}

// ExportedBy returns what the Attributes file at the top of a repository says about archives; those in other folders,
// and patterns in quotation marks, are not looked at.
func ExportedBy(text []byte) Exported {
	var e Exported
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[0], "!") || strings.HasPrefix(words[0], `"`) || strings.HasPrefix(words[0], "[attr]") {
			continue
		}
		for _, word := range words[1:] {
			if strings.TrimLeft(word, "-!") != "export-ignore" {
				continue
			}
			if p, ok := patternOf(words[0]); ok {
				p.ignored = word == "export-ignore"
				e.patterns = append(e.patterns, p)
			}
		}
	}
	e.patterns = e.patterns[max(0, len(e.patterns)-maxPatterns):]
	return e
}

// patternOf reads a pattern of gitattributes(5).
func patternOf(glob string) (p pattern, ok bool) {
	glob, p.folder = strings.CutSuffix(glob, "/")
	p.base = !strings.Contains(glob, "/")
	var b strings.Builder
	for rest := strings.TrimPrefix(glob, "/"); rest != ""; {
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case c == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case c == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		case c == '[' && strings.Contains(rest, "]"):
			set, after, _ := strings.Cut(rest[1:], "]")
			if inverted, is := strings.CutPrefix(set, "!"); is {
				set = "^" + inverted
			}
			b.WriteString("[" + set + "]")
			rest = after
		default:
			if c == '\\' && len(rest) > 1 {
				rest = rest[1:]
			}
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	var err error
	p.form, err = regexp.Compile("^(?s:" + b.String() + ")$")
	return p, err == nil
}

// Has reports whether an archive has a file: neither it nor a folder that it is in is ignored.
func (e Exported) Has(name string) bool {
	if len(e.patterns) == 0 {
		return true
	}
	for at := 0; at < len(name); {
		path, isFolder := name, false
		if end := strings.IndexByte(name[at:], '/'); end >= 0 {
			path, isFolder = name[:at+end], true
		}
		if e.ignores(path, path[at:], isFolder) {
			return false
		}
		at = len(path) + 1
	}
	return true
}

// ignores reports whether the last pattern about a file or folder says that it is ignored.
func (e Exported) ignores(path, base string, isFolder bool) bool {
	for _, p := range slices.Backward(e.patterns) {
		about := path
		if p.base {
			about = base
		}
		if (isFolder || !p.folder) && p.form.MatchString(about) {
			return p.ignored
		}
	}
	return false
}

// IsAttributes reports whether a file says which files an archive leaves out. When it changes, others come and go.
func IsAttributes(name string) bool {
	return name == Attributes || strings.HasSuffix(name, "/"+Attributes)
}
