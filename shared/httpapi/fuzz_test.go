package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/httpapi"
	"docent/shared/table"
)

const fuzzTeam = "0190d2a0-0000-7000-8000-0000000000aa"

// FuzzCursor: an accepted cursor was made for that team and list.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "A", marker, httpapi.EncodeCursor(fuzzTeam, "documents", "8235#x"),
		httpapi.EncodeCursor(fuzzTeam, "answers", "8235#x"), httpapi.EncodeCursor(fuzzTeam, "documents", "\x00")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := httpapi.DecodeCursor(fuzzTeam, "documents", cursor)
		if err != nil {
			if !apierr.IsCode(err, apierr.CodeInvalidCursor) || strings.Contains(err.Error(), cursor) && len(cursor) > 60 {
				t.Errorf("error %v", err)
			}
			return
		}
		if again := httpapi.EncodeCursor(fuzzTeam, "documents", position); again != cursor {
			t.Errorf("%q is read as the position %q, whose cursor is %q", cursor, position, again)
		}
		if err := (table.Key{Table: table.Documents, Partition: fuzzTeam, Sort: position}).Check(); err != nil {
			t.Errorf("position %q: %v", position, err)
		}
	})
}

// FuzzPosition: the cursor of a position returns that position for its own team and list, and is
// refused for any other.
func FuzzPosition(f *testing.F) {
	f.Add("8235#0190d2a0")
	f.Add("\U0010ffff")
	f.Fuzz(func(t *testing.T, position string) {
		if (table.Key{Table: table.Documents, Partition: fuzzTeam, Sort: position}).Check() != nil || len(position) > 1000 {
			t.Skip()
		}
		cursor := httpapi.EncodeCursor(fuzzTeam, "documents", position)
		if got, err := httpapi.DecodeCursor(fuzzTeam, "documents", cursor); err != nil || got != position {
			t.Errorf("the cursor of %q returns %q, %v", position, got, err)
		}
		if _, err := httpapi.DecodeCursor(fuzzTeam, "answers", cursor); err == nil {
			t.Errorf("the cursor of %q holds in another list", position)
		}
		if _, err := httpapi.DecodeCursor(unknownID, "documents", cursor); err == nil {
			t.Errorf("the cursor of %q holds in another team", position)
		}
	})
}

// FuzzBody sends bodies to every operation that takes one. Every reply conforms to the contract,
// and no value outside its bounds is accepted.
func FuzzBody(f *testing.F) {
	a := newAPI(f)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	targets := []call{
		{"POST", "/collections", acme.key, nil, nil}, {"PATCH", "/collections/" + wiki, acme.key, nil, nil},
		{"PUT", "/documents", acme.key, nil, nil}, {"PUT", "/answers/" + unknownID, acme.key, nil, nil},
	}
	for _, seed := range []string{"", "{}", "null", `{"name":"n","description":"d","NAME":"m"}`, `{"iconUrl":null}`, `{"question":"q"}`,
		`{"collectionId":"` + wiki + `","title":"t","body":"H4sI","uri":"https://x.test/"}`, `{"name":"\ud800"}`, `[[[]]]`, "{\"name\":\"\xff\"}"} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	expected := []int{200, 201, 204, 400, 404, 409, 413}
	f.Fuzz(func(t *testing.T, body []byte, gzipped bool) {
		for _, c := range targets {
			c.body = body
			if gzipped {
				c.header = map[string]string{"Content-Encoding": "gzip"}
			}
			// Calls that the OpenAPI document does not allow, but are accepted, fail here.
			reply := a.in(t).do(c)
			if !slices.Contains(expected, reply.StatusCode) {
				t.Errorf("%s %s: status %d: %s", c.method, c.path, reply.StatusCode, reply.body)
			}
			if reply.StatusCode < http.StatusBadRequest && !gzipped && !json.Valid(bytes.TrimSpace(body)) {
				t.Errorf("%s %s: %q is accepted", c.method, c.path, body)
			}
		}
	})
}

// FuzzURI: an accepted URI is absolute and runs nothing.
func FuzzURI(f *testing.F) {
	for _, seed := range []string{"https://x.test/a?b#c", "javascript:alert(1)", "JaVaScRiPt:x", " data:,x", "urn:x", ":", "a:", "//x", "vbscript:", "https://[::1]/%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if err := httpapi.CheckURI(uri); err != nil {
			if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
				t.Errorf("error %v", err)
			}
			return
		}
		u, err := url.Parse(uri)
		if err != nil || !u.IsAbs() {
			t.Fatalf("%q is accepted and no absolute URI: %v", uri, err)
		}
		// A browser drops white space before a URL, and tabs and newlines in it.
		plain := strings.ToLower(strings.TrimLeft(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(uri), "\x00 "))
		for _, scheme := range []string{"javascript:", "data:", "vbscript:"} {
			if strings.HasPrefix(plain, scheme) {
				t.Errorf("%q is accepted", uri)
			}
		}
	})
}

// FuzzUnpackBody: a body is plain text unless it is base64 of one complete gzip stream. The result
// is UTF-8 text within the bound.
func FuzzUnpackBody(f *testing.F) {
	f.Add([]byte("text"), false)
	f.Add([]byte("H4sIAAAAAAAA"), false)
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"), true)
	f.Add([]byte("\x1f\x8b\x08\x1c\x00\x00\x00\x00\x00\x03\x05\x00abcde\x00\x00"), true)
	f.Fuzz(func(t *testing.T, raw []byte, encode bool) {
		sent := string(raw)
		if encode {
			sent = base64.StdEncoding.EncodeToString(raw)
		}
		if !utf8.ValidString(sent) {
			t.Skip() // no JSON string
		}
		text, err := httpapi.UnpackBody(sent)
		switch {
		case err != nil:
			if !apierr.IsCode(err, apierr.CodeInvalidRequest) && !apierr.IsCode(err, apierr.CodeTooLarge) {
				t.Errorf("error %v", err)
			}
		case !utf8.ValidString(text) || len(text) > httpapi.MaxBody && text != sent:
			t.Errorf("%d bytes, UTF-8 %v", len(text), utf8.ValidString(text))
		case text != sent && !strings.HasPrefix(sent, "H4sI"):
			t.Errorf("%q is read as %q", sent, text)
		}
	})
}

// FuzzPrefer: a wait is within 0 and 20 seconds, and only the preference wait sets it.
func FuzzPrefer(f *testing.F) {
	for _, seed := range []string{"", "wait=20", "wait=99999999999999999999", "a, wait=\"3\";x=y", "wait", "WAIT = 1,wait=2", ",,=;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prefer string) {
		wait, wanted := httpapi.WaitOf(prefer)
		if wait < 0 || wait > 20*time.Second || wait%time.Second != 0 || !wanted && wait != 0 {
			t.Errorf("%q waits %s, %v", prefer, wait, wanted)
		}
		if wanted && !strings.Contains(strings.ToLower(prefer), "wait") {
			t.Errorf("%q does not ask to wait", prefer)
		}
	})
}

// FuzzInflate: a gzip body never gives more than the limit, and every error has a text for the
// client.
func FuzzInflate(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := httpapi.Inflate(body)
		if len(text) > httpapi.MaxBody || err != nil && !apierr.IsCode(err, apierr.CodeInvalidRequest) && !apierr.IsCode(err, apierr.CodeTooLarge) {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}
