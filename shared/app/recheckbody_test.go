package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/table"
)

// lateReader calls before, once, before it is read.
type lateReader struct {
	io.Reader
	before func()
}

// Read implements io.Reader.
func (r *lateReader) Read(p []byte) (int, error) {
	if r.before != nil {
		r.before()
		r.before = nil
	}
	return r.Reader.Read(p)
}

// TestAStreamAfterASlowBodyIsForWhoMayReadItNow: the caller is checked before the body is read, and again before text is sent, however
// young the stream is.
func TestAStreamAfterASlowBodyIsForWhoMayReadItNow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		method, path string
		body         any
	}{
		"question": {"PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}},
		"chat":     {"POST", "/chat/completions", chatRequest(true, "How tall is the zebra?")},
		"response": {"POST", "/responses", asked("How tall is the zebra?", "stream", true)},
		"research": {"POST", "/context/research", map[string]string{"query": "How tall is the zebra?"}},
	} {
		for _, name := range endingNames {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHome(t)
					h.put(h.collection("wiki"), "https://wiki.test/zebra", "The zebra is 7 metres tall.")
					h.work()
					e := h.endings(name)
					text, err := json.Marshal(c.body)
					if err != nil {
						t.Fatal(err)
					}
					body := &lateReader{strings.NewReader(string(text)), func() {
						time.Sleep(4 * time.Second) // of the bubble
						if err := e.end(); err != nil {
							t.Error(err)
						}
					}}
					reply := h.streamed(c.method, c.path, body, e)
					if strings.Contains(reply, "metres") || !strings.Contains(reply, `"code":"`+e.code+`"`) {
						t.Error(reply)
					}
				})
			})
		}
	}
}

// lateTable calls after after each Get.
type lateTable struct {
	table.Store
	after func()
}

// Get implements table.Store.
func (l *lateTable) Get(ctx context.Context, key table.Key, opts ...table.ReadOption) (table.Item, error) {
	defer l.after()
	return l.Store.Get(ctx, key, opts...)
}

// TestTheStreamOfAFinishedAnswerIsForWhoMayReadItNow: also if its text is sent as soon as the stream is open.
func TestTheStreamOfAFinishedAnswerIsForWhoMayReadItNow(t *testing.T) {
	t.Parallel()
	for _, name := range endingNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHome(t)
				h.put(h.collection("wiki"), "https://wiki.test/zebra", "The zebra is 7 metres tall.")
				h.work()
				e := h.endings(name)
				h.must(204, "PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, e.header()...)
				h.work()
				h.services.answers.Table = &lateTable{h.services.answers.Table, sync.OnceFunc(func() {
					time.Sleep(4 * time.Second) // of the bubble
					if err := e.end(); err != nil {
						t.Error(err)
					}
				})}
				reply := h.streamed("GET", streamedID, http.NoBody, e)
				if strings.Contains(reply, "metres") || !strings.Contains(reply, `"code":"`+e.code+`"`) {
					t.Error(reply)
				}
			})
		})
	}
}

// streamed returns the stream that replies to the caller e.
func (h *home) streamed(method, path string, body io.Reader, e ended) string {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, "/v1"+path, body)
	r.Header.Set("Authorization", "Bearer "+h.key)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if e.acting != "" {
		r.Header.Set("Docent-User", e.acting)
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Body.String()
}
