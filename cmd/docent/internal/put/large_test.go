package put_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"docent/client"
	"docent/cmd/docent/internal/page"
)

func TestLargeFilesAreUploaded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var mu sync.Mutex
	sent := map[string]int{}
	b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/uploads":
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"u1","uploadUrl":"`+strings.TrimSuffix(b.api.URL, "/v1")+`/bucket/u1","method":"PUT","headers":{"Content-Type":"application/pdf"}}`)
		case "PUT /bucket/u1":
			data, err := io.ReadAll(r.Body)
			if err != nil || r.Header.Get("Authorization") != "" {
				t.Errorf("%v, %v", err, r.Header)
			}
			sent["u1"] = len(data)
			w.WriteHeader(http.StatusNoContent)
		default:
			return false
		}
		return true
	}
	large := "%PDF-" + strings.Repeat("x", page.MaxInline)
	b.write("large.pdf", large)
	b.write("small.pdf", "%PDF-small")
	b.run(2, 0, 0)
	docs := b.api.Documents()
	if d := docs[base+"large.pdf"]; d.Upload != "u1" || d.Body != "" || sent["u1"] != len(large) {
		t.Errorf("%+v after %v", d, sent)
	}
	if d := docs[base+"small.pdf"]; d.Upload != "" || d.Body == "" {
		t.Errorf("%+v", d)
	}
	b.run(0, 2, 0)
	b.write("large.pdf", large+"y")
	b.run(1, 1, 0)
	if sent["u1"] != len(large)+1 {
		t.Errorf("sent %v", sent)
	}
	b.write("over.pdf", strings.Repeat("x", client.MaxUpload+1))
	if sum := b.run(0, 2, 1); len(sum.Failures) != 1 || !strings.Contains(sum.Failures[0].Reason, "over the limit of 100 MB") {
		t.Errorf("%+v", sum)
	}
}
