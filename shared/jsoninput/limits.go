// Package jsoninput checks JSON from clients before it is decoded, and reads its
// integers and times. A few bytes of JSON can decode into hundreds of bytes of memory: "{},"
// repeated is an object each time. A Walker counts what a decoder would allocate.
package jsoninput

import "fmt"

// MaxDepth is the deepest nesting that Limits may allow.
const MaxDepth = 64

// Limits bounds one text, or one stream of texts.
type Limits struct {
	Depth   int // nesting of objects and arrays, at most MaxDepth
	Values  int // objects, arrays, strings, numbers and literals; member names count as strings
	Members int // members of one object
	Literal int // bytes of one number, true, false or null

	// Lines is set for JSON Lines: each line is a text of its own, whatever the one before left open. Only Values is checked, for all
	// lines together: the reader of a line checks the other limits, so that breaking one is a fault of the line.
	Lines bool
}

// LimitError says which limit a text exceeds. Its text is fit for clients.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// Walker checks a text against its limits as the text arrives. It does not check
// that the text is JSON: its counts are upper bounds for any decoder that reads
// the text from its beginning, whether or not the decoder fails on the way.
type Walker struct {
	limits   Limits
	values   int
	depth    int
	members  [MaxDepth + 1]int // of the object at each depth
	literal  int               // bytes of the literal that the walker is in
	inString bool
	escaped  bool
	err      error
}

// New returns a Walker at the beginning of a text.
func New(l Limits) *Walker { return &Walker{limits: l} }

// Check walks a whole text and returns the number of its values, or a *LimitError.
func Check(text []byte, l Limits) (values int, err error) {
	w := New(l)
	_, err = w.Write(text)
	return w.values, err
}

// Values returns the number of values so far.
func (w *Walker) Values() int { return w.values }

// Write walks the next part of the text. It returns a *LimitError as soon as a
// limit is exceeded, and again for every part after that.
func (w *Walker) Write(part []byte) (int, error) {
	for i := 0; i < len(part) && w.err == nil; i++ {
		if w.inString {
			i = w.string(part, i)
			continue
		}
		w.step(part[i])
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(part), nil
}

// string skips the inside of a string from i on and returns the index of its last
// byte in part.
func (w *Walker) string(part []byte, i int) int {
	for ; i < len(part); i++ {
		switch {
		case w.limits.Lines && part[i] == '\n':
			w.newLine()
			return i
		case w.escaped:
			w.escaped = false
		case part[i] == '\\':
			w.escaped = true
		case part[i] == '"':
			w.inString = false
			return i
		}
	}
	return i
}

func (w *Walker) step(b byte) {
	switch b {
	case ',':
		w.literal = 0
	case ':':
		w.literal = 0
		if w.members[w.depth]++; w.members[w.depth] > w.limits.Members && !w.limits.Lines {
			w.exceed("has an object of more than %d members", w.limits.Members)
		}
	case '"':
		w.literal, w.inString = 0, true
		w.count()
	case '{', '[':
		w.literal = 0
		w.count()
		if w.limits.Lines {
			return
		}
		if w.depth >= w.limits.Depth {
			w.exceed("is nested more than %d levels deep", w.limits.Depth)
			return
		}
		w.depth++
		w.members[w.depth] = 0
	case '}', ']':
		w.literal = 0
		w.depth = max(w.depth-1, 0)
	default:
		if b <= ' ' { // blanks, and what is not JSON at all
			w.literal = 0
			if w.limits.Lines && b == '\n' {
				w.newLine()
			}
			return
		}
		if w.literal++; w.literal == 1 {
			w.count()
		}
		if w.literal > w.limits.Literal && !w.limits.Lines {
			w.exceed("has a number of more than %d characters", w.limits.Literal)
		}
	}
}

func (w *Walker) newLine() {
	w.literal = 0
	w.inString, w.escaped = false, false
}

func (w *Walker) count() {
	if w.values++; w.values > w.limits.Values {
		w.exceed("has more than %d values", w.limits.Values)
	}
}

func (w *Walker) exceed(format string, limit int) {
	if w.err == nil {
		w.err = &LimitError{fmt.Sprintf(format, limit)}
	}
}
