package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The codes of JSON-RPC 2.0 (section 5.1) that the protocol's library gives.
const (
	rpcParseError     = -32700
	rpcInvalidRequest = -32600
	rpcUnknownMethod  = -32601
	rpcInvalidParams  = -32602
	rpcInternal       = -32603
)

// rpcTexts are what clients read for each, in place of the library's own text, which
// quotes what was sent and names types of Go.
var rpcTexts = map[int64]string{
	rpcParseError:     "The message is not JSON.",
	rpcInvalidRequest: "This is not a request of the protocol.",
	rpcUnknownMethod:  "There is no such method here.",
	rpcInvalidParams:  "The params are not what this method takes.",
	rpcInternal:       "Something went wrong on our side.",
}

const unknownTool = "There is no tool of this name."

// rpcFault is the error of a response.
type rpcFault struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// public returns the fault as clients read it. Codes from -32000 on are the protocol's
// own, whose text and data clients act on.
func (f rpcFault) public() rpcFault {
	if strings.Contains(f.Message, "unmarshal") || strings.Contains(f.Message, `"params"`) { // the library does not always say so
		f.Code = rpcInvalidParams
	}
	text, ok := rpcTexts[f.Code]
	switch {
	case f.Code == rpcInvalidParams && strings.HasPrefix(f.Message, "unknown tool"):
		return rpcFault{Code: f.Code, Message: unknownTool}
	case ok:
		return rpcFault{Code: f.Code, Message: text}
	case f.Code >= -32099 && f.Code <= -32000:
		return f
	default:
		return rpcFault{Code: rpcInternal, Message: rpcTexts[rpcInternal]}
	}
}

// publicFaults returns a reply, a response or a batch of them, with every error made
// public; a reply without one is returned as it is.
func publicFaults(reply []byte) []byte {
	if !bytes.Contains(reply, []byte(`"error":`)) {
		return reply
	}
	var batch []json.RawMessage
	if json.Unmarshal(reply, &batch) != nil {
		return publicFault(reply)
	}
	for i := range batch {
		batch[i] = publicFault(batch[i])
	}
	out, err := json.Marshal(batch)
	if err != nil {
		return reply // what was decoded encodes
	}
	return out
}

func publicFault(response json.RawMessage) json.RawMessage {
	var r struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcFault       `json:"error"`
	}
	if json.Unmarshal(response, &r) != nil || r.Error == nil {
		return response
	}
	fault := r.Error.public()
	r.Error = &fault
	out, err := json.Marshal(r)
	if err != nil {
		return response
	}
	return out
}

// callFault returns the response to a call that the protocol's library refused in plain
// text although it is one: of a method that it does not know, or without params. It is
// false for everything that is not one call with an id.
func callFault(body []byte, text string) ([]byte, bool) {
	var call struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
	}
	if json.Unmarshal(body, &call) != nil || call.Version != "2.0" || call.Method == nil || len(call.ID) == 0 || string(call.ID) == "null" {
		return nil, false
	}
	var code int64
	switch {
	case strings.HasSuffix(text, "unsupported"):
		code = rpcUnknownMethod
	case strings.Contains(text, "params"):
		code = rpcInvalidParams
	default:
		return nil, false
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": rpcFault{Code: code}.public()})
	return out, err == nil
}
