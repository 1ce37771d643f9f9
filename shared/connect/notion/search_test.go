package notion_test

import (
	"errors"
	"net/http"
	"testing"

	"docent/shared/connect/notion/notiontest"
	"docent/shared/source"
)

// TestAListThatLeadsToItselfIsAFailure, not an endless reading.
func TestAListThatLeadsToItselfIsAFailure(t *testing.T) {
	t.Parallel()
	r := read(t, notiontest.NewPage(1, "Handbook"))
	asked := 0
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if asked++; path != "/v1/search" || asked > 50 {
			return false
		}
		_, _ = w.Write([]byte(`{"results":[],"has_more":true,"next_cursor":"same"}`))
		return true
	})
	var failed *source.SyncError
	if _, _, _, _, err := r.all(nil, nil); !errors.As(err, &failed) || failed.Code != source.Unreadable || asked > 5 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
