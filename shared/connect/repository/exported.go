package repository

import (
	"regexp"
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
	var err error
	p.form, err = regexp.Compile("^(?s:" + globs.ReplaceAllStringFunc(strings.TrimPrefix(glob, "/"), expressionOf) + ")$")
	return p, err == nil
}

// globs matches each part of a pattern that means something else in a regular expression.
var globs = regexp.MustCompile(`\*\*/|\*\*|\*|\?|\[[^\]]+\]|\\.|[^A-Za-z0-9/]`)

// expressionOf returns the regular expression of such a part.
func expressionOf(part string) string {
	if same := expressions[part]; same != "" {
		return same
	}
	if len(part) > 1 && part[0] == '[' {
		return strings.Replace(part, "[!", "[^", 1)
	}
	if len(part) > 1 && part[0] == '\\' {
		part = part[1:]
	}
	return regexp.QuoteMeta(part)
}

var expressions = map[string]string{"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

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
	ignored := false
	for _, p := range e.patterns {
		about := path
		if p.base {
			about = base
		}
		if (isFolder || !p.folder) && p.form.MatchString(about) {
			ignored = p.ignored
		}
	}
	return ignored
}

// IsAttributes reports whether a file says which files an archive leaves out. When it changes, others come and go.
func IsAttributes(name string) bool {
	return name == Attributes || strings.HasSuffix(name, "/"+Attributes)
}
