package jsoninput

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// maxShownName is how many characters of a name RepeatedName shows.
const maxShownName = 60

// RepeatedName returns why an object of the JSON in text is refused that has two members of the same name, such as `has an object
// with two members "a", the second at column 8`; empty: there is none. Readers differ in which of the two they take (RFC 8259
// section 4), so that a program on the way could check one, and another would count. Of a text that is not JSON it may return anything.
func RepeatedName(text []byte) string {
	var names []member // of all open objects
	var open []int     // where the names of each open object or list begin
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := stringEnd(text[i:])
			if end == 0 {
				return ""
			}
			if _, named := skip(text[i+end:], ':'); named {
				names = append(names, member{nameIn(text[i : i+end]), i})
			}
			i += end - 1
		case '{', '[':
			open = append(open, len(names))
		case '}', ']':
			if len(open) == 0 {
				return ""
			}
			last := open[len(open)-1]
			if twice, ok := repeated(names[last:]); ok {
				name := []rune(string(twice.name))
				if len(name) > maxShownName {
					name = append(name[:maxShownName], '…')
				}
				return fmt.Sprintf("has an object with two members %q, the second at %s", string(name), place(text, twice.at))
			}
			open, names = open[:len(open)-1], names[:last]
		}
	}
	return ""
}

// member is the name of a member and where it begins in the text.
type member struct {
	name []byte
	at   int
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

// repeated returns the second of two members of the same name. It sorts all.
func repeated(all []member) (second member, ok bool) {
	slices.SortFunc(all, func(a, b member) int { return cmp.Or(bytes.Compare(a.name, b.name), cmp.Compare(a.at, b.at)) })
	for i := 1; i < len(all); i++ {
		if bytes.Equal(all[i-1].name, all[i].name) {
			return all[i], true
		}
	}
	return member{}, false
}
