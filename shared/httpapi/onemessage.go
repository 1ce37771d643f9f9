package httpapi

import (
	"errors"
	"io"
)

var errAfterMessage = errors.New("there is text after the message")

// oneMessage reads a body that is one JSON object or list. It fails at what follows that, except white space: the
// protocol's library ignores it. It does not check the JSON itself.
type oneMessage struct {
	body            io.Reader
	depth           int // of open objects and lists
	quoted, escaped bool
	ended           bool
	followed        bool // something came after the end
}

// Read passes on the bytes up to the end of the message.
func (m *oneMessage) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	for i, c := range p[:n] {
		if m.ended && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			m.followed = true
			return i, errAfterMessage
		}
		m.take(c)
	}
	return n, err
}

func (m *oneMessage) take(c byte) {
	switch {
	case m.escaped:
		m.escaped = false
	case m.quoted:
		m.escaped, m.quoted = c == '\\', c != '"'
	case c == '"':
		m.quoted = true
	case c == '{' || c == '[':
		m.depth++
	case c == '}' || c == ']':
		m.depth--
		m.ended = m.depth <= 0
	}
}
