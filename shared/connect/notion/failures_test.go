package notion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/connect/notion/notiontest"
	"docent/shared/source"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, header string
		status       int
		code, detail string
		retryAt      time.Time
		skipped      bool // only the page is left out
	}{
		{"a rate limit", "60", 429, source.RateLimited, "Notion allows no more requests before 2026-11-21T12:01:00Z", now.Add(time.Minute), false},
		{"a conflict", "", 409, source.Unreadable, `the page "Page 40" (`, time.Time{}, false},
		{"500", "", 500, source.Unreadable, "Notion failed with status 500", time.Time{}, false},
		{"503", "", 503, source.Unreadable, "Notion failed with status 503", time.Time{}, false},
		{"a missing capability", "", 403, source.Unauthorized, "lacks the capability to read content", time.Time{}, false},
		{"a page that Notion does not render", "", 400, "", "", time.Time{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			for n := range 40 {
				r.server.Put(notiontest.NewPage(n+1, fmt.Sprintf("Page %d", n+1)))
			}
			failing := func(path string, w http.ResponseWriter) bool {
				if !strings.Contains(path, strings.ReplaceAll(notiontest.ID(10), "-", "")) && !strings.Contains(path, notiontest.ID(10)) {
					return false
				}
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(tt.status)
				return true
			}
			r.server.Before(failing)
			items, unread, _, end, err := r.all(nil, nil)
			var failed *source.SyncError
			if tt.skipped {
				if err != nil || len(items) != 39 || len(unread) != 1 {
					t.Fatalf("%d items, %v", len(items), err)
				}
				return
			}
			detail := strings.Replace(tt.detail, "Page 40", "Page 10", 1)
			if !errors.As(err, &failed) || failed.Code != tt.code || !strings.Contains(failed.Detail, detail) || !failed.RetryAt.Equal(tt.retryAt) || strings.Contains(err.Error(), notiontest.Token) {
				t.Fatalf("got %v", err)
			}
			want := 25 // a page of texts was read
			if tt.code == source.Unreadable {
				want = 30 // and what was read before the one that failed
			}
			if len(items) != want {
				t.Errorf("%d items", len(items))
			}
			r.server.Before(nil)
			if titles, _, _, _ := r.must(end.Checkpoint, nil); len(titles) != 40-want {
				t.Errorf("the rest is %q", titles)
			}
		})
	}
}

// TestAPageThatKeepsFailingDoesNotHoldUpOthers: it is tried twice, and then once by each sync until it can be read.
func TestAPageThatKeepsFailingDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	r := read(t, notiontest.NewPage(1, "First"), notiontest.NewPage(2, "Broken"), notiontest.NewPage(3, "Last"))
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.HasSuffix(path, "/markdown") && strings.Contains(path, notiontest.ID(2)) {
			w.WriteHeader(http.StatusGatewayTimeout)
			return true
		}
		return false
	})
	items, _, _, end, err := r.all(nil, nil)
	if err == nil || len(items) != 1 || items[0].Title != "Last" {
		t.Fatalf("%+v, %v", items, err)
	}
	for range 2 {
		want := []string{"First"}
		titles, unread, _, last := r.must(end.Checkpoint, nil)
		if end.Last {
			want = nil
		}
		if end = last; !slices.Equal(titles, want) || !slices.Equal(unread, []string{uri(2)}) {
			t.Errorf("read %q, unread %q", titles, unread)
		}
		r.now = r.now.Add(15 * time.Minute)
	}
	r.server.Before(nil)
	if titles, _, _, _ := r.must(end.Checkpoint, nil); !slices.Equal(titles, []string{"Broken"}) {
		t.Errorf("in the end %q", titles)
	}
}

// transport replies by a handler of this process, but never to requests whose path contains one of the texts in hangs.
type transport struct {
	handler http.Handler
	hangs   []string
}

func (h transport) RoundTrip(q *http.Request) (*http.Response, error) {
	if slices.ContainsFunc(h.hangs, func(text string) bool { return strings.Contains(q.URL.Path, text) }) {
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, q)
	return w.Result(), nil
}

// TestPagesThatAreNeverReturnedHoldUpNoOther: a run of a sync lasts four minutes, and each gets further.
func TestPagesThatAreNeverReturnedHoldUpNoOther(t *testing.T) {
	t.Parallel()
	r := read(t)
	var hangs []string
	for n := range 8 {
		r.server.Put(notiontest.NewPage(n+1, fmt.Sprint("Page ", n+1)))
		if n%2 > 0 {
			hangs = append(hangs, notiontest.ID(n+1))
		}
	}
	handler := r.server.Config.Handler
	synctest.Test(t, func(t *testing.T) {
		r.c.HTTP = &http.Client{Transport: transport{handler, hangs}}
		read := map[string]bool{}
		var at []byte
		syncs := 0
		for runs := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			var err error
			last := false
			for page, failed := range r.c.Read(ctx, r.access(nil), "pages", at) {
				if err = failed; err != nil {
					break
				}
				for _, i := range page.Items {
					read[i.Title] = true
				}
				if at, last = page.Checkpoint, page.Last; time.Until(deadlineOf(ctx)) < 10*time.Second {
					break
				}
			}
			cancel()
			if !last {
				continue
			}
			if syncs++; syncs == 1 && runs > 10 {
				t.Errorf("the first sync took %d runs", runs+1)
			}
			if syncs == 3 { // later ones get through as well
				break
			}
		}
		if len(read) != 4 || syncs != 3 {
			t.Errorf("%d syncs read %v", syncs, read)
		}
	})
}

func deadlineOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Deadline()
	return deadline
}

// TestAnExpiredCursor: the list begins again, and what the reading has read is not read again.
func TestAnExpiredCursor(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"a full scan": true, "changes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			var checkpoint []byte
			if !full {
				_, _, _, end := r.must(nil, nil)
				checkpoint = end.Checkpoint
			}
			for n := range 350 {
				o := notiontest.NewPage(n+1, fmt.Sprintf("Page %03d", n+1))
				if !full {
					o.Edited = r.now.Add(time.Duration(n) * time.Minute)
				}
				r.server.Put(o)
			}
			r.now = r.now.Add(24 * time.Hour)
			got := map[string]int{}
			pages := 0
			for page, err := range r.c.Read(t.Context(), r.access(nil), "pages", checkpoint) {
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range page.Items {
					got[i.Title]++
					r.stored[i.URI] = true
				}
				if pages++; pages == 6 || pages == 30 { // in the second list, and in the third one
					r.server.EndCursors()
				}
				checkpoint = page.Checkpoint
			}
			twice := 0
			for _, n := range got {
				twice += n - 1
			}
			if len(got) != 350 || twice > 2 { // those with the time of the last ones
				t.Errorf("read %d, %d again", len(got), twice)
			}
			if titles, _, _, _ := r.must(checkpoint, nil); full && len(titles) > 0 {
				t.Errorf("the next sync read %q", titles)
			}
		})
	}
}

// TestACursorThatIsNeverAccepted does not begin the list for ever.
func TestACursorThatIsNeverAccepted(t *testing.T) {
	t.Parallel()
	r := read(t)
	for n := range 150 {
		r.server.Put(notiontest.NewPage(n+1, "Page"))
	}
	var checkpoint []byte
	for range 2 { // a sync, and the next one
		items := 0
		var err error
		for page, failed := range r.c.Read(t.Context(), r.access(nil), "pages", checkpoint) {
			if err = failed; err != nil {
				break
			}
			for _, i := range page.Items {
				r.stored[i.URI] = true
			}
			items += len(page.Items)
			checkpoint = page.Checkpoint
			r.server.EndCursors()
		}
		var refused *source.SyncError
		if !errors.As(err, &refused) || refused.Code != source.Unreadable || !strings.Contains(refused.Detail, "cursor") || items > 101 {
			t.Errorf("%d items, %v", items, err)
		}
	}
}

func TestAListOfMoreThanWasAskedForIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"results": make([]struct{}, 101)})
	}))
	t.Cleanup(server.Close)
	r := read(t)
	r.c.Base, r.c.HTTP = server.URL+"/", server.Client()
	var failed *source.SyncError
	if _, _, _, _, err := r.all(nil, nil); !errors.As(err, &failed) || failed.Code != source.Unreadable || !strings.Contains(failed.Detail, "101 entries") {
		t.Error(err)
	}
}
