package moto

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Transactions carries out requests of DynamoDB as it does and moto does not: a transaction that is repeated with its
// token after it succeeded has the reply of the first time. The zero value is ready.
type Transactions struct {
	done map[string]*httptest.ResponseRecorder // by token
}

// IsTransaction reports whether r writes several items of DynamoDB at once.
func IsTransaction(r *http.Request) bool {
	return strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems")
}

// CarryOut forwards a request with a body completely, even if its sender leaves, and returns the reply. Only one
// transaction may be carried out at a time.
func (x *Transactions) CarryOut(forward http.Handler, r *http.Request, body []byte) *httptest.ResponseRecorder {
	var named struct{ ClientRequestToken string }
	isNamed := IsTransaction(r) && json.Unmarshal(body, &named) == nil && named.ClientRequestToken != ""
	if isNamed && x.done[named.ClientRequestToken] != nil {
		return x.done[named.ClientRequestToken]
	}
	whole := r.Clone(context.WithoutCancel(r.Context()))
	whole.Body = io.NopCloser(bytes.NewReader(body))
	reply := httptest.NewRecorder()
	forward.ServeHTTP(reply, whole)
	if isNamed && reply.Code == http.StatusOK {
		if x.done == nil {
			x.done = map[string]*httptest.ResponseRecorder{}
		}
		x.done[named.ClientRequestToken] = reply
	}
	return reply
}

// Send writes a reply that CarryOut returned.
func Send(w http.ResponseWriter, reply *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), reply.Header())
	w.WriteHeader(reply.Code)
	_, _ = w.Write(reply.Body.Bytes()) //nolint:gosec // the server's own reply; or the sender has left
}
