package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"docent/shared/apierr"
)

// Limits of a batch. Its request is one of the key's calls of the day, is admitted as one, and has the memory of one.
const (
	maxMessages  = 10
	maxToolCalls = 1
)

var errNoMessage = errors.New("an element is not a message")

// limitBatch returns body. It returns an error for a batch beyond the limits, of which no message is handled.
func limitBatch(body io.Reader) (io.Reader, error) {
	b := bufio.NewReader(body)
	for {
		c, err := b.ReadByte()
		switch {
		case err == nil && strings.ContainsRune(" \t\r\n", rune(c)):
			continue
		case err == nil:
			err = b.UnreadByte()
		}
		if err != nil || c != '[' {
			return b, nil //nolint:nilerr // whoever reads b gets the error
		}
		return readBatch(b)
	}
}

// readBatch returns a batch within the limits. What it returns has no member of a message twice, so that it means to
// every reader what was counted.
func readBatch(body io.Reader) (io.Reader, error) {
	d := json.NewDecoder(body)
	_, err := d.Token()
	var messages []map[string]json.RawMessage
	calls := 0
	for err == nil && d.More() {
		var m map[string]json.RawMessage
		if err = d.Decode(&m); err != nil {
			break
		}
		if isNoMessage(m) {
			err = errNoMessage
			break
		}
		if callsTool(m) {
			calls++
		}
		if messages = append(messages, m); len(messages) > maxMessages || calls > maxToolCalls {
			return nil, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest,
				"A batch may have at most %d messages, and one of them may call a tool. Send each call in a request of its own.", maxMessages)
		}
	}
	if err == nil {
		_, err = d.Token() // the end of the list
	}
	if _, after := d.Token(); err == nil && !errors.Is(after, io.EOF) {
		err = errAfterMessage
	}
	batch, encoding := json.Marshal(messages)
	if err != nil || encoding != nil {
		return nil, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "A batch must have JSON-RPC messages of the protocol.")
	}
	return bytes.NewReader(batch), nil
}

// callsTool reports whether a message may be a call of a tool, in whatever case its members are written.
func callsTool(message map[string]json.RawMessage) bool {
	for name, value := range message {
		var method string
		if strings.EqualFold(name, "method") && json.Unmarshal(value, &method) == nil && method == "tools/call" {
			return true
		}
	}
	return false
}

// batchRefused is the refusal of a batch because of one of its messages, before any was handled.
type batchRefused struct {
	error

	messages []json.RawMessage
}

// Unwrap returns the refusal as it is written.
func (e *batchRefused) Unwrap() error { return e.error }

// batchRefusal returns refusal, as a batchRefused if text is what the protocol's library says of a batch with an unknown
// method or missing params, and body is that batch.
func batchRefusal(body []byte, text string, refusal error) error {
	var messages []json.RawMessage
	if _, known := refusedCall(text); !known || json.Unmarshal(body, &messages) != nil {
		return refusal
	}
	return &batchRefused{refusal, messages}
}

// refusedBatch returns the messages of a batch that was refused because of one of them.
func refusedBatch(err error) ([]json.RawMessage, bool) {
	var refused *batchRefused
	if !errors.As(err, &refused) {
		return nil, false
	}
	return refused.messages, true
}

// serveEach serves the messages of a batch one after the other, so that each call gets its own response or error (JSON-RPC
// 2.0 section 6). One that is refused or fails does not hide the responses to the others, which were handled.
func serveEach(ctx context.Context, messages []json.RawMessage, serve func(io.Reader) (*heldReply, []byte, error)) (*heldReply, []byte, error) {
	whole := &heldReply{header: http.Header{}, status: http.StatusAccepted}
	var replies []json.RawMessage
	for _, m := range messages {
		_, reply, err := serve(bytes.NewReader(m))
		if err != nil {
			if reply, err = messageFault(ctx, m, err); err != nil {
				return nil, nil, err
			}
		}
		if len(reply) > 0 {
			replies = append(replies, reply)
		}
	}
	if len(replies) == 0 {
		return whole, nil, nil
	}
	whole.status = http.StatusOK
	whole.header.Set("Content-Type", "application/json")
	body, err := json.Marshal(replies)
	return whole, body, err
}

// messageFault returns the response to a message of a batch that was refused or failed, or nil for a notification that failed.
func messageFault(ctx context.Context, message []byte, err error) ([]byte, error) {
	var call struct {
		ID json.RawMessage `json:"id"` // null where it is not known (JSON-RPC 2.0 section 5)
	}
	fault := rpcFault{Code: rpcInvalidRequest}.public()
	if refused := (*apierr.Error)(nil); !errors.As(err, &refused) || refused.Kind != apierr.Invalid {
		fault = refusedMessageOf(toProblem(ctx, err)).Fault
		if json.Unmarshal(message, &call) == nil && call.ID == nil {
			return nil, nil
		}
	}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": fault})
}
