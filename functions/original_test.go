package functions_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestTheOriginalOfAFileIsAtASignedAddress: the function sends the caller to the object, which needs no key there, and
// nobody else.
func TestTheOriginalOfAFileIsAtASignedAddress(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	wiki := c.newCollection("wiki")
	file := c.id(c.want(c.putFile(wiki, "runbook", rollback), 200))
	text := c.id(c.want(c.put(wiki, "lunch", lunch), 200))
	r := c.want(c.do("GET", "/documents/"+file+"/original", nil), http.StatusFound)
	at, err := url.Parse(r.header.Get("Location"))
	if err != nil || r.body != "" {
		t.Fatalf("%q in %v, %v", r.body, r.header, err)
	}
	for name, want := range map[string]string{"X-Amz-Expires": "60", "response-content-type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"} {
		if got := at.Query().Get(name); got != want {
			t.Errorf("%s is %q, want %q, in %s", name, got, want, at)
		}
	}
	if q := at.Query(); q.Get("X-Amz-Signature") == "" || !strings.HasPrefix(q.Get("response-content-disposition"), "attachment;") {
		t.Errorf("not signed, or shown: %s", at)
	}
	got, err := http.Get(at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "PK") {
		t.Errorf("%d, %d bytes, %v", got.StatusCode, len(body), err)
	}
	head := c.want(c.do("HEAD", "/documents/"+file+"/original", nil), http.StatusFound)
	described, err := http.Head(head.header.Get("Location")) // which a client follows with HEAD
	if err != nil {
		t.Fatal(err)
	}
	_ = described.Body.Close()
	if described.StatusCode != http.StatusOK || described.ContentLength != int64(len(body)) ||
		!strings.Contains(head.header.Get("Location"), "response-content-disposition=attachment") || head.header.Get("Location") == at.String() {
		t.Errorf("HEAD: %d, %v", described.StatusCode, described.Header)
	}
	c.want(c.do("GET", "/documents/"+text+"/original", nil), 404, `"code":"not-found"`)
	_, c.key, _ = c.newTeam("rival")
	c.want(c.do("GET", "/documents/"+file+"/original", nil), 404, `"code":"not-found"`)
}
