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

// toolsProblem is the name of the schema of a refusedMessage.
const toolsProblem = "ToolsProblem"

// describeRefusedMessage adds the schema of a refusedMessage to the document, made from that of a problem, and returns a reference to it.
func describeRefusedMessage(schemas huma.Registry) *huma.Schema {
	whole := *schemas.SchemaFromRef(schemaPrefix + "Problem")
	text, integer := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeInteger}
	members := map[string]*huma.Schema{
		"jsonrpc": {Type: huma.TypeString, Enum: []any{"2.0"}},
		"id":      {Type: "null", Description: "The message was not read."},
		"error": {Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"code", "message"},
			Description: "The same as JSON-RPC has it.", Properties: map[string]*huma.Schema{"code": integer, "message": text}},
	}
	for name, member := range whole.Properties {
		if members[name] == nil {
			members[name] = member
		}
	}
	whole.Properties, whole.Description = members, "A problem that is also an error of JSON-RPC 2.0."
	schemas.Map()[toolsProblem] = &whole
	return &huma.Schema{Ref: schemaPrefix + toolsProblem}
}
