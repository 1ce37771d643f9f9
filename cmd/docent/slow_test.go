//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func (c *crash) command(args ...string) *exec.Cmd {
	return exec.CommandContext(c.t.Context(), c.binary, args...)
}

// TestSlowClientsDoNotStopOthers holds idle connections, slow senders and slow readers while a client works. Each
// of the client's requests succeeds, and in the end so do the slow ones.
func TestSlowClientsDoNotStopOthers(t *testing.T) {
	t.Parallel()
	const (
		idle    = 500
		slow    = 50 // readers, and as many writers
		working = 100
	)
	c := newCrash(t)
	c.start()
	text := strings.Repeat("A page that takes a while to read. ", 29_000) // a megabyte
	c.must("PUT", "/documents", c.page("large", text))
	for range idle {
		c.connect()
	}
	var writers []*slowWriter
	var readers []*slowReader
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
		if status, _ := replyOn(t, w.Conn); status != 200 {
			t.Fatalf("a slow writer: %d", status)
		}
	}
	if n := c.logged(t, "GET /documents/{documentId}"); n > working {
		t.Errorf("%d replies have been taken whole: the slow readers are not slow", n)
	}
	var ended sync.WaitGroup
	for _, r := range readers {
		r.hurry(t)
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

// slowWriter is a client that has sent a part of its body.
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

// slowReader is the body of a reply whose head was read, on a connection with such a small window that the server's
// writes wait.
type slowReader struct {
	io.Reader
	conn *net.TCPConn
}

func (c *crash) slowReader(path string) *slowReader {
	c.t.Helper()
	dialer := net.Dialer{Control: narrow}
	dialed, err := dialer.DialContext(c.t.Context(), "tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { dialed.Close() })
	conn := dialed.(*net.TCPConn)
	c.head(conn, "GET", path, 0)
	status, body := replyOn(c.t, conn)
	if status != 200 {
		c.t.Fatalf("a slow reader: %d", status)
	}
	return &slowReader{body, conn}
}

// narrow sets small segments and a small window. Otherwise the loopback interface buffers a megabyte that no one
// reads.
func narrow(_, _ string, conn syscall.RawConn) error {
	var segment, window error
	err := conn.Control(func(fd uintptr) {
		segment = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400)
		window = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
	})
	return errors.Join(err, segment, window)
}

// hurry makes the reader fast.
func (r *slowReader) hurry(t *testing.T) {
	t.Helper()
	if err := r.conn.SetReadBuffer(1 << 20); err != nil {
		t.Fatal(err)
	}
}

// logged returns how many requests of a route have ended.
func (c *crash) logged(t *testing.T, route string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), `"route":"`+route+`"`)
}

// replyOn reads the head of a reply and returns the status and the unread body.
func replyOn(t *testing.T, conn net.Conn) (status int, body io.Reader) {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reply.Body.Close() })
	return reply.StatusCode, reply.Body
}

func (c *crash) head(conn net.Conn, method, path string, length int) {
	c.t.Helper()
	_, err := fmt.Fprintf(conn, "%s /v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		method, path, c.address, c.key, length)
	if err != nil {
		c.t.Fatal(err)
	}
}
