package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxText limits a filter or a path, in bytes.
const maxText = 8 << 10

// token is a piece of a filter: one of ( ) [ ], a quoted string, or a word. The last token is
// the empty word.
type token struct {
	text   string
	quoted bool
	spaced bool // follows white space
}

func (t token) is(structure string) bool { return !t.quoted && t.text == structure }

func (t token) isWord(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// structural reports whether t cannot be an operand.
func (t token) structural() bool {
	return !t.quoted && (t.text == "" || strings.Contains("()[]", t.text))
}

// Errors of tokenize.
var (
	tooLong      = fmt.Sprintf("it has more than %d bytes", maxText)
	malformed    = "it has an unfinished or malformed string"
	singleQuoted = "strings are written in double quotes, not in single ones"
)

// tokenize splits a filter or a path, or returns what is wrong with it. It rejects single
// quotes outside of a string: they would become part of a word.
func tokenize(text string) (tokens []token, problem string) {
	if len(text) > maxText {
		return nil, tooLong
	}
	if !utf8.ValidString(text) {
		return nil, malformed
	}
	spaced := false
	for text != "" {
		var length int
		switch c := text[0]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			spaced, text = true, text[1:]
			continue
		case strings.IndexByte("()[]", c) >= 0:
			length = 1
			tokens = append(tokens, token{text: text[:1], spaced: spaced})
		case c == '"':
			if length = quotedLength(text); length == 0 {
				return nil, malformed
			}
			var value string
			if json.Unmarshal([]byte(text[:length]), &value) != nil {
				return nil, malformed
			}
			tokens = append(tokens, token{text: value, quoted: true, spaced: spaced})
		default:
			if length = strings.IndexAny(text, " \t\r\n()[]\""); length < 0 {
				length = len(text)
			}
			if strings.Contains(text[:length], "'") {
				return nil, singleQuoted
			}
			tokens = append(tokens, token{text: text[:length], spaced: spaced})
		}
		spaced, text = false, text[length:]
	}
	return append(tokens, token{spaced: spaced}), ""
}

// quotedLength returns the length of the quoted string that text starts with, or 0 if it is not
// closed.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
