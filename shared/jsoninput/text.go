package jsoninput

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CutString reads the JSON string (RFC 8259 section 7) at the start of text, and returns its value and what
// follows it. It is for long texts and many texts, where encoding/json takes several times as long. ok is false
// for what is not a string, and for the few that are left to encoding/json: those with surrogates, and those that
// are not UTF-8.
func CutString[T string | []byte](text T) (value string, rest T, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return "", text, false
	}
	end, escaped := 1, false
	for end < len(text) && text[end] != '"' {
		switch {
		case text[end] == '\\':
			escaped = true
			end += 2
		case text[end] < ' ':
			return "", text, false
		default:
			end++
		}
	}
	if end >= len(text) {
		return "", text, false
	}
	if value, ok = string(text[1:end]), true; escaped {
		value, ok = unescape(value)
	}
	if !ok || !utf8.ValidString(value) {
		return "", text, false
	}
	return value, text[end+1:], true
}

// unescape returns text with its escapes replaced. A backslash is never the last byte.
func unescape(text string) (string, bool) {
	var b strings.Builder
	b.Grow(len(text))
	for {
		plain, escape, found := strings.Cut(text, `\`)
		b.WriteString(plain)
		if !found {
			return b.String(), true
		}
		kind := escape[0]
		text = escape[1:]
		if at := strings.IndexByte(`"\/bfnrt`, kind); at >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[at])
			continue
		}
		if kind != 'u' || len(text) < 4 {
			return "", false
		}
		char, err := strconv.ParseUint(text[:4], 16, 16)
		if err != nil || !utf8.ValidRune(rune(char)) {
			return "", false
		}
		b.WriteRune(rune(char))
		text = text[4:]
	}
}

// Members returns the members of the JSON object in text, as parts of text; of members with the same name, the
// last. text must be valid JSON: what is not may be returned as it is. ok is false if text is not an object, or has
// a name that CutString does not read.
func Members(text []byte) (members map[string][]byte, ok bool) {
	text, ok = skip(text, '{')
	if !ok {
		return nil, false
	}
	members = map[string][]byte{}
	if rest, ended := skip(text, '}'); ended {
		return members, len(trimSpace(rest)) == 0
	}
	for {
		name, rest, named := CutString(trimSpace(text))
		if !named {
			return nil, false
		}
		if text, ok = skip(rest, ':'); !ok {
			return nil, false
		}
		text = trimSpace(text)
		end := valueEnd(text)
		if end == 0 {
			return nil, false
		}
		members[name] = bytes.TrimRight(text[:end], space)
		if rest, ok = skip(text[end:], ','); ok {
			text = rest
			continue
		}
		rest, ok = skip(text[end:], '}')
		return members, ok && len(trimSpace(rest)) == 0
	}
}

// AllMembers returns the members of the JSON object in text as Members does, and leaves a text to encoding/json that Members
// does not read. text must be valid JSON. It returns an error for what is not an object, and nil for null.
func AllMembers(text []byte) (map[string][]byte, error) {
	if members, ok := Members(text); ok {
		return members, nil
	}
	var decoded map[string]json.RawMessage
	if err := json.Unmarshal(text, &decoded); err != nil || decoded == nil {
		return nil, err
	}
	members := make(map[string][]byte, len(decoded))
	for name, value := range decoded {
		members[name] = value
	}
	return members, nil
}

// valueEnd returns where the value at the start of text ends: at the comma or the bracket after it.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// space has the white space of JSON.
const space = " \t\r\n"

func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, space) }

// skip returns what follows the mark, which may have space before it.
func skip(text []byte, mark byte) ([]byte, bool) {
	text = trimSpace(text)
	if len(text) == 0 || text[0] != mark {
		return text, false
	}
	return text[1:], true
}

// LoneSurrogate says to clients what is wrong with a text for which HasLoneSurrogate returns true.
const LoneSurrogate = `has half of a surrogate pair, such as \ud83d without the half after it: a character was cut in two`

// HasLoneSurrogate reports whether a string of the JSON in text has an escape that is half of a surrogate pair, such as
// \ud800 alone. Decoders differ in what they make of it (RFC 8259 section 8.2): Go puts U+FFFD in its place, and so
// makes texts equal that differ.
func HasLoneSurrogate(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 >= len(text) {
			return false
		}
		first, escaped := escapedRune(text[at:])
		if !escaped || !utf16.IsSurrogate(first) {
			text = text[at+2:]
			continue
		}
		text = text[at+escapeLength:]
		second, _ := escapedRune(text)
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		text = text[escapeLength:]
	}
}

// escapeLength is the length of an escape such as \ud800.
const escapeLength = 6

// escapedRune returns the UTF-16 code unit that text begins with as an escape.
func escapedRune(text []byte) (r rune, ok bool) {
	if len(text) < escapeLength || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:escapeLength]), 16, 16)
	return rune(unit), err == nil
}
