package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestImports(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.connect(acme, "linear", nil)
	send := func(body []byte, header map[string]string) response {
		if header["Content-Type"] == "" {
			header = map[string]string{"Content-Type": "application/x-ndjson", "Content-Encoding": header["Content-Encoding"]}
		}
		return a.do(call{"POST", "/data-sources/" + id + "/items", acme.pat, body, header})
	}
	good := `{"uri":"https://x.test/1","title":"One","body":"","sourceType":"issue","unknown":[1]}`
	for line, detail := range map[string]string{
		"[]": "is not a JSON object", "null": "is not a JSON object", `{"uri":`: "is not well-formed JSON: it ends too early", `{"body":"C:\docs"}`: `is not well-formed JSON at column 13: in a string, a backslash is escaped, as in \\`, "\xff": "is not UTF-8", `{}`: "uri is missing",
		`{"uri":"https://x.test/2","title":"t","sourceType":"issue"}`:                                                                  "body is missing",
		`{"uri":"https://x.test/2","title":"","body":"b","sourceType":"issue"}`:                                                        "title must have 1 to 1024 characters",
		`{"uri":"https://x.test/2","title":"` + strings.Repeat("ä", 1025) + `","body":"b","sourceType":"issue"}`:                       "title must have 1 to 1024 characters",
		`{"uri":"relative","title":"t","body":"b","sourceType":"issue"}`:                                                               "uri must be an absolute URI",
		`{"uri":"javascript:x","title":"t","body":"b","sourceType":"issue"}`:                                                           "uri must have the scheme http or https, another one of the documented list, or one with a dot in its name",
		`{"uri":"https://x.test/` + strings.Repeat("x", 2048) + `","title":"t","body":"b","sourceType":"issue"}`:                       "uri must have at most 2048 characters",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"email"}`:                                                       "sourceType must be code, pull_request, issue, documentation or message",
		`{"uri":"https://x.test/2","title":"t","body":null,"sourceType":"issue"}`:                                                      "body must be a text",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","state":"merged"}`:                                      "state must be one of open, closed",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"message","state":"open"}`:                                      "state is for issues and pull requests",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","labels":"bug"}`:                                        "labels must be a list of texts",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","labels":[""]}`:                                         "a label must have 1 to 100 characters and no control characters",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","assignees":["a\u0007"]}`:                               "an assignee must have 1 to 256 characters and no control characters",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","createdAt":"yesterday"}`:                               "createdAt must be a time in RFC 3339",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","createdAt":"1969-01-01T00:00:00Z"}`:                    "times must be within the years 1970 to 9999",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","author":"` + strings.Repeat("x", 257) + `"}`:           "author must have at most 256 characters and no control characters",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","labels":["` + strings.Repeat(`x","`, 50) + `x"]}`:      "labels and assignees must have at most 50 entries each",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","number":"` + strings.Repeat("1", 65) + `"}`:            "number must have at most 64 characters and no control characters",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","number":42}`:                                           "number must be a text",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","updatedAt":"2026-01-01T00:00:00Z","closedAt":"later"}`: "closedAt must be a time in RFC 3339",
		`{"uri":"https://x.test/2","title":"t","body":"b","sourceType":"issue","uri":"https://x.test/3"}`:                              `has an object with two members "uri", the second at column 71`,
		`{"uri":"https://x.test/2","x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`:                                     "is nested more than 64 levels deep",
		`{"uri":"https://x.test/2",` + strings.Repeat(`"x":0,`, 1000) + `"x":0}`:                                                       "has an object of more than 1000 members",
		`{"uri":"https://x.test/2","x":` + strings.Repeat("1", 101) + `}`:                                                              "has a number of more than 100 characters",
	} {
		reply := send([]byte(line+"\n\n"+good), nil).want(t, 200)
		var got struct {
			Accepted, Rejected int
			Errors             []struct {
				Line   int
				Detail string
			}
		}
		reply.json(t, &got)
		if got.Accepted != 1 || got.Rejected != 1 || len(got.Errors) != 1 || got.Errors[0].Line != 1 || got.Errors[0].Detail != detail {
			t.Errorf("%.80q: %s, want %s", line, reply.body, detail)
		}
	}
	if reply := send([]byte("\ufeff"+good), nil).want(t, 200); !strings.Contains(string(reply.body), `"accepted":1,"rejected":0`) {
		t.Errorf("with a byte order mark: %s", reply.body)
	}
	if reply := send(bytes.Repeat([]byte("[]\n"), 150), nil).want(t, 200); strings.Count(string(reply.body), `"line"`) != 100 || !strings.Contains(string(reply.body), `"rejected":150`) {
		t.Errorf("150 faults: %.200s", reply.body)
	}
	long := strings.Replace(good, `"body":""`, `"body":"https://x.test/`+strings.Repeat("x", 200)+`"`, 1)
	for name, lines := range map[string]string{
		"lines that leave objects open": strings.Repeat("{\n", 100),
		"a line that was cut in a text": good[:len(`{"uri":"https`)] + "\n",
		"a line that is not JSON":       strings.Repeat("x", 200) + "\n",
	} {
		rejected := fmt.Sprintf(`"rejected":%d,`, strings.Count(lines, "\n"))
		if reply := send([]byte(lines+long), nil).want(t, 200); !strings.Contains(string(reply.body), `"accepted":1,`+rejected) {
			t.Errorf("%s: %.200s", name, reply.body)
		}
	}
	send([]byte(strings.Repeat("[", 200_001)), nil).wantCode(t, 400, "invalid-request")
	send(bytes.Repeat([]byte("{}\n"), 1001), nil).wantCode(t, 400, "invalid-request")
	send(nil, map[string]string{"Content-Type": "application/x-ndjson"}).wantCode(t, 400, "invalid-request")
	send([]byte(good), map[string]string{"Content-Type": "application/json"}).wantCode(t, 415, "unsupported-media-type")
	send([]byte(good), map[string]string{"Content-Type": "text/csv"}).wantCode(t, 415, "unsupported-media-type")
	send(bytes.Repeat([]byte(" "), 10<<20+1), nil).wantCode(t, 413, "request-too-large")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(good)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if reply := send(packed.Bytes(), map[string]string{"Content-Encoding": "gzip"}).want(t, 200); !strings.Contains(string(reply.body), `"accepted":1`) {
		t.Errorf("gzip: %s", reply.body)
	}
}

func TestImportedItemsAreNoDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	tracker := a.tracker(acme)
	other, _ := a.connect(acme, "linear", nil)
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://tracker.test/page", "Page", "Zeppelin")
	list := call{"GET", "/documents", acme.key, nil, nil}
	if uris := a.members(list, "uri"); !slices.Equal(uris, []string{"https://tracker.test/page"}) {
		t.Errorf("documents: %v", uris)
	}
	list.path += "?collectionId=" + tracker
	if uris := a.members(list, "uri"); len(uris) != 0 {
		t.Errorf("documents of a data source: %v", uris)
	}
	for name, reply := range map[string]response{
		"of another data source": a.importItems(acme, other, issue(1, "Stolen", nil)),
		"of a collection":        a.importItems(acme, other, issue(1, "Stolen", map[string]any{"uri": "https://tracker.test/page"})),
	} {
		if !strings.Contains(string(reply.body), `"rejected":1`) || !strings.Contains(string(reply.body), "another data source") {
			t.Errorf("%s: %s", name, reply.body)
		}
	}
	item := a.putDocument(acme.key, wiki, "https://tracker.test/issues/1", "Mine now", "Moved by hand") // one uri is one document
	a.drain()
	a.do(call{"GET", "/documents/" + item, acme.key, nil, nil}).want(t, 200)
	if got := a.search(acme.key, "issues", "Safari").found(t); len(got) != 0 {
		t.Errorf("the moved item is still an issue: %v", got)
	}
	two := a.do(call{"POST", "/context/search", acme.key, map[string]any{"query": "Moved hand"}, nil}).found(t)
	if len(two) == 0 || two[0] != "issues/1" {
		t.Errorf("the document is not found: %v", two)
	}
}

func TestOlderItemsNeverWin(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.connect(acme, "linear", nil)
	version := func(day int) map[string]any {
		return issue(1, fmt.Sprintf("Version of day %d", day), map[string]any{"updatedAt": fmt.Sprintf("2026-05-%02dT00:00:00Z", day)})
	}
	title := func() string {
		var body struct{ Sources []struct{ Title string } }
		a.query(acme.pat, "issues", map[string]any{"query": "all issues"}).json(t, &body)
		if len(body.Sources) != 1 {
			t.Fatalf("%d issues", len(body.Sources))
		}
		return body.Sources[0].Title
	}
	a.importItems(acme, id, version(5), version(3)).want(t, 200)
	a.importItems(acme, id, version(4)).want(t, 200)
	if got := title(); got != "Version of day 5" {
		t.Errorf("an older item won: %s", got)
	}
	var group sync.WaitGroup
	for day := 6; day <= 20; day++ {
		group.Go(func() { a.importItems(acme, id, version(day)).want(t, 200) })
	}
	group.Wait()
	if got := title(); got != "Version of day 20" {
		t.Errorf("in a race %s won", got)
	}
	a.drain()
	if got := a.search(acme.key, "issues", "version day").found(t); !slices.Equal(got, []string{"issues/1"}) {
		t.Errorf("found %v", got)
	}
}
