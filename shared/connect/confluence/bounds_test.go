package confluence_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/connect/confluence"
	"docent/shared/source"
)

func TestAListOfMoreThanWasAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for n, refused := range map[int]bool{50: false, 51: true} {
		nobody := map[string]any{"user": map[string]any{"results": []any{}}, "group": map[string]any{"results": []any{}}}
		var found []any
		for i := range n {
			found = append(found, map[string]any{"id": fmt.Sprint(i), "type": "page", "restrictions": map[string]any{"read": map[string]any{"restrictions": nobody}}})
		}
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reply := map[string]any{"id": 1, "key": "ENG"}
			if strings.HasSuffix(r.URL.Path, "/content/search") {
				reply = map[string]any{"results": found}
			}
			_ = json.NewEncoder(w).Encode(reply)
		}))
		t.Cleanup(server.Close)
		c := &confluence.Connector{Client: atlassian.Client{HTTP: server.Client(), Now: time.Now, Pause: func(context.Context, time.Duration) error { return nil }}}
		a := source.Access{Settings: source.NewSettings(map[string]any{"baseUrl": server.URL, "spaces": []string{"ENG"}, "access": "source"}), Secrets: source.Secrets{"accessToken": "secret"}}
		items := 0
		var err error
		for page, failed := range c.Read(t.Context(), a, "ENG pages", nil) {
			items, err = items+len(page.Items), failed
		}
		var failed *source.SyncError
		if errors.As(err, &failed) != refused || (items == n) == refused {
			t.Errorf("%d results: %d items, %v", n, items, err)
		}
	}
}
