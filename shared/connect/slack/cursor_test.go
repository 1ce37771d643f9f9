package slack_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"docent/shared/source"
)

// TestACursorThatHasExpired begins the list again: a channel that was interrupted for days would never be read again.
func TestACursorThatHasExpired(t *testing.T) {
	t.Parallel()
	for pages := 1; pages <= 4; pages++ { // of the history, the thread and the history
		s, c, a := workspace(t)
		var at []byte
		n, seen := 0, map[string]bool{}
		for page, err := range c.Read(t.Context(), a, ops, nil) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				seen[i.Title] = true
			}
			if at, n = page.Checkpoint, n+1; n == pages {
				break
			}
		}
		s.Expired = true
		s.Before = func(n int, _ http.ResponseWriter) bool { // what is asked for again has new cursors
			s.Expired = s.Expired && n < 3
			return false
		}
		s.Requests()
		titles, end, err := read(t, c, a, at)
		for _, title := range titles {
			seen[title] = true
		}
		if err != nil || !end.Exact || len(seen) != len(all) {
			t.Errorf("after %d pages: %q %v", pages, titles, err)
		}
		if _, next, err := read(t, c, a, end.Checkpoint); err != nil || !next.Last {
			t.Errorf("after %d pages, the next sync: %v", pages, err)
		}
	}
}

// TestACursorThatIsNeverValid is a failure, not an endless reading.
func TestACursorThatIsNeverValid(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	s.Expired = true
	var failed *source.SyncError
	if _, _, err := read(t, c, a, nil); !errors.As(err, &failed) || failed.Code != source.Refused {
		t.Errorf("got %v", err)
	}
}

// TestRepliesThatAreNoPageOfAHistoryRemoveNothing: a whole history is exact, so what it lacks would be removed.
func TestRepliesThatAreNoPageOfAHistoryRemoveNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no messages":   `{"ok":true}`,
		"null":          `{"ok":true,"messages":null,"response_metadata":{"next_cursor":""}}`,
		"more nowhere":  `{"ok":true,"messages":[],"has_more":true}`,
		"the same page": `{"ok":true,"messages":[],"has_more":true,"response_metadata":{"next_cursor":"2"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, a := workspace(t)
			s.Channels[ops].Member = true
			s.Before = func(n int, w http.ResponseWriter) bool {
				if n != 4 { // after what Slack says about the channel, the first page, and the users
					return false
				}
				_, _ = io.WriteString(w, body)
				return true
			}
			exact := false
			var failed *source.SyncError
			for page, err := range c.Read(t.Context(), a, ops, nil) {
				errors.As(err, &failed)
				exact = exact || page.Exact
			}
			if failed == nil || failed.Code != source.Unreadable || exact {
				t.Errorf("exact: %t, %v", exact, failed)
			}
		})
	}
}
