package gitlab_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/gitlab"
	"docent/shared/source"
)

// serve returns a connector with a server of replies by the ends of paths, and how often each was asked for.
func serve(t *testing.T, replies map[string]any) (*gitlab.Connector, source.Access, map[string]int) {
	t.Helper()
	asked := map[string]int{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, reply := range replies {
			if strings.HasSuffix(r.URL.Path, end) {
				asked[end]++
				if end == "/notes" {
					w.Header().Set("X-Next-Page", "2") // for ever
				}
				_ = json.NewEncoder(w).Encode(reply)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	a := source.Access{Settings: source.NewSettings(map[string]any{"projects": []string{project}, "baseUrl": server.URL})}
	return &gitlab.Connector{HTTP: server.Client(), Now: time.Now, Pause: func(context.Context, time.Duration) error { return nil }}, a, asked
}

func TestAListOfMoreRecordsThanWereAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for n, refused := range map[int]bool{100: false, 101: true} {
		c, a, _ := serve(t, map[string]any{"/api": map[string]string{"visibility": "public"}, "/issues": make([]struct{}, n)})
		next, stop := iter.Pull2(c.Read(t.Context(), a, project+" issues", nil))
		_, err, _ := next()
		stop() // the same page would come for ever
		var failed *source.SyncError
		if errors.As(err, &failed) != refused {
			t.Errorf("%d records: %v", n, err)
		}
	}
}

func TestTheCommentsOnARecordAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	notes := make([]any, 100)
	for i := range notes {
		notes[i] = map[string]string{"body": strings.Repeat("word ", 3000)}
	}
	c, a, asked := serve(t, map[string]any{"/api": map[string]string{"visibility": "public"}, "/issues": []any{map[string]any{"iid": 1, "user_notes_count": 5000}}, "/notes": notes})
	for page, err := range c.Read(t.Context(), a, project+" issues", nil) {
		if err != nil || len(page.Items) != 1 || len(page.Items[0].Body) > 5<<20 || !strings.HasSuffix(page.Items[0].Body, "Further comments are left out.\n") {
			t.Errorf("%d items, %v", len(page.Items), err)
		}
	}
	if asked["/notes"] != 3 {
		t.Errorf("asked %d times for 1.5 MB of comments", asked["/notes"])
	}
}
