//go:build unix

package main_test

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// maxResident bounds the memory of docent serve while it accepts and indexes as many large documents at once as it
// admits: the requests, the indexing, and what the garbage collector leaves.
const maxResident = 512 << 20

// TestLargeBodiesAreBounded sends 200 documents of 10 MB at once. Each is stored or refused with 503 and
// Retry-After. The process stays below its bound and healthy. It runs alone: clients that other tests slow down
// below the least rate would be refused for that.
func TestLargeBodiesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("sends two gigabytes; run without -short")
	}
	const (
		clients = 200
		kept    = 12 // that are indexed and read again
	)
	c := newCrash(t)
	c.start()
	text := largeText(10<<20 - 4<<10)
	var sending []large
	for n := range clients {
		sending = append(sending, c.large(n, text))
	}
	var mu sync.Mutex
	var stored []int
	var ended sync.WaitGroup
	for n, l := range sending {
		ended.Go(func() {
			status, retryAfter, said, err := l.send()
			switch {
			case err == nil && status == 200:
				mu.Lock()
				stored = append(stored, n)
				mu.Unlock()
			case err != nil || status != 503 || retryAfter == "":
				t.Errorf("document %d: %d, Retry-After %q, %.300s, %v", n, status, retryAfter, said, err)
			}
		})
	}
	ended.Wait()
	burst := c.resident()
	// The busier the machine, the longer the burst takes and the more of it is accepted. Only some of it is indexed
	// and read again, because all of it could take half an hour.
	all := len(stored)
	for _, n := range stored[min(all, kept):] {
		c.until(http.StatusNoContent, "DELETE", "/documents/"+c.id(pageURI(largeName(n))), nil)
	}
	stored = stored[:min(all, kept)]
	for _, n := range stored {
		if got := c.largeBody(n); got != text {
			t.Errorf("document %d was stored as %d bytes, %d were sent", n, len(got), len(text))
		}
	}
	c.putAndAsk(0, 0)
	c.must("PUT", "/documents", c.page(largeName(clients), text)) // there is room again
	for _, n := range append(stored, clients) {
		c.indexed(largeName(n))
	}
	most := c.resident()
	if most > maxResident {
		t.Errorf("docent serve held %d MB, %d is the bound", most>>20, maxResident>>20)
	}
	t.Logf("%d of %d stored, %d refused; at most %d MB resident in the burst, %d MB with indexing",
		all, clients, clients-all, burst>>20, most>>20)
	c.terminate()
}

// largeText returns n bytes of sentences, also n bytes in JSON, with words of a large vocabulary.
func largeText(n int) string {
	random := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for text.Len() < n {
		fmt.Fprintf(&text, "word%d ", random.IntN(50_000))
		if random.IntN(20) == 0 {
			text.WriteString("ends. ")
		}
	}
	return text.String()[:n]
}

func largeName(n int) string { return fmt.Sprint("large/", n) }

// large is a document in transit, of which the server has the head.
type large struct {
	conn net.Conn
	body io.Reader
}

// large starts to put document n. The clients share the text, because copies would take gigabytes.
func (c *crash) large(n int, text string) large {
	c.t.Helper()
	page, err := json.Marshal(c.page(largeName(n), "@"))
	if err != nil {
		c.t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(page), "@")
	parts := io.MultiReader(strings.NewReader(before), strings.NewReader(text), strings.NewReader(after))
	l := large{c.connect(), struct{ io.Reader }{parts}} // without WriterTo, which would copy the text at once
	c.head(l.conn, "PUT", "/documents", len(before)+len(text)+len(after))
	return l
}

// send sends the whole body before it reads the reply, as many clients do. A refused request must not be cut off
// while it sends, or the client never sees the refusal.
func (l large) send() (status int, retryAfter, said string, err error) {
	if _, err := io.Copy(l.conn, l.body); err != nil {
		return 0, "", "", fmt.Errorf("cut off while sending: %w", err)
	}
	reply, err := http.ReadResponse(bufio.NewReader(l.conn), nil)
	if err != nil {
		return 0, "", "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, reply.Header.Get("Retry-After"), string(text), errors.Join(err, l.conn.Close())
}

// largeBody returns the body of a large document.
func (c *crash) largeBody(n int) string {
	c.t.Helper()
	var d struct{ Body, BodyEncoding string }
	if err := json.Unmarshal(c.until(200, "GET", "/documents/"+c.id(pageURI(largeName(n))), nil), &d); err != nil || d.BodyEncoding != "gzip" {
		c.t.Fatalf("document %d: encoding %q, %v", n, d.BodyEncoding, err)
	}
	stream, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(d.Body)))
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := io.ReadAll(stream)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// indexed waits until a document can be found. It looks less and less often, because reading a large document takes
// the server as long as indexing a part of it.
func (c *crash) indexed(name string) {
	c.t.Helper()
	for pauses := 1; ; pauses = min(2*pauses, 100) {
		var d struct{ Indexing struct{ State string } }
		if err := json.Unmarshal(c.until(200, "GET", "/documents/"+c.id(pageURI(name)), nil), &d); err != nil {
			c.t.Fatal(err)
		}
		switch d.Indexing.State {
		case "indexed":
			return
		case "failed":
			c.t.Fatalf("%s: indexing failed", name)
		}
		for range pauses {
			pause(c.t.Context())
		}
	}
}

// resident returns the largest resident size of the server so far, in bytes.
func (c *crash) resident() int64 {
	c.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.server.Process.Pid))
	if err != nil && os.Getenv("CI") == "true" {
		c.t.Fatal(err)
	}
	if err != nil {
		c.t.Skipf("this system does not tell the memory of a process: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kilobytes int64
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				return kilobytes << 10
			}
		}
	}
	c.t.Fatalf("no VmHWM in %s", status)
	return 0
}
