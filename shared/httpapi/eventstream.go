package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"docent/shared/apierr"
)

const (
	eventsType = "text/event-stream"
	// streamBytes are charged for a stream while it is open, for the event that is being sent.
	streamBytes = 32 << 10
	// keepOpenEvery is the longest time in which nothing is sent. Then a comment keeps proxies from
	// closing a connection that seems idle.
	keepOpenEvery = 10 * time.Second
	// recheckFirst is when the caller of an open stream is checked again for the first time, and the age from which a
	// reply, or a text of a stream, is checked before it is sent. A key may have been cached for 9 s before, and is dead
	// 10 s after it was revoked.
	recheckFirst = time.Second
	// recheckEvery is how often the caller of an open stream is checked again, if nothing is sent, and how old the start of a check may
	// be when text is sent, unless the check itself took longer.
	recheckEvery = 5 * time.Second
)

// wantsEvents reports whether the request of ctx asks for events: whether its Accept names
// text/event-stream, with a weight above 0 and not below that of application/json. A call of an
// agent never does, although its transport names that type, too.
func wantsEvents(ctx context.Context) bool {
	reply := requestFrom(ctx).reply
	if reply == nil || reply.r.Method == http.MethodHead || reply.request.route == http.MethodPost+" "+mcpPath {
		return false
	}
	accept := reply.r.Header.Get("Accept")
	return names(accept, eventsType) && weight(accept, eventsType) >= weight(accept, "application/json")
}

// eventStream is a reply of server-sent events, as the HTML standard defines them in section
// 9.2. A client must take each event within grace; otherwise the stream is broken, and
// the rest is discarded. Its methods may be called from several goroutines at once.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	refusal func() []byte // returns the last event if the stream must end now; nil: it never must
	ended   chan struct{} // closed by close
	stopped chan struct{} // closed when keepOpen returns

	mu     sync.Mutex
	broken bool
	closed bool
	due    time.Time   // from when the caller is checked before text is sent
	idle   *time.Timer // until the next comment
	cancel func()      // ends a check of the key
}

// roomForEvents reserves what a stream needs, before anything is done that a refusal would leave half done.
func roomForEvents(ctx context.Context) error { return requestFrom(ctx).reply.reserve(streamBytes) }

// openEvents replies to the request of ctx with a stream, for which there is room: it sends the status and the headers,
// and what the operation returns is discarded.
func openEvents(ctx context.Context) *eventStream {
	return openEventsEnding(ctx, func(p *problem) []byte {
		if requestFrom(ctx).chat {
			return eventOf("", "", map[string]any{"error": chatErrorOf(p)})
		}
		return eventOf("error", "", p)
	})
}

// openEventsEnding is openEvents for a stream that ends with an event of its own if its caller may no longer be answered. Its ending is
// called from another goroutine.
func openEventsEnding(ctx context.Context, ending func(*problem) []byte) *eventStream {
	reply := requestFrom(ctx).reply
	h := reply.Header()
	h.Set("Content-Type", eventsType)
	h.Set("X-Accel-Buffering", "no") // proxies must not collect the events
	reply.WriteHeader(http.StatusOK)
	h.Set("Cache-Control", "no-store, no-transform") // nor to compress them, for which they collect them, too
	reply.ResponseWriter.WriteHeader(http.StatusOK)
	checking, cancel := context.WithCancel(ctx)
	s := newEventStream(reply.ResponseWriter, requestFrom(ctx).begun, func() []byte { return refusalEvent(checking, ending) })
	s.cancel = cancel
	reply.events, reply.empty = s, true
	s.write(nil) // sends the headers
	return s
}

// refusedNow returns the error if the caller of the request of ctx may no longer be answered, and nil otherwise, also
// if that cannot be found out.
func refusedNow(ctx context.Context) *apierr.Error {
	req := requestFrom(ctx)
	if req.recheck == nil {
		return nil
	}
	var refused *apierr.Error
	if _, err := req.recheck(ctx); !errors.As(withdrawn(err), &refused) || refused.Kind == apierr.Internal || refused.Kind == apierr.Unavailable {
		return nil
	}
	return refused
}

var errKeyGone = apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, "The key of this request no longer works.")

// withdrawn returns err of a recheck as the client is told it.
func withdrawn(err error) error {
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Kind == apierr.Unauthenticated {
		return errKeyGone
	}
	return err
}

// refusalEvent returns the event that ends the stream of the request of ctx if its caller may no longer be answered,
// and nil otherwise.
func refusalEvent(ctx context.Context, ending func(*problem) []byte) []byte {
	refused := refusedNow(ctx)
	if refused == nil {
		return nil
	}
	return ending(newProblem(ctx, refused.Kind.Status(), refused.Code, refused.Detail)) // toProblem is for the request's own goroutine
}

// newEventStream returns a stream whose caller was checked at the time checked.
func newEventStream(w http.ResponseWriter, checked time.Time, refusal func() []byte) *eventStream {
	s := &eventStream{w: w, control: http.NewResponseController(w), refusal: refusal, cancel: func() {},
		ended: make(chan struct{}), stopped: make(chan struct{}), idle: time.NewTimer(keepOpenEvery), due: checked.Add(recheckFirst)}
	go s.keepOpen()
	return s
}

// keepOpen sends a comment whenever nothing else was sent for a while, and ends a stream whose caller is refused.
func (s *eventStream) keepOpen() {
	defer close(s.stopped)
	recheck := time.NewTimer(recheckFirst)
	defer recheck.Stop()
	if s.refusal == nil {
		recheck.Stop()
	}
	for {
		select {
		case <-s.ended:
			return
		case <-s.idle.C:
			s.write([]byte(":\n\n"))
		case <-recheck.C:
			s.check()
			if s.isBroken() {
				return
			}
			recheck.Reset(recheckEvery)
		}
	}
}

// check ends the stream if its caller may no longer be answered. Otherwise text may be sent for recheckFirst after it, so that a slow
// check does not hold up each part of the text, but not after recheckEvery since it began.
func (s *eventStream) check() {
	if s.isBroken() {
		return
	}
	begun := time.Now()
	if last := s.refusal(); last != nil {
		s.writeLast(last)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = begun.Add(min(time.Since(begun)+recheckFirst, recheckEvery))
}

// beforeText is check unless there was one a short time ago. It is called before what documents say is sent.
func (s *eventStream) beforeText() {
	s.mu.Lock()
	due := s.refusal != nil && !s.closed && !time.Now().Before(s.due)
	s.mu.Unlock()
	if due {
		s.check()
	}
}

// close ends the stream; a nil stream is ended.
func (s *eventStream) close() {
	if s == nil {
		return
	}
	s.cancel()
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.idle.Stop()
		close(s.ended)
	}
	s.mu.Unlock()
	<-s.stopped
}

// nextLine is U+0085, and its escape in JSON. encoding/json leaves it as it is, and many clients
// take it for the end of a line, such as those that split lines by Python's str.splitlines.
// encoding/json escapes the other such characters, U+2028 and U+2029, itself.
var nextLine, nextLineEscape = []byte("\u0085"), []byte(`\u0085`)

// send sends an event with data as JSON, and with an id unless that is empty.
func (s *eventStream) send(name, id string, data any) { s.write(eventOf(name, id, data)) }

// eventOf returns the text of an event.
func eventOf(name, id string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // no event has a member that can fail to encode
	}
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "data: %s\n\n", bytes.ReplaceAll(text, nextLine, nextLineEscape))
	return b.Bytes()
}

// write sends text and everything before it.
func (s *eventStream) write(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(text)
}

// writeLast is write, after which the rest is discarded.
func (s *eventStream) writeLast(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(text)
	s.broken = true
}

func (s *eventStream) writeLocked(text []byte) {
	if s.broken || s.closed {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(grace)) // tests and functions have no deadlines
	_, err := s.w.Write(text)
	if err == nil {
		err = s.control.Flush()
	}
	s.broken = err != nil && !errors.Is(err, http.ErrNotSupported)
	s.idle.Reset(keepOpenEvery)
}

// isBroken reports whether the client is gone, does not read, or may no longer read.
func (s *eventStream) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}
