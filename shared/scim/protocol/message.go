package protocol

import (
	"maps"
	"slices"
	"strings"
)

// The URNs of SCIM messages.
const (
	ListURN         = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	SearchURN       = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"
	PatchURN        = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
	BulkRequestURN  = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
	BulkResponseURN = "urn:ietf:params:scim:api:messages:2.0:BulkResponse"
	ErrorURN        = "urn:ietf:params:scim:api:messages:2.0:Error"
)

// MessageMember returns a member of a message by its name in any case, or nil.
func MessageMember(message map[string]any, name string) any {
	v, _ := memberOf(message, name)
	return v
}

// memberOf is MessageMember that distinguishes null from absent.
func memberOf(message map[string]any, name string) (value any, there bool) {
	if v, ok := message[name]; ok {
		return v, true
	}
	for _, key := range slices.Sorted(maps.Keys(message)) {
		if strings.EqualFold(key, name) {
			return message[key], true
		}
	}
	return nil, false
}

// CheckMessage returns an error unless the message lists the schema urn.
func CheckMessage(message map[string]any, urn string) error {
	list, _ := MessageMember(message, "schemas").([]any)
	for _, s := range list {
		if text, ok := s.(string); ok && strings.EqualFold(text, urn) {
			return nil
		}
	}
	return Bad(InvalidSyntax, "The request body must list the schema %s.", urn)
}
