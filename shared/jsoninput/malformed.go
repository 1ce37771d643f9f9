package jsoninput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Malformed returns why text is no JSON, where, and what to do about the usual mistakes, such as "is not well-formed
// JSON at column 8". It quotes nothing of text. err is what encoding/json says about text; if it is no error of syntax, the result is empty.
func Malformed(text []byte, err error) string {
	const malformed = "is not well-formed JSON"
	var syntax *json.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return ""
	case strings.HasPrefix(err.Error(), "unexpected end"):
		return malformed + ": it ends too early"
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return malformed + ": it begins with a byte order mark, which JSON must not have"
	}
	before := text[:min(max(int(syntax.Offset), 1), len(text))-1]
	where := fmt.Sprintf("column %d", 1+utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]))
	if bytes.IndexByte(text, '\n') >= 0 {
		where = fmt.Sprintf("line %d, %s", 1+bytes.Count(before, []byte{'\n'}), where)
	}
	advice := ""
	switch {
	case strings.HasSuffix(err.Error(), "in string literal"):
		advice = `: in a string, line breaks and other control characters are escaped, as in \n`
	case strings.HasSuffix(err.Error(), "in string escape code"):
		advice = `: in a string, a backslash is escaped, as in \\`
	case text[len(before)] == '\'':
		advice = ": strings are in double quotes"
	}
	return malformed + " at " + where + advice
}
