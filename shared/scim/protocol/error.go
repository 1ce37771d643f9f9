package protocol

import (
	"fmt"
	"strconv"
)

// Values of scimType: RFC 7644 section 3.12 and RFC 9865 section 2.1.
const (
	InvalidSyntax = "invalidSyntax"
	InvalidValue  = "invalidValue"
	InvalidFilter = "invalidFilter"
	InvalidPath   = "invalidPath"
	InvalidCursor = "invalidCursor"
	NoTarget      = "noTarget"
	Mutability    = "mutability"
	Uniqueness    = "uniqueness"
	TooMany       = "tooMany"
)

// Error is an error that a SCIM client receives.
type Error struct {
	Status int    // HTTP
	Type   string // scimType; may be empty
	Detail string // one plain sentence
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Detail) }

// Refuse returns an Error with an HTTP status, a scimType and a detail for the client.
func Refuse(status int, kind, format string, args ...any) *Error {
	return &Error{Status: status, Type: kind, Detail: fmt.Sprintf(format, args...)}
}

// Bad returns an Error of status 400.
func Bad(kind, format string, args ...any) *Error {
	return Refuse(400, kind, format, args...)
}

// Shorten returns the first 60 characters of s, for a detail that quotes what the client sent.
func Shorten(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// Object returns e as the error message of RFC 7644 section 3.12.
func (e *Error) Object() map[string]any {
	object := map[string]any{"schemas": []any{ErrorURN}, "status": strconv.Itoa(e.Status), "detail": e.Detail}
	if e.Type != "" {
		object["scimType"] = e.Type
	}
	return object
}
