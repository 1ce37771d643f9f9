package httpapi_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/httpapi"
)

// TestAQuietStreamIsKeptOpen: a comment comes every 10 s in which nothing else was sent, and none after the end.
func TestAQuietStreamIsKeptOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		send, end := httpapi.NewEventStream(w)
		time.Sleep(9 * time.Second)
		send("a", "1", 1)
		time.Sleep(32 * time.Second)
		end()
		end()
		send("b", "", 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := w.Body.String(), "event: a\nid: 1\ndata: 1\n\n:\n\n:\n\n:\n\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
