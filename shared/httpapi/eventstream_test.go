package httpapi_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/httpapi"
)

// TestNoStreamIsSilentForLong: the comment comes 10 s after the last event, whenever that was.
func TestNoStreamIsSilentForLong(t *testing.T) {
	t.Parallel()
	for _, sent := range []time.Duration{0, time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := httptest.NewRecorder()
			send, end := httpapi.NewEventStream(w)
			defer end()
			time.Sleep(sent)
			send("a", "", 1)
			time.Sleep(9 * time.Second)
			synctest.Wait()
			before := w.Body.String()
			time.Sleep(time.Second + time.Millisecond)
			synctest.Wait()
			if after := w.Body.String(); after != before+":\n\n" || before != "event: a\ndata: 1\n\n" {
				t.Errorf("sent after %s: %q, then %q", sent, before, after)
			}
		})
	}
}

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
