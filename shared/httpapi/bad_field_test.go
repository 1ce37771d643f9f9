package httpapi_test

import (
	"strings"
	"testing"
)

// TestLengthsCountCodePoints takes each bound, and one code point less or more.
func TestLengthsCountCodePoints(t *testing.T) {
	t.Parallel()
	bounds := map[string]map[string]struct {
		least, most int
		before      string // what a valid value begins with
	}{
		"createCollection": {"name": {1, 32, ""}, "description": {1, 4096, ""}, "iconUrl": {1, 2048, "https://x.test/"}},
		"updateCollection": {"name": {1, 32, ""}, "description": {1, 4096, ""}, "iconUrl": {1, 2048, "https://x.test/"}},
		"putDocument":      {"title": {1, 1024, ""}, "uri": {1, 2048, "https://x.test/"}, "collectionId": {1, 36, ""}, "body": {0, 0, ""}},
		"askQuestion":      {"question": {1, 10000, ""}},
	}
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, o := range bodyOperations(a, acme) {
		if len(bounds[o.name]) != len(o.good) {
			t.Fatalf("%s has members without bounds here", o.name)
		}
		for member, bound := range bounds[o.name] {
			if bound.least == 1 {
				t.Run(o.name+"/"+member+"/empty", func(t *testing.T) {
					t.Parallel()
					a.in(t).refused(call{o.method, o.path, acme.key, o.with(member, ""), nil}, 400, "invalid-request")
				})
			}
			if member == "body" || member == "collectionId" {
				continue // bounded by the request; by being an id
			}
			for width, letter := range map[string]string{"ascii": "x", "two bytes": "é", "three bytes": "語", "four bytes": "🦉"} {
				t.Run(o.name+"/"+member+"/"+width, func(t *testing.T) {
					t.Parallel()
					a := a.in(t)
					path := o.path
					if o.name == "askQuestion" {
						path = "/answers/" + numberedID(len(width)) // a new question for each width
					}
					full := bound.before + strings.Repeat(letter, bound.most-len(bound.before))
					a.refused(call{o.method, path, acme.key, o.with(member, full+letter), nil}, 400, "invalid-request")
					a.do(call{o.method, path, acme.key, o.with(member, full), nil}).want(t, o.status)
				})
			}
		}
	}
}

func TestNothingIsTrimmed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, name := range []string{" ", "  x  ", "\u3000", "\u200b", `<b>"&'`} {
		reply := a.do(call{"POST", "/collections", acme.key, map[string]string{"name": name, "description": name + "\t\n\x00"}, nil}).want(t, 201)
		again := a.do(call{"GET", "/collections/" + reply.text(t, "id"), acme.key, nil, nil}).want(t, 200)
		if got := again.text(t, "name"); got != name {
			t.Errorf("name %q came back as %q", name, got)
		}
		if got := again.text(t, "description"); got != name+"\t\n\x00" {
			t.Errorf("description %q came back as %q", name, got)
		}
	}
}

func TestURLsThatAreNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	operations := bodyOperations(a, acme)
	bad := map[string][]string{
		"iconUrl": {marker, "/" + marker, "//x.test/" + marker, "ftp://x.test/" + marker, "https:" + marker, "https://", "https:///" + marker,
			"javascript:" + marker, "data:image/png;base64," + marker, "file:///" + marker, "https://x.test/%zz" + marker, "http://[" + marker,
			"https://x.test/a b" + marker, "https://x.test/\"" + marker, "https://x.test/<" + marker, "https://x.test\\" + marker, "https://x.test/\u202e" + marker,
			"https://x.test/\u2066" + marker, "https://x.test/`" + marker, "https://ada@x.test/" + marker, "https://x.test/?" + marker + "=100%", "wiki:" + marker},
		"uri": {marker, "/" + marker, "//x.test/" + marker, "x.test/" + marker, "https:", "javascript:" + marker, "JavaScript:" + marker,
			" javascript:" + marker, "java\tscript:" + marker, "\x01javascript:" + marker, "data:text/html," + marker, "DATA:," + marker,
			"vbscript:" + marker, "https://x.test/%zz" + marker, "https://x.test/\n" + marker, "https://x.test/\x00" + marker,
			"https://x.test/\u0085" + marker, ":" + marker, "1a:" + marker, "unheard-of:" + marker, "https://x.test/a b" + marker, "https://x.test/\u3000" + marker,
			"https://x.test/\"" + marker, "https://x.test/<" + marker, "https://x.test\\" + marker, "https://x.test/\u202e" + marker, "wiki:\u2067" + marker,
			"https://x.test/`" + marker, "https://ada@x.test/" + marker, "https://x.test/?" + marker + "=100%"},
	}
	for _, o := range operations {
		for member := range o.good {
			for _, url := range bad[member] {
				t.Run(o.name+"/"+url, func(t *testing.T) {
					t.Parallel()
					a.in(t).refused(call{o.method, o.path, acme.key, o.with(member, url), nil}, 400, "invalid-request")
				})
			}
		}
	}
	for _, uri := range []string{"https://x.test", "HTTPS://X.test/a%20b", "urn:isbn:0451450523", "file:///etc/motd", "mailto:a@x.test",
		"wiki:Page#1", "https://x.test/?q=ü#🦉", "notion://page/1", "com.acme.x:1"} {
		a.do(call{"PUT", "/documents", acme.key, operations[2].with("uri", uri), nil}).want(t, 200)
	}
}

func TestCollectionIDsThatAreNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	foreign := a.newCollection(rival.key, "wiki")
	put := bodyOperations(a, acme)[2]
	for name, id := range map[string]string{
		"no UUID": marker, "unknown": unknownID, "another team's": foreign,
		"NUL": "\x00", "slashes": "../" + marker, "too long for a key": strings.Repeat("語", 5000), "with NUL": unknownID[:35] + "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.in(t).refused(call{put.method, put.path, acme.key, put.with("collectionId", id), nil}, 404, "not-found")
		})
	}
}
