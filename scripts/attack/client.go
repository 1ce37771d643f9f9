package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// client is one attacking client. It has at most one connection.
type client struct {
	plan   *plan
	team   *attackingTeam
	random *rand.Rand
	tally  *tally // of the attack that it currently plays

	conn   net.Conn
	reader *bufio.Reader
}

// request is a request to send. Bodies are prepared once and shared.
type request struct {
	method, path string // the path below /v1
	key          string // empty: none
	header       string // further lines, each with its line end
	body         []byte
}

// head returns the head of r. It announces length unless that is negative.
func (c *client) head(r request, length int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s /v1%s HTTP/1.1\r\nHost: %s\r\n", r.method, r.path, c.plan.Target.Address)
	if r.key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.key)
	}
	if !strings.Contains(r.header, "Content-Type:") {
		b.WriteString("Content-Type: application/json\r\n")
	}
	if length >= 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	b.WriteString(r.header + "\r\n")
	return []byte(b.String())
}

// do sends r and reads the reply while it still sends the body.
func (c *client) do(ctx context.Context, r request) {
	end, ok := c.begin(ctx)
	if !ok {
		return
	}
	defer end()
	sent, complete := make(chan struct{}), false
	conn := c.conn
	go func() {
		defer close(sent)
		_, err := (&net.Buffers{c.head(r, len(r.body)), r.body}).WriteTo(conn)
		complete = err == nil
	}()
	again := c.reply(ctx, r)
	select {
	case <-sent:
	default:
		again = false // the server answered before it had read everything
		c.close()
		<-sent
	}
	if !again || !complete {
		c.close()
	}
}

// begin connects, unless the client is connected, and counts a request. Until end is called, the end of ctx
// interrupts everything on the connection.
func (c *client) begin(ctx context.Context) (end func(), ok bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	if c.conn == nil {
		dialer := net.Dialer{Timeout: c.plan.Patience}
		conn, err := dialer.DialContext(ctx, "tcp", c.plan.Target.Address)
		if err != nil {
			if ctx.Err() == nil {
				c.tally.begin()
				c.tally.cut()
			}
			return nil, false
		}
		c.conn, c.reader = conn, bufio.NewReaderSize(conn, 4<<10)
	}
	conn := c.conn
	if err := conn.SetDeadline(time.Now().Add(c.plan.Hold + c.plan.Patience)); err != nil {
		c.close()
		return nil, false
	}
	c.tally.begin()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	return func() { stop() }, true
}

// reply reads a reply to r and counts it. It reports whether the connection can be used again.
func (c *client) reply(ctx context.Context, r request) bool {
	reply, err := http.ReadResponse(c.reader, &http.Request{Method: r.method})
	for err == nil && reply.StatusCode < 200 { // continue
		reply, err = http.ReadResponse(c.reader, &http.Request{Method: r.method})
	}
	if err != nil {
		c.lost(ctx, err)
		return false
	}
	defer reply.Body.Close()
	var begin []byte
	if reply.StatusCode >= 500 {
		begin, err = io.ReadAll(io.LimitReader(reply.Body, 200))
	}
	if err == nil {
		_, err = io.Copy(io.Discard, reply.Body)
	}
	if err != nil {
		c.lost(ctx, err)
		return false
	}
	c.tally.status(reply.StatusCode, fmt.Sprintf("%s %.60s: %s", r.method, r.path, begin))
	return !reply.Close
}

// lost counts a request without a complete reply: because of the end of the run, this client's patience, or the
// server.
func (c *client) lost(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		c.tally.hold()
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.tally.late()
	default:
		c.tally.cut()
	}
}

// close ends the connection.
func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn, c.reader = nil, nil
	}
}

// pick returns a random element of list.
func pick[T any](c *client, list []T) T { return list[c.random.IntN(len(list))] }
