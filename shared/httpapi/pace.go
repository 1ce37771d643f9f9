package httpapi

import (
	"io"
	"net/http"
	"os"
	"time"
)

// A body and a reply stay in memory while the client sends or reads, so each must move at
// least 64 KB per second after a few seconds of grace. The largest body thus has three
// minutes.
const (
	leastRate = 64 << 10 // bytes per second
	grace     = 20 * time.Second
)

// pace limits how long one body or reply may keep the server waiting. Only waiting for
// the client counts, not waiting for room.
type pace struct {
	now    func() time.Time
	set    func(time.Time) error // the deadline of the connection; an error means that it has none
	waited time.Duration
	moved  int64
}

func newPace(now func() time.Time, set func(time.Time) error) *pace {
	return &pace{now: now, set: set}
}

// left returns how long the client may still take for the next byte.
func (p *pace) left() time.Duration {
	return grace + time.Duration(p.moved)*time.Second/leastRate - p.waited
}

// late reports whether the client took too long.
func (p *pace) late() bool { return p.left() <= 0 }

// move runs one read or write, which returns how many bytes it moved, under its deadline.
func (p *pace) move(do func() (int, error)) (int, error) {
	began := p.now()
	_ = p.set(began.Add(p.left())) // tests and functions have no deadlines
	n, err := do()
	p.waited += p.now().Sub(began)
	p.moved += int64(n)
	return n, err
}

// pacedReader reads a body at the minimum pace.
type pacedReader struct {
	io.Reader
	*pace
}

func (r pacedReader) Read(p []byte) (int, error) {
	return r.move(func() (int, error) { return r.Reader.Read(p) })
}

// pacedWriter writes at the minimum pace.
type pacedWriter struct {
	io.Writer
	*pace
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	return w.move(func() (int, error) { return w.Writer.Write(p) })
}

// writePaced writes a reply in parts at the minimum pace.
func writePaced(w http.ResponseWriter, body []byte, p *pace) {
	const part = 64 << 10
	for len(body) > 0 {
		n, err := p.move(func() (int, error) { return w.Write(body[:min(part, len(body))]) })
		if err != nil {
			return // the client is gone or too slow, and the connection ends with it
		}
		body = body[n:]
	}
}

// discardTime is the maximum time to read the rest of a refused body.
const discardTime = 10 * time.Minute

// discardReader reads the rest of a refused body. It needs no memory, so the body may be
// slower than the pace: every read gets the full grace.
type discardReader struct{ pacedReader }

func (r discardReader) Read(p []byte) (int, error) {
	if r.waited > discardTime {
		return 0, os.ErrDeadlineExceeded
	}
	one := newPace(r.now, r.set)
	n, err := pacedReader{r.Reader, one}.Read(p)
	r.waited += one.waited
	return n, err
}
