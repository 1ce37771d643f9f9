package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatIsMissingIsLost checks the judgement of a document, once its reply does not change any more.
func TestWhatIsMissingIsLost(t *testing.T) {
	t.Parallel()
	const indexed, gone = `{"body":%q,"indexing":{"state":"indexed"}}`, `{"status":404}`
	for name, c := range map[string]struct {
		reply    string
		versions []string
		lost     bool
	}{
		"the acknowledged version":     {fmt.Sprintf(indexed, "one"), []string{"one"}, false},
		"one whose reply was lost":     {fmt.Sprintf(indexed, "two"), []string{"one", "two"}, false},
		"an older version":             {fmt.Sprintf(indexed, "old"), []string{"one", "two"}, true},
		"nothing":                      {gone, []string{"one"}, true},
		"deleted":                      {gone, []string{""}, false},
		"deleted, perhaps":             {gone, []string{"one", ""}, false},
		"deleted, and still there":     {fmt.Sprintf(indexed, "one"), []string{""}, true},
		"not indexed":                  {`{"body":"one","indexing":{"state":"failed"}}`, []string{"one"}, true},
		"an error in place of a reply": {`{"status":503}`, []string{"one", ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &record{id: "d", versions: c.versions}
			if good := r.good(c.reply); good == c.lost {
				t.Errorf("good: %t", good)
			}
		})
	}
}

func TestAWriteIsOnlyAcknowledgedByItsReply(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		if strings.HasSuffix(r.URL.Path, "/cut") {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	w := &world{address: strings.TrimPrefix(server.URL, "http://"), key: "k", replies: map[int]int{}}
	for path, want := range map[string]bool{"/documents": true, "/cut": false} {
		status, _, err := w.send(t.Context(), "PUT", path, nil)
		if got := w.count(status, err, 200); got != want {
			t.Errorf("%s: acknowledged %t, want %t", path, got, want)
		}
	}
	if w.count(404, nil, 200); len(w.wrong) != 1 {
		t.Errorf("a reply that may never be given is not reported: %q", w.wrong)
	}
	w.refused.Add(-1)
	if w.count(503, nil, 200) || len(w.wrong) != 1 || w.acknowledged.Load() != 1 || w.refused.Load() != 2 {
		t.Errorf("%d acknowledged, %d refused", w.acknowledged.Load(), w.refused.Load())
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-for", "1s"}, {"-clients", "0"}, {"-clients", "65"}, {"more"}, {"-engine", "gcp"}, {"-colour", "red"}} {
		if err := run(t.Context(), args, &strings.Builder{}); err == nil {
			t.Errorf("%v are accepted", args)
		}
	}
}
