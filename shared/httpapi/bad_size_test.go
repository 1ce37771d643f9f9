package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/httpapi"
)

// packed returns the gzip form of text.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cutBomb returns a gzip stream of many more than MaxBody zero bytes without its end. Inflating
// all of it would find it damaged.
func cutBomb(t *testing.T) []byte {
	t.Helper()
	bomb := packed(t, strings.Repeat("\x00", httpapi.MaxBody+1<<20))
	return bomb[:len(bomb)-64]
}

const largeURI = "https://x.test/large"

// sized returns a document whose request has exactly size bytes.
func sized(collection string, size int) string {
	around := fmt.Sprintf(`{"collectionId":%q,"title":"t","uri":%q,"body":""}`, collection, largeURI)
	return strings.Replace(around, `"body":""`, `"body":"`+strings.Repeat("a", size-len(around))+`"`, 1)
}

func TestRequestsOfTenMegabytes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	gzipped := map[string]string{"Content-Encoding": "gzip"}
	// All fields of a document count, with its body decompressed.
	others := len(wiki) + len("t") + len(largeURI)
	inBody := func(size int) map[string]string {
		return map[string]string{"collectionId": wiki, "title": "t", "uri": largeURI,
			"body": base64.StdEncoding.EncodeToString(packed(t, strings.Repeat("b", size)))}
	}
	tests := []struct {
		name   string
		body   any
		header map[string]string
		ok     bool
	}{
		{"exactly the limit", sized(wiki, httpapi.MaxBody), nil, true},
		{"one byte more", sized(wiki, httpapi.MaxBody+1), nil, false},
		{"exactly the limit, gzipped", packed(t, sized(wiki, httpapi.MaxBody)), gzipped, true},
		{"one byte more, gzipped", packed(t, sized(wiki, httpapi.MaxBody+1)), gzipped, false},
		{"exactly the limit in the body", inBody(httpapi.MaxBody - others), nil, true},
		{"one byte more in the body", inBody(httpapi.MaxBody - others + 1), nil, false},
		{"a body that alone is larger", inBody(httpapi.MaxBody + 1), nil, false},
	}
	for _, tt := range tests {
		c := call{"PUT", "/documents", acme.key, tt.body, tt.header}
		if !tt.ok {
			a.refused(c, 413, "request-too-large")
			continue
		}
		reply := a.do(c)
		if reply.StatusCode != 200 {
			t.Fatalf("%s: status %d: %s", tt.name, reply.StatusCode, reply.body)
		}
		got := a.do(call{"GET", "/documents/" + reply.text(t, "id"), acme.key, nil, nil}).want(t, 200)
		if got.text(t, "bodyEncoding") != "gzip" {
			t.Fatalf("%s: the body came back unpacked", tt.name)
		}
		text := unpacked(t, got.text(t, "body"))
		if len(text) < httpapi.MaxBody-200 || strings.Trim(text, "ab") != "" {
			t.Errorf("%s: body of %d bytes, %.20q…", tt.name, len(text), text)
		}
	}
}

// TestBombsAreNotInflated: damage of a stream past the limit is not found.
func TestBombsAreNotInflated(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	bomb := cutBomb(t)
	for _, o := range bodyOperations(a, acme) {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			a := a.in(t)
			a.refused(call{o.method, o.path, acme.key, bomb, map[string]string{"Content-Encoding": "gzip"}}, 413, "request-too-large")
			a.refused(call{o.method, o.path, acme.key, packed(t, strings.Repeat("\x00", httpapi.MaxBody+1)),
				map[string]string{"Content-Encoding": "gzip"}}, 413, "request-too-large")
			if o.name == "putDocument" {
				text := base64.StdEncoding.EncodeToString(bomb)
				a.refused(call{o.method, o.path, acme.key, o.with("body", text), nil}, 413, "request-too-large")
			}
		})
	}
}

func TestDamagedGzip(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, o := range bodyOperations(a, acme) {
		good := packed(t, `{"question":"`+marker+`"}`)
		flipped := bytes.Clone(good)
		flipped[len(flipped)-6] ^= 1 // in its checksum
		for name, body := range map[string][]byte{
			"nothing": {}, "plain text": []byte(marker), "only a header": good[:10], "without its end": good[:len(good)-1],
			"wrong checksum": flipped, "text after it": append(bytes.Clone(good), marker...),
		} {
			t.Run(o.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				a.in(t).refused(call{o.method, o.path, acme.key, body, map[string]string{"Content-Encoding": "gzip"}}, 400, "invalid-request")
			})
		}
	}
}

// TestAnnouncedLengths: a wrong length does not make a request smaller.
func TestAnnouncedLengths(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	reply := a.stream(acme.key, httpapi.MaxBody+1, strings.NewReader(`{"question":"q"}`))
	reply.wantCode(t, 413, "request-too-large")
	endless := &counter{from: endless{}}
	a.stream(acme.key, -1, endless).wantCode(t, 413, "request-too-large")
	if endless.read > httpapi.MaxBody+1 {
		t.Errorf("read %d bytes of a body without end", endless.read)
	}
	a.stream(acme.key, -1, io.MultiReader(strings.NewReader(`{"question":`), broken{})).wantCode(t, 400, "invalid-request")
}

// TestAClientThatWaitsWithTheBodyIsRefusedAtOnce: a 100 Continue would ask it to send what is refused.
func TestAClientThatWaitsWithTheBodyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	server := httptest.NewServer(a.handler)
	t.Cleanup(server.Close)
	for _, c := range []struct {
		request, media string
		length, status int
	}{
		{"PUT /v1/documents", "application/json", httpapi.MaxBody + 1, 413},
		{"PUT /v1/documents", "text/plain", 2, 415},
		{"PUT /v1/team/saml-metadata", "application/xml", 1<<20 + 1, 413},
		{"POST /v1/scim/v2/Users", "application/scim+json", httpapi.MaxBody + 1, 403},
		{"PUT /v1/documents", "application/json", 2, 100},
	} {
		t.Run(fmt.Sprint(c.request, " ", c.media, " ", c.length), func(t *testing.T) {
			t.Parallel()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
				c.request, acme.pat, c.media, c.length)
			line, err := bufio.NewReader(conn).ReadString('\n')
			if want := fmt.Sprintf("HTTP/1.1 %d ", c.status); err != nil || !strings.HasPrefix(line, want) {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
}
