package document

import (
	"encoding/json"
	"strings"

	"docent/shared/jsoninput"
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
	if ok && r.skip(`,"Page":`) {
		ok = r.int(&p.Page)
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
func (r *passageReader) text(into *string) (ok bool) {
	*into, r.left, ok = jsoninput.CutString(r.left)
	return ok
}
