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
	where := place(text, len(before))
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

// place returns where in text the character at a byte is, such as "line 2, column 3": without the line, if text has only one.
func place(text []byte, at int) string {
	before := text[:at]
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	if bytes.IndexByte(text, '\n') < 0 {
		return fmt.Sprintf("column %d", column)
	}
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte{'\n'}), column)
}
