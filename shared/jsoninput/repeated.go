package jsoninput

import (
	"bytes"
	"encoding/json"
	"slices"
)

// RepeatedName says to clients what is wrong with a text for which HasRepeatedName returns true.
const RepeatedName = "has an object with two members of the same name"

// HasRepeatedName reports whether an object of the JSON in text has two members of the same name. Readers differ in which of them
// they take (RFC 8259 section 4), so that a program on the way could check one, and another would count. Of a text that is not
// JSON it may return anything.
func HasRepeatedName(text []byte) bool {
	var names [][]byte // of all open objects
	var open []int     // where the names of each open object or list begin
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := stringEnd(text[i:])
			if end == 0 {
				return false
			}
			if _, named := skip(text[i+end:], ':'); named {
				names = append(names, nameIn(text[i:i+end]))
			}
			i += end - 1
		case '{', '[':
			open = append(open, len(names))
		case '}', ']':
			if len(open) == 0 {
				return false
			}
			last := open[len(open)-1]
			if repeats(names[last:]) {
				return true
			}
			open, names = open[:len(open)-1], names[:last]
		}
	}
	return false
}

// stringEnd returns where the string at the start of text ends, 0 if it does not.
func stringEnd(text []byte) int {
	for end := 1; ; end++ {
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			return 0
		}
		end += next
		backslashes := 0
		for text[end-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return end + 1
		}
	}
}

// nameIn returns the name that the string in text is: a part of text, unless it has escapes.
func nameIn(text []byte) []byte {
	var name string
	if bytes.IndexByte(text, '\\') < 0 || json.Unmarshal(text, &name) != nil {
		return text[1 : len(text)-1]
	}
	return []byte(name)
}

// repeats reports whether names has one twice. It sorts them.
func repeats(names [][]byte) bool {
	slices.SortFunc(names, bytes.Compare)
	for i := 1; i < len(names); i++ {
		if bytes.Equal(names[i-1], names[i]) {
			return true
		}
	}
	return false
}
