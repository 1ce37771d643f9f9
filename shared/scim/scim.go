// Package scim is SCIM 2.0 for Docent: the schema of RFC 7643, the protocol of
// RFC 7644, cursor paging of RFC 9865, and the dialects of the identity providers
// that speak them. Its users are the team's users (package team); its groups are
// its own.
//
// Attributes are held as JSON trees in canonical spelling: objects are
// map[string]any, lists []any, and an attribute that is unassigned is absent.
package scim

import (
	"fmt"
	"net/http"
)

// The URNs of SCIM messages.
const (
	listURN   = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	searchURN = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"
	patchURN  = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
	bulkReqs  = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
	bulkResp  = "urn:ietf:params:scim:api:messages:2.0:BulkResponse"
	errorURN  = "urn:ietf:params:scim:api:messages:2.0:Error"
)

// The kinds of error that RFC 7644 section 3.12 and RFC 9865 section 2.1 name.
const (
	invalidSyntax = "invalidSyntax"
	invalidValue  = "invalidValue"
	invalidFilter = "invalidFilter"
	invalidPath   = "invalidPath"
	invalidCursor = "invalidCursor"
	noTarget      = "noTarget"
	mutability    = "mutability"
	uniqueness    = "uniqueness"
	tooMany       = "tooMany"
)

// Error is a refusal in the terms of SCIM. Its Detail is for the client to read.
type Error struct {
	Status int    // HTTP
	Type   string // scimType; empty where RFC 7644 names none
	Detail string // one plain sentence
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Detail) }

func refuse(status int, kind, format string, args ...any) *Error {
	return &Error{Status: status, Type: kind, Detail: fmt.Sprintf(format, args...)}
}

// bad is a 400 of the given kind.
func bad(kind, format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, kind, format, args...)
}

// shown cuts s, which came from the client, to what fits into a detail.
func shown(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
