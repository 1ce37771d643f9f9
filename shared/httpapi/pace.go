package httpapi

import (
	"io"
	"net/http"
	"time"
)

// A body and a reply are held in memory while the client sends or reads, so each
// must move on: 64 KB a second, after some seconds in which it may stand still.
// The largest body has three minutes that way.
const (
	leastRate = 64 << 10 // bytes a second
	grace     = 20 * time.Second
)

// pace is the deadline of one body or reply, which moves as bytes do.
type pace struct {
	now   func() time.Time
	set   func(time.Time) error // the deadline of the connection; an error means that it has none
	began time.Time
	moved int64
}

func newPace(now func() time.Time, set func(time.Time) error) *pace {
	return &pace{now: now, set: set, began: now()}
}

// deadline is when the next byte must have moved.
func (p *pace) deadline() time.Time {
	return p.began.Add(grace + time.Duration(p.moved)*time.Second/leastRate)
}

// allow sets the deadline for what comes next.
func (p *pace) allow() { _ = p.set(p.deadline()) } // a connection without deadlines is a test's or a function's

// late reports whether the deadline has passed.
func (p *pace) late() bool { return !p.now().Before(p.deadline()) }

// pacedReader reads a body at its pace.
type pacedReader struct {
	io.Reader
	*pace
}

func (r pacedReader) Read(p []byte) (int, error) {
	r.allow()
	n, err := r.Reader.Read(p)
	r.moved += int64(n)
	return n, err
}

// writePaced writes a reply in parts at its pace.
func writePaced(w http.ResponseWriter, body []byte, p *pace) {
	const part = 64 << 10
	for len(body) > 0 {
		p.allow()
		n, err := w.Write(body[:min(part, len(body))])
		if err != nil {
			return // the client is gone or too slow, and the connection ends with it
		}
		p.moved += int64(n)
		body = body[n:]
	}
}
