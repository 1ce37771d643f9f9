package app

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"docent/shared/httpapi"
)

// answerUnparsed gives the API's shape to refusals that net/http writes itself, as plain
// text and before it calls a handler: requests and headers that are malformed or too
// large, and unknown transfer encodings, expectations and versions. It returns the
// listener that server must serve, without another listener around it.
func answerUnparsed(server *http.Server, listener net.Listener) net.Listener {
	type key struct{}
	handler := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(key{}).(*unparsedConn); ok {
			c.handled.Store(true)
		}
		handler.ServeHTTP(w, r)
	})
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if c, ok := c.(*unparsedConn); ok {
			c.known.Store(true)
		}
		return context.WithValue(ctx, key{}, c)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if c, ok := c.(*unparsedConn); ok && state == http.StateIdle { // the reply is written, and another request may come
			c.handled.Store(false)
		}
	}
	server.DisableGeneralOptionsHandler = true // OPTIONS * is for the handler too
	return unparsedListener{listener}
}

type unparsedListener struct{ net.Listener }

// Accept waits for the next connection.
func (l unparsedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &unparsedConn{Conn: c}, nil
}

// unparsedConn is a connection to a client. Anything written to it while no request is
// handled is the server's own refusal, after which the server closes it.
type unparsedConn struct {
	net.Conn
	known   atomic.Bool // the server reports when a request is handled
	handled atomic.Bool // a handler has started, and its reply is not completely written
	refused atomic.Bool
}

// Write writes the reply of a handler unchanged, and replaces a refusal.
func (c *unparsedConn) Write(p []byte) (int, error) {
	if !c.known.Load() || c.handled.Load() {
		return c.Conn.Write(p)
	}
	if c.refused.Swap(true) {
		return len(p), nil // the rest of the replaced refusal
	}
	if _, err := c.Conn.Write(httpapi.Unparsed(statusOf(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// statusOf returns the status of a reply from its first line, 400 where there is none.
func statusOf(reply []byte) int {
	_, rest, _ := bytes.Cut(reply, []byte(" "))
	if len(rest) >= 3 {
		if status, err := strconv.Atoi(string(rest[:3])); err == nil && status >= 400 && status <= 599 {
			return status
		}
	}
	return http.StatusBadRequest
}

// CloseWrite closes the sending half; net/http calls it so that the client can read the reply.
func (c *unparsedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
