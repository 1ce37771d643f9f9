// Package apierr holds the one kind of error whose text a client may read.
// Everything else reaches a client as an opaque internal error.
package apierr

import (
	"errors"
	"fmt"
)

// Kind is the kind of an error from the client's view. The zero value is Internal, so
// the text of an unclassified error cannot leak.
type Kind int

// The kinds, each with one HTTP status.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	MethodNotAllowed
	Conflict
	Gone
	Stale // If-Match or If-None-Match does not hold
	TooLarge
	Unsupported
	QuotaExceeded
	Unavailable
	Damaged // what was asked for is stored, and cannot be read
)

// Status is the HTTP status of k.
func (k Kind) Status() int {
	switch k {
	case Invalid:
		return 400
	case Unauthenticated:
		return 401
	case Forbidden:
		return 403
	case NotFound:
		return 404
	case MethodNotAllowed:
		return 405
	case Conflict:
		return 409
	case Gone:
		return 410
	case Stale:
		return 412
	case TooLarge:
		return 413
	case Unsupported:
		return 415
	case QuotaExceeded:
		return 429
	case Unavailable:
		return 503
	default:
		return 500
	}
}

// The codes that clients match on, each written here once.
const (
	CodeInvalidRequest      = "invalid-request"
	CodeInvalidCursor       = "invalid-cursor"
	CodeUnauthorized        = "unauthorized"
	CodeAdminRequired       = "admin-required"
	CodeSAMLNotConfigured   = "saml-not-configured"
	CodeLinkExpired         = "link-expired"
	CodeSignOnRequired      = "sign-on-required"
	CodeSignOnNotTested     = "sign-on-not-tested"
	CodeSignOnNotConfigured = "sign-on-not-configured"
	CodeCrossOrigin         = "cross-origin"
	CodeWrongKeyKind        = "wrong-key-kind"
	CodeKeyRestricted       = "key-restricted"
	CodeMissingScope        = "missing-scope"
	CodeKeyExpiresFirst     = "key-expires-first"
	CodeSourceNotAllowed    = "source-not-allowed"
	CodeAccessDenied        = "access-denied"
	CodeActingNotAllowed    = "acting-not-allowed"
	CodeUserNotActive       = "user-not-active"
	CodeNotFound            = "not-found"
	CodeMethodNotAllowed    = "method-not-allowed"
	CodeCollectionLimit     = "collection-limit"
	CodeDataSourceLimit     = "data-source-limit"
	CodeAnswerConflict      = "answer-conflict"
	CodeAccessChanged       = "access-changed"
	CodeUploadLimit         = "upload-limit"
	CodeUploadIncomplete    = "upload-incomplete"
	CodeUploadUsed          = "upload-used"
	CodeNotSynced           = "not-synced"

	CodeWebhookEndpointLimit    = "webhook-endpoint-limit"
	CodeWebhookEndpointDisabled = "webhook-endpoint-disabled"

	CodeIdempotencyConflict = "idempotency-conflict"
	CodeCursorExpired       = "cursor-expired"
	CodePreconditionFailed  = "precondition-failed"
	CodeTooLarge            = "request-too-large"
	CodeUnsupportedMedia    = "unsupported-media-type"
	CodeQuotaExceeded       = "quota-exceeded"
	CodeRateExceeded        = "rate-exceeded"
	CodeInternal            = "internal"
	CodeUnavailable         = "unavailable"
	CodeDocumentDamaged     = "document-damaged"
)

// Field is one fault of a request: where, as a JSON pointer, and what.
type Field struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Error is a refusal in words for the client.
type Error struct {
	Kind   Kind
	Code   string
	Detail string // one plain sentence
	Fields []Field
	cause  error // for the log only
}

// New returns an Error whose detail is formatted as by fmt.Sprintf. Arguments
// must be fit for a client to read.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// WithCause returns a copy of e that carries cause for the log.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// IsCode reports whether err is an Error with the given code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Missing is the answer to an id that is unknown, not the team's own, or gone.
func Missing(what string) *Error {
	return New(NotFound, CodeNotFound, "There is no such %s.", what)
}

// BadField is the answer to one faulty field or parameter.
func BadField(pointer, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	e := New(Invalid, CodeInvalidRequest, "The request is not valid: %s: %s.", pointer, detail)
	e.Fields = []Field{{Pointer: pointer, Detail: detail}}
	return e
}
