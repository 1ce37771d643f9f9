package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

func (c *crash) command(args ...string) *exec.Cmd {
	return exec.CommandContext(c.t.Context(), c.binary, args...)
}

// TestSlowClientsDoNotStopOthers holds connections that do nothing, senders that
// trickle and readers that hardly read, and has a client work beside them: each
// of its requests succeeds, and so do the slow ones in the end.
func TestSlowClientsDoNotStopOthers(t *testing.T) {
	t.Parallel()
	const (
		idle    = 500
		slow    = 50 // readers, and as many writers
		working = 100
	)
	c := newCrash(t)
	c.start()
	text := strings.Repeat("A page that takes a while to read. ", 29_000) // a megabyte, more than sockets hold
	c.must("PUT", "/documents", c.page("large", text))
	for range idle {
		c.connect()
	}
	var writers []*slowWriter
	var readers []io.Reader
	for n := range slow {
		writers = append(writers, c.slowWriter(fmt.Sprint("slow/", n)))
		readers = append(readers, c.slowReader("/documents/"+c.id(pageURI("large"))))
	}
	some := make([]byte, 16)
	for n := range working {
		uri := fmt.Sprint("working/", n)
		c.must("PUT", "/documents", c.page(uri, "Others are slow."))
		c.must("GET", "/documents/"+c.id(pageURI(uri)), nil)
		for _, w := range writers {
			w.send(t, 1)
		}
		for _, r := range readers {
			if _, err := io.ReadFull(r, some); err != nil {
				t.Fatalf("a slow reader: %v", err)
			}
		}
	}
	for _, w := range writers {
		w.send(t, len(w.rest))
		if reply := replyOn(t, w.Conn); reply.StatusCode != 200 {
			t.Fatalf("a slow writer: %s", reply.Status)
		}
	}
	var ended sync.WaitGroup
	for _, r := range readers {
		ended.Go(func() {
			rest, err := io.ReadAll(r)
			if err != nil || len(rest) < len(text)-working*len(some) {
				t.Errorf("a slow reader: %d bytes at the end, %v", len(rest), err)
			}
		})
	}
	ended.Wait()
	c.terminate()
}

func pageURI(name string) string { return "https://crash.test/" + name }

func (c *crash) page(name, body string) map[string]string {
	return map[string]string{"collectionId": c.collection, "uri": pageURI(name), "title": "T", "body": body}
}

// must sends a request once; the reply must be 200.
func (c *crash) must(method, path string, body any) {
	c.t.Helper()
	status, reply, err := c.send(c.t.Context(), method, path, body)
	if err != nil || status != 200 {
		c.t.Fatalf("%s %s: %d %.200s, %v", method, path, status, reply, err)
	}
}

func (c *crash) connect() net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	return conn
}

// slowWriter is a client in the middle of its body.
type slowWriter struct {
	net.Conn
	rest []byte
}

func (c *crash) slowWriter(name string) *slowWriter {
	c.t.Helper()
	body, err := json.Marshal(c.page(name, strings.Repeat("A page that takes a while to write. ", 10)))
	if err != nil {
		c.t.Fatal(err)
	}
	w := &slowWriter{c.connect(), body}
	c.head(w.Conn, "PUT", "/documents", len(body))
	return w
}

func (w *slowWriter) send(t *testing.T, n int) {
	t.Helper()
	if _, err := w.Write(w.rest[:n]); err != nil {
		t.Fatalf("a slow writer: %v", err)
	}
	w.rest = w.rest[n:]
}

// slowWindow is what the system takes in for a slow reader: so little that the
// server's writes wait.
const slowWindow = 128 << 10

// slowReader returns the body of a reply whose head has been read.
func (c *crash) slowReader(path string) io.Reader {
	c.t.Helper()
	conn := c.connect()
	if err := conn.(*net.TCPConn).SetReadBuffer(slowWindow); err != nil {
		c.t.Fatal(err)
	}
	c.head(conn, "GET", path, 0)
	reply := replyOn(c.t, conn)
	if reply.StatusCode != 200 {
		c.t.Fatalf("a slow reader: %s", reply.Status)
	}
	return reply.Body
}

// replyOn reads the head of a reply.
func replyOn(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reply.Body.Close() })
	return reply
}

func (c *crash) head(conn net.Conn, method, path string, length int) {
	c.t.Helper()
	_, err := fmt.Fprintf(conn, "%s /v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		method, path, c.address, c.key, length)
	if err != nil {
		c.t.Fatal(err)
	}
}
