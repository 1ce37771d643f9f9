package app

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/access"
	"docent/shared/httpapi"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// ended is a caller who may no longer be answered after end.
type ended struct {
	end       func() error
	acting    string // for whom the key acts, if for anybody
	status    int
	code      string
	detail    string
	errorType string // of OpenAI's API
}

// endings makes callers of h, each with a key of its own.
func (h *home) endings(name string) ended {
	h.t.Helper()
	teams, ctx := h.services.teams, h.t.Context()
	bob, err := teamtest.CreateUser(ctx, teams, h.team.ID, "bob", team.RoleMember)
	if err != nil {
		h.t.Fatal(err)
	}
	var groups atomic.Pointer[[]access.Group] // a stream reads them while one leaves
	groups.Store(new([]access.Group))
	teams.Groups = func(context.Context, string, string) ([]access.Group, error) { return *groups.Load(), nil }
	key := func(k team.NewKey) team.APIKey {
		k.Name = "its"
		made, text, err := teams.CreateKey(ctx, h.team.ID, k)
		if err != nil {
			h.t.Fatal(err)
		}
		h.key = text
		return made
	}
	revoked := ended{status: 401, code: "unauthorized", detail: "The key of this request no longer works.", errorType: "authentication_error"}
	deactivate := func() error { return h.changeUser(bob.ID, `{"userName":"bob","active":false}`) }
	leave := func() error {
		groups.Store(new([]access.Group))
		return nil
	}
	left := ended{end: leave, status: 409, code: "access-changed", detail: "What you may read changed during the request. Send it again.", errorType: "invalid_request_error"}
	switch name {
	case "key revoked":
		made := key(team.NewKey{Kind: team.KindTeam})
		revoked.end = func() error { return teams.RevokeKey(ctx, h.team.ID, made.ID) }
		return revoked
	case "owner deactivated":
		key(team.NewKey{Kind: team.KindPersonal, UserID: bob.ID})
		revoked.end = deactivate
		return revoked
	case "person of a team key deactivated":
		key(team.NewKey{Kind: team.KindTeam, ActFor: true})
		return ended{deactivate, "bob", 403, "user-not-active", "The header Docent-User must name an active user of this team.", "permission_error"}
	case "owner left a group":
		groups.Store(&[]access.Group{{ID: "g", DisplayName: "Engineering"}})
		key(team.NewKey{Kind: team.KindPersonal, UserID: bob.ID})
		return left
	case "person of a team key left a group":
		groups.Store(&[]access.Group{{ID: "g", DisplayName: "Engineering"}})
		key(team.NewKey{Kind: team.KindTeam, ActFor: true})
		left.acting = "bob"
		return left
	default:
		h.t.Fatalf("unknown ending %s", name)
		return ended{}
	}
}

var endingNames = []string{"key revoked", "owner deactivated", "person of a team key deactivated", "owner left a group", "person of a team key left a group"}

func (e ended) header() []string {
	if e.acting == "" {
		return nil
	}
	return []string{"Docent-User", e.acting}
}

// watchedWriter calls sees with all that was written so far.
type watchedWriter struct {
	*httptest.ResponseRecorder
	sees func(text string)
}

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(text []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(text)
	w.sees(w.Body.String())
	return n, err
}

// TestAStreamEndsWithItsCaller: within the 10 s in which a revoked key dies everywhere, and the event says why.
func TestAStreamEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		method, path string
		body         any
		begun        string
	}{
		"answer":   {"GET", streamedID, nil, "answer.created"},
		"chat":     {"POST", "/chat/completions", chatRequest(true, "How tall is the zebra?"), `"role":"assistant"`},
		"response": {"POST", "/responses", asked("How tall is the zebra?", "stream", true), "response.in_progress"},
	} {
		for _, name := range endingNames {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				h := newHome(t, func(_ *home, b *base, _ *Parts) {
					b.wait = func(ctx context.Context) error {
						select {
						case <-ctx.Done():
							return ctx.Err()
						case <-time.After(50 * time.Millisecond):
							return nil
						}
					}
				})
				h.services.answering = nil // nobody answers
				h.handler = root(httpapi.New(h.services.surface("https://docent.test/v1", 0, nil), httpapi.Areas()...))
				e := h.endings(name)
				h.must(204, "PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, e.header()...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				body, err := json.Marshal(c.body)
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequestWithContext(ctx, c.method, "/v1"+c.path, strings.NewReader(string(body)))
				r.Header.Set("Authorization", "Bearer "+h.key)
				r.Header.Set("Accept", "text/event-stream")
				r.Header.Set("Content-Type", "application/json")
				if e.acting != "" {
					r.Header.Set("Docent-User", e.acting)
				}
				end := sync.OnceFunc(func() {
					if err := e.end(); err != nil {
						t.Error(err)
					}
				})
				last := "event: error\ndata: {\"status\":" // and the rest of the problem
				switch what {
				case "response":
					last = `data: {"type":"response.failed","sequence_number":2,`
				case "chat":
					last = `data: {"error":{"message":"` + e.detail + `","type":"` + e.errorType + `","param":null,"code":"` + e.code + `"}}`
				}
				w := &watchedWriter{httptest.NewRecorder(), func(text string) {
					switch {
					case strings.Contains(text, last):
						cancel()
					case strings.Contains(text, c.begun):
						end()
					}
				}}
				h.handler.ServeHTTP(w, r)
				if got := w.Body.String(); !strings.Contains(got, last) || !strings.Contains(got, `"code":"`+e.code+`"`) {
					t.Errorf("%d %s", w.Code, got)
				}
			})
		}
	}
}

// TestAReplyThatWaitedIsForWhoMayReadItNow: the caller is checked again before a reply that took long. A page that calls a tool
// may read the refusal as it may read the reply.
func TestAReplyThatWaitedIsForWhoMayReadItNow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		method, path string
		body         any
	}{
		"answer":   {"GET", streamedID, nil},
		"chat":     {"POST", "/chat/completions", chatRequest(false, "How tall is the zebra?")},
		"response": {"POST", "/responses", asked("How tall is the zebra?")},
		"tool": {"POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
			"params": map[string]any{"name": "ask", "arguments": map[string]any{"question": "How tall is the zebra?"}}}},
	} {
		for _, name := range endingNames {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				waits := 0
				var e ended
				h := newHome(t, func(h *home, b *base, _ *Parts) {
					b.wait = func(context.Context) error {
						waits++
						h.clock.Advance(time.Second)
						h.work()
						return e.end()
					}
				})
				surface := h.services.surface("https://docent.test/v1", 0, nil)
				surface.Answering = nil // the queue answers
				h.handler = root(httpapi.New(surface, httpapi.Areas()...))
				e = h.endings(name)
				h.must(204, "PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, e.header()...)
				header := append(e.header(), "Prefer", "wait=20", "Content-Type", "application/json", "Accept", "application/json, text/event-stream;q=0", "Origin", "https://docent.test")
				reply := h.must(e.status, c.method, c.path, c.body, header...)
				if waits != 1 || reply.text(t, "code") != e.code || reply.text(t, "detail") != e.detail {
					t.Errorf("%d waits, then %s", waits, reply.body)
				}
				wantMetadata := what == "tool" && e.status == 401
				if got := reply.header.Get("WWW-Authenticate"); (got != "") != (e.status == 401) || strings.Contains(got, "resource_metadata") != wantMetadata {
					t.Errorf("challenge %q", got)
				}
				allowed := reply.header.Get("Access-Control-Allow-Origin") == "https://docent.test" && reply.header.Get("Vary") == "Origin" &&
					strings.Contains(reply.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate")
				if allowed != (what == "tool") {
					t.Errorf("a page may read the reply: %t: %v", allowed, reply.header)
				}
			})
		}
	}
}

// TestAStreamThatWaitedIsForWhoMayReadItNow: the caller is checked again before the text of a stream, also between the checks of a
// quiet stream.
func TestAStreamThatWaitedIsForWhoMayReadItNow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		method, path string
		body         any
	}{
		"answer":   {"GET", streamedID, nil},
		"chat":     {"POST", "/chat/completions", chatRequest(true, "How tall is the zebra?")},
		"response": {"POST", "/responses", asked("How tall is the zebra?", "stream", true)},
	} {
		for _, name := range endingNames {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var e ended
					h := newHome(t, func(h *home, b *base, _ *Parts) {
						b.wait = func(context.Context) error {
							time.Sleep(3 * time.Second) // of the bubble; a quiet stream is checked after 1 and 6
							h.work()
							return e.end()
						}
					})
					surface := h.services.surface("https://docent.test/v1", 0, nil)
					surface.Answering = nil // the queue answers
					h.handler = root(httpapi.New(surface, httpapi.Areas()...))
					h.put(h.collection("wiki"), "https://wiki.test/zebra", "The zebra is 7 metres tall.")
					h.work()
					e = h.endings(name)
					h.must(204, "PUT", streamedID, map[string]string{"question": "How tall is the zebra?"}, e.header()...)
					reply := h.must(200, c.method, c.path, c.body, append(e.header(), "Content-Type", "application/json", "Accept", "text/event-stream")...)
					if got := string(reply.body); strings.Contains(got, "metres") || !strings.Contains(got, `"code":"`+e.code+`"`) {
						t.Error(got)
					}
				})
			})
		}
	}
}

// TestAReplyOutlivesItsKey: whose key expires while the question is answered gets the answer, and nothing after it.
func TestAReplyOutlivesItsKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		body any
	}{
		"chat":     {"/chat/completions", chatRequest(false, "How tall is the zebra?")},
		"response": {"/responses", asked("How tall is the zebra?")},
		"tool": {"/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
			"params": map[string]any{"name": "ask", "arguments": map[string]any{"question": "How tall is the zebra?"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, func(h *home, b *base, _ *Parts) {
				b.wait = func(context.Context) error {
					h.clock.Advance(2 * time.Second)
					h.work()
					return nil
				}
			})
			surface := h.services.surface("https://docent.test/v1", 0, nil)
			surface.Answering = nil // the queue answers
			h.handler = root(httpapi.New(surface, httpapi.Areas()...))
			end := h.clock.Now().Add(time.Second)
			_, text, err := h.services.teams.CreateKey(t.Context(), h.team.ID, team.NewKey{Kind: team.KindTeam, Name: "its", ExpiresAt: &end})
			if err != nil {
				t.Fatal(err)
			}
			h.key = text
			header := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream;q=0"}
			h.must(200, "POST", c.path, c.body, header...)
			h.must(401, "POST", c.path, c.body, header...)
		})
	}
}
