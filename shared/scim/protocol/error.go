package protocol

import (
	"fmt"
	"strconv"
)

// The kinds of error that RFC 7644 section 3.12 and RFC 9865 section 2.1 name.
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

// Error is a refusal in the terms of SCIM. Its Detail is for the client to read.
type Error struct {
	Status int    // HTTP
	Type   string // scimType; empty where RFC 7644 names none
	Detail string // one plain sentence
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Detail) }

func Refuse(status int, kind, format string, args ...any) *Error {
	return &Error{Status: status, Type: kind, Detail: fmt.Sprintf(format, args...)}
}

// Bad is a 400 of the given kind.
func Bad(kind, format string, args ...any) *Error {
	return Refuse(400, kind, format, args...)
}

// Shorten cuts s, which came from the client, to what fits into a detail.
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
