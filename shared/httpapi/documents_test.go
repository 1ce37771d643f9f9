package httpapi_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// document is a document in a reply.
type document struct {
	ID, CollectionID, CreatedAt, UpdatedAt, Title, URI, Body, BodyEncoding string
	Indexing                                                               struct {
		State string
		Error *struct{ Code, Detail string }
	}
	tag string
}

func (a *api) document(key, id string) document {
	a.t.Helper()
	var d document
	reply := a.do(call{"GET", "/documents/" + id, key, nil, nil}).want(a.t, 200)
	reply.json(a.t, &d)
	d.tag = reply.Header.Get("ETag")
	return d
}

func TestADocumentIsItsURI(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	wiki, blog := a.newCollection(acme.key, "wiki"), a.newCollection(acme.key, "blog")
	theirs := a.newCollection(rival.key, "wiki")
	const uri = "HTTPS://X.test/%7Ea/../b?q=ü"
	id := a.putDocument(acme.key, wiki, uri, "First", "one")
	if want := uuid.NewSHA1(uuid.MustParse(acme.ID), []byte(uri)).String(); id != want {
		t.Errorf("id %s, want the UUIDv5 %s", id, want)
	}
	first := a.document(acme.key, id)
	if first.URI != uri || first.Title != "First" || first.Body != "one" || first.CollectionID != wiki || first.CreatedAt != "2026-11-21T12:00:00.000Z" || first.UpdatedAt != first.CreatedAt {
		t.Errorf("first: %+v", first)
	}
	for _, other := range []string{"https://X.test/%7Ea/../b?q=ü", "HTTPS://X.test/%7ea/../b?q=ü", "HTTPS://X.test/b?q=ü", uri + "/"} {
		if a.putDocument(acme.key, wiki, other, "t", "b") == id {
			t.Errorf("%s is the document of %s", other, uri)
		}
	}
	if a.putDocument(rival.key, theirs, uri, "Theirs", "b") == id {
		t.Error("two teams have a document of one id")
	}
	a.drain()

	a.clock.Advance(time.Minute)
	a.putDocument(acme.key, wiki, uri, "First", "one")
	if same := a.document(acme.key, id); same != first && (same.UpdatedAt != first.UpdatedAt || same.tag != first.tag || same.Indexing.State != "indexed") {
		t.Errorf("unchanged: %+v, before %+v", same, first)
	}
	for _, change := range []struct{ collection, title, body string }{{wiki, "Second", "one"}, {wiki, "Second", "two"}, {blog, "Second", "two"}} {
		before := a.document(acme.key, id)
		a.clock.Advance(time.Minute)
		a.putDocument(acme.key, change.collection, uri, change.title, change.body)
		after := a.document(acme.key, id)
		if after.CreatedAt != first.CreatedAt || after.UpdatedAt <= before.UpdatedAt || after.tag == before.tag || after.Indexing.State != "pending" {
			t.Errorf("replaced: %+v, before %+v", after, before)
		}
		if after.CollectionID != change.collection || after.Title != change.title || after.Body != change.body {
			t.Errorf("replaced: %+v, want %+v", after, change)
		}
		a.drain()
		if done := a.document(acme.key, id); done.Indexing.State != "indexed" || done.tag != after.tag {
			t.Errorf("after the work: %+v", done)
		}
	}
	for collection, n := range map[string]int{wiki: 4, blog: 1} {
		if got := a.members(call{"GET", "/documents?collectionId=" + collection, acme.key, nil, nil}, "id"); len(got) != n {
			t.Errorf("%d documents after the move, want %d", len(got), n)
		}
	}
	if got := a.document(rival.key, a.putDocument(rival.key, theirs, uri, "Theirs", "b")); got.Title != "Theirs" {
		t.Errorf("the other team's: %+v", got)
	}
}

func TestPreconditionsOfDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	put := func(body string, header map[string]string) response {
		return a.do(call{"PUT", "/documents", acme.key, map[string]string{"collectionId": wiki, "title": "t", "body": body, "uri": "https://x.test/"}, header})
	}
	put("1", map[string]string{"If-Match": "*"}).wantCode(t, 412, "precondition-failed")
	first := put("1", map[string]string{"If-None-Match": "*"}).want(t, 200)
	old, path := first.Header.Get("ETag"), "/documents/"+first.text(t, "id")
	put("1", map[string]string{"If-None-Match": "*"}).wantCode(t, 412, "precondition-failed")
	put("2", map[string]string{"If-Match": `"x"`}).wantCode(t, 412, "precondition-failed")
	put("2", map[string]string{"If-Match": "W/" + old}).wantCode(t, 412, "precondition-failed")
	tag := put("2", map[string]string{"If-Match": old}).want(t, 200).Header.Get("ETag")
	put("3", map[string]string{"If-Match": old}).wantCode(t, 412, "precondition-failed")
	put("2", map[string]string{"If-Match": "*"}).want(t, 200)
	a.do(call{"GET", path, acme.key, nil, map[string]string{"If-None-Match": tag}}).want(t, 304)
	a.do(call{"GET", path, acme.key, nil, map[string]string{"If-None-Match": old}}).want(t, 200)
	a.refused(call{"DELETE", path, acme.key, nil, map[string]string{"If-Match": old}}, 412, "precondition-failed")
	a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-Match": tag}}).want(t, 204)
	a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-Match": tag}}).want(t, 204)
	a.refused(call{"GET", path, acme.key, nil, nil}, 404, "not-found")
	put("1", map[string]string{"If-None-Match": "*"}).want(t, 200)
	// Of many parallel creations, one succeeds.
	created := 0
	for _, reply := range a.atOnce(10, func(int) call {
		return call{"PUT", "/documents", acme.key, map[string]string{"collectionId": wiki, "title": "t", "body": "b", "uri": "https://x.test/race"},
			map[string]string{"If-None-Match": "*"}}
	}) {
		if reply.StatusCode == 200 {
			created++
		} else {
			reply.wantCode(t, 412, "precondition-failed")
		}
	}
	if created != 1 {
		t.Errorf("%d of 10 created the document", created)
	}
}

func TestFormsOfABody(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	b64 := base64.StdEncoding.EncodeToString
	text := "# Title\n\nÜber 🦉 \u0000 \r\n"
	whole := packed(t, text)
	long := strings.Repeat("0123456789abcdef", 1<<16)
	for _, tt := range []struct{ name, sent, want string }{
		{"empty", "", ""},
		{"plain", text, text},
		{"gzip", b64(whole), text},
		{"gzip of nothing", b64(packed(t, "")), ""},
		{"gzip of gzip", b64(packed(t, b64(whole))), b64(whole)},
		{"begins like gzip", "H4sI", "H4sI"},
		{"begins like gzip, then words", "H4sI is how base64 of gzip begins.", "H4sI is how base64 of gzip begins."},
		{"base64 that only begins like gzip", "H4sIAAAAAAAA", "H4sIAAAAAAAA"},
		{"base64 cut off", b64(whole)[:len(b64(whole))-4], b64(whole)[:len(b64(whole))-4]},
		{"base64 without padding", strings.TrimRight(b64(append(whole, 0)), "="), strings.TrimRight(b64(append(whole, 0)), "=")},
		{"two streams", b64(append(append([]byte{}, whole...), whole...)), b64(append(append([]byte{}, whole...), whole...))},
		{"bytes after the stream", b64(append(append([]byte{}, whole...), 0)), b64(append(append([]byte{}, whole...), 0))},
		{"words before base64", " " + b64(whole), " " + b64(whole)},
		{"base64 of text", b64([]byte(text)), b64([]byte(text))},
		{"exactly 1 MiB", long, long},
		{"over 1 MiB", long + "é", long + "é"},
		{"over 1 MiB, gzipped", b64(packed(t, long+"é!")), long + "é!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := a.in(t)
			d := a.document(acme.key, a.putDocument(acme.key, wiki, "https://x.test/"+strings.ReplaceAll(tt.name, " ", "-"), "t", tt.sent))
			got := d.Body
			if large := len(tt.want) > 1<<20; large != (d.BodyEncoding == "gzip") {
				t.Errorf("bodyEncoding %q for %d bytes", d.BodyEncoding, len(tt.want))
			} else if large {
				got = unpacked(t, got)
			}
			if got != tt.want {
				t.Errorf("body %.80q, want %.80q", got, tt.want)
			}
		})
	}
	a.refused(call{"PUT", "/documents", acme.key, map[string]string{"collectionId": wiki, "title": "t", "uri": "https://x.test/latin",
		"body": b64(packed(t, "M\xfcnchen "+marker))}, nil}, 400, "invalid-request")
}
