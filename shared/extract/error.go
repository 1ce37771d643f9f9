package extract

import "fmt"

// Error says why a file cannot be read. Reading the same bytes again fails again, except if Unwrap returns the error
// of a context. Every other error of a reader is a failure of the program or of the place that holds the file.
type Error struct {
	Page   int    // the page, slide or sheet that failed; 0 if it is the whole file
	Reason string // a sentence that a client may read
	cause  error
}

// Errorf returns an error of the whole file.
func Errorf(format string, args ...any) *Error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// OnPage returns a copy of e that names the page.
func (e *Error) OnPage(number int) *Error {
	c := *e
	c.Page = number
	return &c
}

// WithCause returns a copy of e that wraps err. The text of err is not part of Reason.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// Error returns the reason and the page, and the cause for logs.
func (e *Error) Error() string {
	text := e.Reason
	if e.Page > 0 {
		text = fmt.Sprintf("page %d: %s", e.Page, text)
	}
	if e.cause != nil {
		text += " (" + e.cause.Error() + ")"
	}
	return text
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// PageError returns err as the error of a page, which its file calls kind, such as slide. An error that is wrapped
// has its page already.
func PageError(err error, kind string, number int) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // a wrapped one has its page
		return e.OnPage(number)
	}
	return fmt.Errorf("%s %d: %w", kind, number, err)
}
