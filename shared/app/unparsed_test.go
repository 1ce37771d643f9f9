package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// served serves a handler as docent serve does, with its limits on headers.
func served(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, MaxHeaderBytes: headerBytes, ReadHeaderTimeout: headerTimeout}
	wrapped := answerUnparsed(server, listener)
	go func() { _ = server.Serve(wrapped) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// answered is a reply that was read.
type answered struct {
	status int
	header http.Header
	closes bool
}

// exchange sends a text and returns the replies that come back until the connection ends.
func exchange(t *testing.T, address, text string) (replies []answered, bodies []string) {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(c)
	for {
		reply, err := http.ReadResponse(from, nil)
		if err != nil {
			if len(replies) == 0 {
				t.Fatal(err)
			}
			return replies, bodies
		}
		body, err := io.ReadAll(reply.Body)
		if err := errors.Join(err, reply.Body.Close()); err != nil {
			t.Fatal(err)
		}
		replies, bodies = append(replies, answered{reply.StatusCode, reply.Header, reply.Close}), append(bodies, string(body))
	}
}

const whole = "GET /whole HTTP/1.1\r\nHost: x\r\n\r\n"

func TestWhatTheServerRefusesHasOurShape(t *testing.T) {
	t.Parallel()
	address := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "handled") })
	for name, c := range map[string]struct {
		text   string
		status int
		code   string
	}{
		"no HTTP":                    {"hello\r\n\r\n", 400, "invalid-request"},
		"a TLS handshake":            {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "invalid-request"},
		"no host":                    {"GET / HTTP/1.1\r\n\r\n", 400, "invalid-request"},
		"two hosts":                  {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "invalid-request"},
		"a bad host":                 {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "invalid-request"},
		"a bad header":               {"GET / HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n", 400, "invalid-request"},
		"a control in a header":      {"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400, "invalid-request"},
		"a bad path":                 {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid-request"},
		"a bad length":               {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "invalid-request"},
		"large headers":              {"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", headerBytes+8192) + "\r\n\r\n", 431, "headers-too-large"},
		"a coding of its own":        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 501, "unsupported-transfer-encoding"},
		"an expectation":             {"GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417, "expectation-failed"},
		"another version":            {"GET / HTTP/3.7\r\nHost: x\r\n\r\n", 505, "unsupported-version"},
		"after one that was handled": {whole + "GET / HTTP/1.1\r\n\r\n", 400, "invalid-request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replies, bodies := exchange(t, address, c.text)
			if len(replies) == 2 && bodies[0] == "handled" {
				replies, bodies = replies[1:], bodies[1:]
			}
			if len(replies) != 1 {
				t.Fatalf("%d replies: %q", len(replies), bodies)
			}
			reply := replies[0]
			var p struct {
				Status                               int
				Type, Title, Detail, Code, RequestID string
			}
			if err := json.Unmarshal([]byte(bodies[0]), &p); err != nil {
				t.Fatalf("%v: %q", err, bodies[0])
			}
			if reply.status != c.status || p.Status != c.status || p.Code != c.code || p.Type != "urn:docent:problem:"+c.code || p.Title == "" || p.Detail == "" ||
				p.RequestID == "" || p.RequestID != reply.header.Get("X-Request-Id") || reply.header.Get("Content-Type") != "application/json" ||
				reply.header.Get("Cache-Control") != "no-store" || reply.header.Get("X-Content-Type-Options") != "nosniff" || !reply.closes {
				t.Errorf("%d %v %s", reply.status, reply.header, bodies[0])
			}
		})
	}
}

// TestServeAnswersUnparsedRequests: docent serve uses the server tested above.
func TestServeAnswersUnparsedRequests(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, ServeConfig{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Out: in, Log: slog.New(slog.DiscardHandler)})
		_ = in.Close()
	}()
	said := bufio.NewScanner(out)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)
	for said.Scan() {
		if m := address.FindStringSubmatch(said.Text()); m != nil {
			replies, bodies := exchange(t, m[1], "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n")
			if len(replies) != 2 || replies[0].status != 404 || replies[1].status != 400 {
				t.Errorf("%q", bodies)
			}
			for _, body := range bodies {
				if !strings.Contains(body, `"requestId":"`) {
					t.Errorf("%q", body)
				}
			}
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRepliesOfHandlersStayAsTheyAre: also a reply that looks like a refusal, is written in
// pieces, or follows another one on its connection.
func TestRepliesOfHandlersStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const looks = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	large := strings.Repeat(looks, 2000)
	address := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pieces":
			for range 3 {
				_, _ = io.WriteString(w, looks)
				_ = http.NewResponseController(w).Flush()
			}
		case "/large":
			_, _ = io.WriteString(w, large)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	})
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }
	_, bodies := exchange(t, address, get("/large")+get("/pieces")+"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"+
		"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	want := []string{large, looks + looks + looks, "", "hi", ""}
	if len(bodies) != len(want) {
		t.Fatalf("%d replies", len(bodies))
	}
	for n := range want {
		if bodies[n] != want[n] {
			t.Errorf("reply %d: %.200q", n, bodies[n])
		}
	}
}
