package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/google/uuid"
)

// slowAttacks hold connections with a key, slower than any real network.
var slowAttacks = []attack{
	{"slow/body", []int{400}, trickles(0, func(c *client) request { return request{method: "PUT", path: "/documents", key: c.team.Key} })},
	{"slow/most of a body", []int{400}, trickles(9<<20, func(c *client) request { return request{method: "PUT", path: "/documents", key: c.team.Key} })},
	{"slow/packed body", []int{400}, trickles(64<<10, func(c *client) request {
		return request{method: "PUT", path: "/documents", key: c.team.Key, header: packedHeader}
	})},
	{"slow/user", []int{400}, trickles(1<<20, func(c *client) request { return request{method: "POST", path: "/scim/v2/Users", key: c.team.SCIM} })},
	{"slow/tool", []int{400}, trickles(1<<20, func(c *client) request { return request{method: "POST", path: "/mcp", key: c.team.Key} })},
	{"slow/without key", []int{401}, trickles(1<<20, func(c *client) request { return request{method: "PUT", path: "/documents"} })},
	{"slow/continue", []int{100, 400}, trickles(0, func(c *client) request {
		return request{method: "PUT", path: "/documents", key: c.team.Key, header: "Expect: 100-continue\r\n"}
	})},
	{"slow/header", []int{400}, raw(func(c *client) []byte {
		return []byte("GET /v1/collections HTTP/1.1\r\nHost: x\r\nX-Header: ")
	}, "x")},
	{"slow/large header", []int{400}, raw(func(c *client) []byte {
		return []byte("GET /v1/collections HTTP/1.1\r\nHost: x\r\nX-Header: " + strings.Repeat("x", 60<<10))
	}, "x")},
	{"slow/idle", []int{400}, raw(func(*client) []byte { return nil }, "")},
	{"slow/tiny chunks", []int{400}, raw(func(c *client) []byte {
		return append(c.chunked(), bytes.Repeat([]byte("1\r\n0\r\n"), 20_000)...)
	}, "1\r\n0\r\n")},
	{"slow/chunks of names", []int{400}, raw(func(c *client) []byte {
		return append(c.chunked(), bytes.Repeat([]byte("1;"+strings.Repeat("x", 200)+"\r\n0\r\n"), 500)...)
	}, "1;x\r\n0\r\n")},
	{"slow/trailer", []int{200, 400, 404}, raw(func(c *client) []byte {
		return append(c.chunked(), "2\r\n{}\r\n0\r\nX-Trailer: "+strings.Repeat("x", 100<<10)...)
	}, "x")},
	{"slow/half-closed", []int{200}, raw(func(c *client) []byte { return c.head(get(c, c.team.Noise), 0) }, "")},
	{"slow/pipelined", []int{200}, raw(func(c *client) []byte {
		return bytes.Repeat(c.head(get(c, c.team.Large), 0), 50)
	}, "")},
	{"slow/waiting for an answer", []int{200, 404}, raw(func(c *client) []byte {
		return c.head(request{method: "GET", path: "/answers/" + pick(c, []string{c.team.Question, uuid.NewString()}), key: c.team.Key,
			header: "Prefer: wait=20\r\n"}, 0)
	}, "")},
}

// chunked returns the head of a request without a length.
func (c *client) chunked() []byte {
	return c.head(request{method: "PUT", path: "/documents", key: c.team.Key, header: "Transfer-Encoding: chunked\r\n"}, -1)
}

// trickles announces a body of 10 MB, sends its first part at once, and then a few bytes now and then.
func trickles(first int, of func(c *client) request) turn {
	return func(ctx context.Context, c *client) {
		begin := c.head(of(c), maxBody)
		if !strings.Contains(string(begin), "Expect:") {
			begin = append(begin, prepared.zeros[:min(first, len(prepared.zeros)/10*9)]...)
		}
		raw(func(*client) []byte { return begin }, "0000")(ctx, c)
	}
}

// raw sends first, then next again and again with pauses, then ends its input and reads a reply.
func raw(first func(c *client) []byte, next string) turn {
	return func(ctx context.Context, c *client) {
		c.close()
		end, ok := c.begin(ctx)
		if !ok {
			return
		}
		defer end()
		defer c.close()
		conn, begin := c.conn, first(c)
		heard := make(chan struct{})
		go func() { // the server may answer or hang up at any time
			defer close(heard)
			c.reply(ctx, request{method: "GET", path: "(raw)"})
		}()
		_, err := conn.Write(begin)
		c.trickle(ctx, conn, next, heard, err)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // a lost connection is noticed when it is read
		}
		<-heard
	}
}

// trickle sends next now and then, until the hold time is over or the server replies.
func (c *client) trickle(ctx context.Context, conn net.Conn, next string, heard <-chan struct{}, err error) {
	every := max(c.plan.Hold/100, pace)
	for stop := time.Now().Add(c.plan.Hold); err == nil && time.Now().Before(stop); {
		select {
		case <-heard:
			return
		case <-ctx.Done():
			return
		case <-time.After(every):
			_, err = fmt.Fprint(conn, next)
		}
	}
}
