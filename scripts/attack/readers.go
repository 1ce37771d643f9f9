package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// readerAttacks request large replies and read them slowly or not at all.
var readerAttacks = []attack{
	{"reader/packs well", []int{200}, sends(func(c *client) request { return get(c, c.team.Large) })},
	{"reader/packs well, unchanged", []int{200, 304}, sends(func(c *client) request {
		r := get(c, c.team.Large)
		r.header = "If-None-Match: *\r\n"
		return r
	})},
	{"reader/packs well, head", []int{200}, sends(func(c *client) request {
		r := get(c, c.team.Large)
		r.method = http.MethodHead
		return r
	})},
	{"reader/packs well, stalled", []int{200}, stallsReading(0, func(c *client) request { return get(c, c.team.Large) })},
	{"reader/noise", []int{200}, sends(func(c *client) request { return get(c, c.team.Noise) })},
	{"reader/noise, stalled", []int{200}, stallsReading(0, func(c *client) request { return get(c, c.team.Noise) })},
	{"reader/noise, a byte now and then", []int{200}, stallsReading(1, func(c *client) request { return get(c, c.team.Noise) })},
	{"reader/noise, a little now and then", []int{200}, stallsReading(2<<10, func(c *client) request { return get(c, c.team.Noise) })},
	{"reader/escapes, stalled", []int{200}, stallsReading(0, func(c *client) request { return get(c, c.team.Controls) })},
	{"reader/documents, stalled", []int{200}, stallsReading(0, func(c *client) request { return request{method: "GET", path: "/documents?limit=200", key: c.team.Key} })},
	{"reader/documents", []int{200}, sends(func(c *client) request { return request{method: "GET", path: "/documents?limit=200", key: c.team.Key} })},
	{"reader/answers, stalled", []int{200}, stallsReading(0, func(c *client) request { return request{method: "GET", path: "/answers?limit=200", key: c.team.Key} })},
	{"reader/answers", []int{200}, sends(func(c *client) request { return request{method: "GET", path: "/answers?limit=200", key: c.team.Key} })},
	{"reader/contents", []int{200}, sends(func(c *client) request { return contents(c) })},
	{"reader/contents, stalled", []int{200}, stallsReading(0, func(c *client) request { return contents(c) })},
	{"reader/contents by tool", []int{200}, sends(func(c *client) request { return tool(c, "context_get_urls", map[string]any{"urls": addresses(c)}) })},
	{"reader/contents by tool, stalled", []int{200}, stallsReading(0, func(c *client) request {
		return tool(c, "context_get_urls", map[string]any{"urls": addresses(c)})
	})},
	{"reader/records, stalled", []int{200}, stallsReading(0, func(c *client) request { return records(c) })},
	{"reader/users, stalled", []int{200}, stallsReading(0, func(c *client) request {
		return request{method: "GET", path: "/scim/v2/Users?count=200", key: c.team.SCIM}
	})},
}

func get(c *client, id string) request {
	return request{method: http.MethodGet, path: "/documents/" + id, key: c.team.Key}
}

// addresses returns the URLs of ten large documents. Get reads them completely and returns them shortened.
func addresses(c *client) (urls []string) {
	for n := range 10 {
		name := "large"
		if n == 0 || c.random.IntN(2) == 0 {
			name = "controls"
		}
		urls = append(urls, "https://attack.example/"+name)
	}
	return urls
}

func contents(c *client) request {
	return post(c, "/context/get", map[string]any{"urls": addresses(c)})
}

func records(c *client) request {
	return post(c, "/context/query/issues", map[string]any{"query": "open issues", "limit": 200, "sort": "updated"})
}

func tool(c *client, name string, arguments any) request {
	return post(c, "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
}

// post sends a small body.
func post(c *client, path string, body any) request {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return request{method: http.MethodPost, path: path, key: c.team.Key, body: text}
}

// stallsReading sends a request and reads bytes of the reply at a time, with pauses; after a while it reads the
// rest.
func stallsReading(bytes int64, of func(c *client) request) turn {
	return func(ctx context.Context, c *client) {
		c.close()
		r := of(c)
		if !c.dialNarrow(ctx) {
			return
		}
		end, ok := c.begin(ctx)
		if !ok {
			return
		}
		defer end()
		defer c.close()
		if _, err := (&net.Buffers{c.head(r, len(r.body)), r.body}).WriteTo(c.conn); err != nil {
			c.lost(ctx, err)
			return
		}
		reply, err := http.ReadResponse(c.reader, &http.Request{Method: r.method})
		if err != nil {
			c.lost(ctx, err)
			return
		}
		defer reply.Body.Close()
		for stop := time.Now().Add(c.plan.Hold); err == nil && time.Now().Before(stop); {
			if !sleep(ctx, min(time.Second, time.Until(stop))) {
				c.lost(ctx, ctx.Err())
				return
			}
			_, err = io.CopyN(io.Discard, reply.Body, bytes)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			c.lost(ctx, err)
			return
		}
		c.tally.status(reply.StatusCode, fmt.Sprintf("%s %.60s", r.method, r.path))
	}
}

// dialNarrow connects with a small window. Otherwise the kernel would buffer what is not read.
func (c *client) dialNarrow(ctx context.Context) bool {
	dialer := net.Dialer{Timeout: c.plan.Patience, Control: func(_, _ string, conn syscall.RawConn) error {
		var segment, window error
		err := conn.Control(func(fd uintptr) {
			segment = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400)
			window = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		})
		return errors.Join(err, segment, window)
	}}
	conn, err := dialer.DialContext(ctx, "tcp", c.plan.Target.Address)
	if err != nil {
		if ctx.Err() == nil {
			c.tally.begin()
			c.tally.cut()
		}
		return false
	}
	c.conn, c.reader = conn, bufio.NewReaderSize(conn, 4<<10)
	return true
}
