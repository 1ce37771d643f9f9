package document

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"docent/shared/search/text"
)

// passagesFrom decodes the passages of a chunk, which are stored as JSON. A search decodes many, so the form
// that chunkItem stores is read here; encoding/json reads every other form, and returns the errors.
func passagesFrom(stored string) ([]text.Passage, error) {
	r := passageReader{left: stored}
	if passages, ok := r.passages(); ok {
		return passages, nil
	}
	var passages []text.Passage
	err := json.Unmarshal([]byte(stored), &passages)
	return passages, err
}

// passageReader reads the compact JSON of passages from the start of left.
type passageReader struct{ left string }

func (r *passageReader) passages() ([]text.Passage, bool) {
	if !r.skip("[") {
		return nil, false
	}
	passages := make([]text.Passage, 0, strings.Count(r.left, `{"Start":`))
	for {
		p, ok := r.passage()
		if !ok {
			return nil, false
		}
		passages = append(passages, p)
		if r.skip("]") {
			return passages, r.left == ""
		}
		if !r.skip(",") {
			return nil, false
		}
	}
}

func (r *passageReader) passage() (p text.Passage, ok bool) {
	ok = r.skip(`{"Start":`) && r.int(&p.Start) && r.skip(`,"End":`) && r.int(&p.End) && r.skip(`,"Heading":`) && r.text(&p.Heading)
	if ok && r.skip(`,"Opening":`) {
		ok = r.text(&p.Opening)
	}
	return p, ok && r.skip("}")
}

func (r *passageReader) skip(expected string) bool {
	left, ok := strings.CutPrefix(r.left, expected)
	r.left = left
	return ok
}

// int reads up to nine digits without a leading zero.
func (r *passageReader) int(into *int) bool {
	n := 0
	for n < len(r.left) && r.left[n]-'0' <= 9 {
		n++
	}
	if n == 0 || n > 9 || n > 1 && r.left[0] == '0' {
		return false
	}
	for _, digit := range []byte(r.left[:n]) {
		*into = *into*10 + int(digit-'0')
	}
	r.left = r.left[n:]
	return true
}

// text reads a string. It shares memory with left if there is nothing to unescape.
func (r *passageReader) text(into *string) bool {
	if !r.skip(`"`) {
		return false
	}
	end := strings.IndexAny(r.left, `"\`)
	if end < 0 || !isPlain(r.left[:end]) {
		return false
	}
	if r.left[end] == '"' {
		*into, r.left = r.left[:end], r.left[end+1:]
		return true
	}
	var b strings.Builder
	for {
		b.WriteString(r.left[:end])
		mark := r.left[end]
		r.left = r.left[end+1:]
		if mark == '"' {
			*into = b.String()
			return true
		}
		if !r.escape(&b) {
			return false
		}
		if end = strings.IndexAny(r.left, `"\`); end < 0 || !isPlain(r.left[:end]) {
			return false
		}
	}
}

// isPlain reports whether s is valid UTF-8 without control characters, as JSON requires of a string.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' {
			return false
		}
	}
	return utf8.ValidString(s)
}

// escape reads what follows a backslash. It leaves surrogates to encoding/json.
func (r *passageReader) escape(into *strings.Builder) bool {
	if r.left == "" {
		return false
	}
	kind := r.left[0]
	r.left = r.left[1:]
	if plain := strings.IndexByte(`"\/bfnrt`, kind); plain >= 0 {
		return into.WriteByte("\"\\/\b\f\n\r\t"[plain]) == nil
	}
	if kind != 'u' || len(r.left) < 4 {
		return false
	}
	char, err := strconv.ParseUint(r.left[:4], 16, 16)
	if err != nil || !utf8.ValidRune(rune(char)) {
		return false
	}
	r.left = r.left[4:]
	into.WriteRune(rune(char))
	return true
}
