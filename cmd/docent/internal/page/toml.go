package page

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Front matter of Hugo may be TOML, between two lines "+++". Its title is read, but no metadata, which would need a decoder of TOML
// for the whole program.
var (
	// tomlKey matches a line of TOML that is a key, a table or a comment.
	tomlKey   = regexp.MustCompile(`^(?:#|\[|["']?[\pL\pN_.-]+["']?[ \t]*=)`)
	tomlTable = regexp.MustCompile(`(?m)^[ \t]*\[`)
	tomlTitle = regexp.MustCompile(`(?m)^[ \t]*title[ \t]*=[ \t]*(?:("(?:[^"\\\n]|\\.)*")|'([^'\n]*)')`)
	// tomlAccess matches a line that may be meant to say who may read the file.
	tomlAccess = regexp.MustCompile(`(?mi)^[ \t]*(?:\[+[ \t]*)?["']?access["']?[ \t]*[=.\]]`)
)

var errTOMLAccess = errors.New("access in its front matter must be YAML, between lines of ---")

// cutTOML splits s into the lines between an opening "+++" and the next one, and the rest. Without both there is no front matter.
func cutTOML(s string) (front, body string, ok bool) {
	first, rest, ok := strings.Cut(s, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "+++" {
		return "", s, false
	}
	at := 0
	for line := range strings.Lines(rest) {
		text := strings.TrimRight(line, " \t\r\n")
		if text == "+++" {
			return rest[:at], strings.TrimLeft(rest[at+len(line):], "\r\n"), true
		}
		if at == 0 && text != "" && !tomlKey.MatchString(text) {
			break
		}
		at += len(line)
	}
	return "", s, false
}

// readTOML returns the title of front matter in TOML, or "". It is an error if the front matter may say who may read the file.
func readTOML(front string) (title string, err error) {
	if tomlAccess.MatchString(front) {
		return "", errTOMLAccess
	}
	top := front
	if at := tomlTable.FindStringIndex(front); at != nil {
		top = front[:at[0]]
	}
	m := tomlTitle.FindStringSubmatch(top)
	if m == nil {
		return "", nil
	}
	if m[1] == "" {
		return m[2], nil
	}
	title, err = strconv.Unquote(m[1])
	if err != nil { // an escape that only TOML has
		return "", nil //nolint:nilerr // the file's name is its title
	}
	return title, nil
}
