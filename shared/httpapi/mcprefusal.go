package httpapi

import (
	"cmp"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// refusedMessage is a problem that is also an error of JSON-RPC. Clients of the protocol show the text of no other refusal: the Python
// SDK, and what is built on it, say only that the server returned an error.
type refusedMessage struct {
	*problem

	JSONRPC string   `json:"jsonrpc"`
	ID      *int     `json:"id"` // null: the refusal comes before the message is read (JSON-RPC 2.0 section 5)
	Fault   rpcFault `json:"error"`
}

func refusedMessageOf(p *problem) refusedMessage {
	fault := rpcFault{Code: rpcInvalidRequest, Message: cmp.Or(p.Detail, p.Title)}
	if p.Status >= http.StatusInternalServerError {
		fault.Code = rpcInternal
	}
	return refusedMessage{problem: p, JSONRPC: "2.0", Fault: fault}
}

// The names of the schemas of a refusedMessage, and of the error of a call that was read.
const (
	toolsProblem = "ToolsProblem"
	toolsFault   = "ToolsFault"
)

// describeRefusedMessage adds the schema of a refusedMessage to the document, made from that of a problem, and returns a reference to it.
func describeRefusedMessage(schemas huma.Registry) *huma.Schema {
	whole := *schemas.SchemaFromRef(schemaPrefix + "Problem")
	members := messageOfError(onlyNull("The message was not read."), "The same as JSON-RPC has it.")
	for name, member := range whole.Properties {
		if members[name] == nil {
			members[name] = member
		}
	}
	whole.Properties, whole.Description = members, "A problem that is also an error of JSON-RPC 2.0."
	schemas.Map()[toolsProblem] = &whole
	return &huma.Schema{Ref: schemaPrefix + toolsProblem}
}

// describeToolsFault adds the schema of the error of a call that was read, and returns a schema of either form of refusal.
func describeToolsFault(schemas huma.Registry, refused *huma.Schema) *huma.Schema {
	id := &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}}, Description: "The id of the call."}
	schemas.Map()[toolsFault] = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"jsonrpc", "id", "error"},
		Properties:  messageOfError(id, "The code and the text, with data where the protocol has it."),
		Description: "An error of JSON-RPC 2.0: versions of the protocol from 2026-07-28 on have these statuses for a call that was read."}
	return &huma.Schema{AnyOf: []*huma.Schema{refused, {Ref: schemaPrefix + toolsFault}}}
}

// messageOfError returns the members of an error of JSON-RPC.
func messageOfError(id *huma.Schema, about string) map[string]*huma.Schema {
	text, integer := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeInteger}
	return map[string]*huma.Schema{
		"jsonrpc": {Type: huma.TypeString, Enum: []any{"2.0"}},
		"id":      id,
		"error": {Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"code", "message"},
			Description: about, Properties: map[string]*huma.Schema{"code": integer, "message": text}},
	}
}

// isOfTools reports whether s is the schema of a refusal of tools.
func isOfTools(s *huma.Schema) bool {
	return s.Ref == schemaPrefix+toolsProblem || len(s.AnyOf) > 0 && s.AnyOf[0].Ref == schemaPrefix+toolsProblem
}
