package httpapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// The codes of JSON-RPC 2.0 (section 5.1) that the protocol's library returns.
const (
	rpcParseError     = -32700
	rpcInvalidRequest = -32600
	rpcUnknownMethod  = -32601
	rpcInvalidParams  = -32602
	rpcInternal       = -32603
)

// rpcTexts are the texts for clients. They replace the library's, which quote the input
// and name Go types.
var rpcTexts = map[int64]string{
	rpcParseError:     "The message is not JSON.",
	rpcInvalidRequest: "This is not a request of the protocol.",
	rpcUnknownMethod:  "There is no such method here.",
	rpcInvalidParams:  "The params are not what this method takes.",
	rpcInternal:       "An internal error occurred.",
}

// metaField matches what the library says of a member that every request of newer versions has in params._meta.
var metaField = regexp.MustCompile(`_meta field ("io\.modelcontextprotocol/[A-Za-z]+")`)

const unknownTool = "There is no tool of this name."

// rpcFault is the error of a response.
type rpcFault struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// public returns the fault for clients. Codes of -32000 and above are the protocol's own,
// with text and data that clients use.
func (f rpcFault) public() rpcFault {
	if strings.Contains(f.Message, "unmarshal") || strings.Contains(f.Message, `"params"`) { // the library does not always return the code for it
		f.Code = rpcInvalidParams
	}
	text, ok := rpcTexts[f.Code]
	switch {
	case f.Code == rpcInvalidParams && strings.HasPrefix(f.Message, "unknown tool"):
		return rpcFault{Code: f.Code, Message: unknownTool}
	case f.Code == rpcInvalidParams && metaField.MatchString(f.Message):
		return rpcFault{Code: f.Code, Message: "In this version of the protocol, params._meta needs a valid " + metaField.FindStringSubmatch(f.Message)[1] + "."}
	case ok:
		return rpcFault{Code: f.Code, Message: text}
	case f.Code >= -32099 && f.Code <= -32000:
		return f
	default:
		return rpcFault{Code: rpcInternal, Message: rpcTexts[rpcInternal]}
	}
}

// publicFaults makes every error in reply public. The reply is one response or a batch;
// without an error it is returned as it is.
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
		return reply // decoded JSON can be encoded
	}
	return out
}

// publicEvents makes every error in a stream of events public. The library replies so to a subscription.
func publicEvents(stream []byte) []byte {
	const data = "data: "
	lines := bytes.Split(stream, []byte("\n"))
	for i, line := range lines {
		if message, ok := bytes.CutPrefix(line, []byte(data)); ok {
			lines[i] = append([]byte(data), publicFaults(message)...)
		}
	}
	return bytes.Join(lines, []byte("\n"))
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

// exactID matches an id that the protocol's library returns as it was sent. It reads numbers as
// floats and cuts off fractions.
var exactID = regexp.MustCompile(`^("|-?\d{1,15}$|$)`)

// withID returns response with the id of call, which JSON-RPC requires to be the same (section 5).
// A response that is not one to a single call is returned as it is.
func withID(response, call []byte) []byte {
	var sent struct {
		ID json.RawMessage `json:"id"`
	}
	const start = `{"jsonrpc":"2.0","id":`
	rest, single := bytes.CutPrefix(response, []byte(start))
	end := bytes.IndexByte(rest, ',')
	if !single || end < 0 || json.Unmarshal(call, &sent) != nil || exactID.Match(sent.ID) {
		return response
	}
	return slices.Concat([]byte(start), sent.ID, rest[end:])
}

// isNotification reports whether body is a single valid notification.
func isNotification(body []byte) bool {
	var n struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
	}
	return json.Unmarshal(body, &n) == nil && n.Version == "2.0" && n.Method != nil && n.ID == nil
}

// parseFault returns the response to what is not one message, whose id is therefore not known (JSON-RPC 2.0
// section 5).
func parseFault() []byte {
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": rpcFault{Code: rpcParseError}.public()})
	if err != nil {
		panic(err) // made of texts and numbers
	}
	return out
}

// isNoMessage reports whether the members of a message are those of no kind of it: there is no method, as requests
// and notifications have, and no result or error, as responses have. The protocol's library takes it for a response.
func isNoMessage(members map[string]json.RawMessage) bool {
	for _, name := range []string{"method", "result", "error"} {
		if _, given := members[name]; given {
			return false
		}
	}
	return true
}

// noMessageFault returns the response to an object with an id that is not a message (JSON-RPC 2.0 section 5.1). It returns
// false for anything else.
func noMessageFault(body []byte) ([]byte, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || !isNoMessage(members) {
		return nil, false
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": members["id"], "error": rpcFault{Code: rpcInvalidRequest}.public()})
	return out, err == nil
}

// callFault returns the response to a valid call that the protocol's library refused in
// plain text because its method is unknown or params are missing. It returns false if body
// is not a single call with an id.
func callFault(body []byte, text string) ([]byte, bool) {
	var call struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
	}
	if json.Unmarshal(body, &call) != nil || call.Version != "2.0" || call.Method == nil || len(call.ID) == 0 || string(call.ID) == "null" {
		return nil, false
	}
	code, known := refusedCall(text)
	if !known {
		return nil, false
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": rpcFault{Code: code}.public()})
	return out, err == nil
}

// refusedCall returns the code of what the protocol's library says of a call with an unknown method or without params. It
// returns false for any other text.
func refusedCall(text string) (code int64, ok bool) {
	switch {
	case strings.HasSuffix(text, "unsupported"):
		return rpcUnknownMethod, true
	case strings.Contains(text, "params"):
		return rpcInvalidParams, true
	default:
		return 0, false
	}
}
