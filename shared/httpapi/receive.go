package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
	"docent/shared/memory"
)

// intake receives the body of one request, at a minimum pace, into memory that is charged
// before it is allocated.
type intake struct {
	from    pacedReader
	account *account
	first   *memory.Lease
	large   *memory.Lease
	length  int64     // as announced; -1: unknown
	waits   bool      // the client sends the body after a 100 Continue, which the first read sends
	checks  io.Writer // every byte is also written to it; its first error ends the reading; nil: nothing is
	read    int64
}

// newIntake returns the intake of r; end returns its memory.
func newIntake(w http.ResponseWriter, r *http.Request, a *account) *intake {
	set := http.NewResponseController(w).SetReadDeadline
	return &intake{from: pacedReader{r.Body, newPace(time.Now, set)}, account: a,
		first: a.first(), large: a.large(), length: r.ContentLength,
		waits: strings.EqualFold(strings.TrimSpace(r.Header.Get("Expect")), "100-continue")}
}

func (in *intake) end() {
	in.first.End()
	in.large.End()
}

// whole reads a body of at most limit bytes. After the first part of a large one, it
// waits for room for the announced length.
func (in *intake) whole(ctx context.Context, limit int64) ([]byte, error) {
	expected := in.length
	if expected < 0 || expected > limit {
		expected = limit + 1 // one more byte shows that it is too large
	}
	if in.length > limit {
		return nil, tooLarge()
	}
	begin := min(expected, freePart)
	if err := in.first.Try(begin); err != nil {
		return nil, err
	}
	body, err := in.fill(make([]byte, 0, begin))
	if err == nil && int64(len(body)) == begin && expected > begin {
		waiting, cancel := context.WithTimeout(ctx, patience)
		err = in.large.Take(waiting, expected-begin)
		cancel()
		if err == nil {
			body, err = in.rest(body, expected)
		}
	}
	if err == nil && int64(len(body)) > limit {
		return nil, tooLarge()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, in.refusal(err)
	}
	in.large.Shrink(max(int64(cap(body))-begin, 0))
	_ = in.from.set(time.Time{}) // the deadline was for this body only
	return body, nil
}

// rest reads until the body ends or has the expected length.
func (in *intake) rest(body []byte, expected int64) ([]byte, error) {
	if in.length >= 0 {
		return in.fill(append(make([]byte, 0, expected), body...))
	}
	err := error(nil)
	for err == nil && int64(len(body)) < expected {
		grown := make([]byte, len(body), min(2*int64(cap(body)), expected))
		copy(grown, body)
		body, err = in.fill(grown)
	}
	return body, err
}

// fill reads until body is full.
func (in *intake) fill(body []byte) ([]byte, error) {
	for len(body) < cap(body) {
		n, err := in.from.Read(body[len(body):cap(body)])
		part := body[len(body) : len(body)+n]
		body = body[:len(body)+n]
		in.read += int64(n)
		if in.checks != nil {
			if _, exceeded := in.checks.Write(part); exceeded != nil {
				return body, exceeded
			}
		}
		if err != nil {
			return body, err
		}
	}
	return body, nil
}

// refusal returns the error for a body that was not completely read.
func (in *intake) refusal(err error) error {
	var refused *apierr.Error
	var exceeded *jsoninput.LimitError
	switch {
	case errors.As(err, &exceeded):
		return exceedsLimit(err)
	case errors.Is(err, memory.ErrBusy), errors.As(err, &refused):
		return err
	case in.from.late():
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest,
			"The request body came too slowly. Send at least %d KB a second.", leastRate>>10).WithCause(err)
	default:
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body is incomplete.").WithCause(err)
	}
}

// discard reads the rest of a refused body, because a client that is disconnected while it
// sends gets an error of the connection instead of the reply. One that waits with the body gets the reply in place of
// a 100 Continue (RFC 9110 section 10.1.1).
func (in *intake) discard() {
	if in.waits && in.read == 0 {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(discardReader{in.from}, MaxBody-in.read))
}
