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
	"docent/shared/team"
	"docent/shared/team/teamtest"
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

// TestAChangeAfterASlowBodyIsByWhoMayMakeItNow: the caller is checked before the body is read, which a client can make last for
// minutes. An admin who was dismissed in the meantime must not make a key that stays.
func TestAChangeAfterASlowBodyIsByWhoMayMakeItNow(t *testing.T) {
	t.Parallel()
	const settings, content = true, false
	changes := map[string]struct {
		method, path, media string
		body                func(h *home) string
		of                  bool // settings: only admins may
	}{
		"key":  {"POST", "/api-keys", "application/json", func(*home) string { return `{"kind":"team","name":"back door"}` }, settings},
		"SAML": {"PUT", "/team/saml-metadata", "application/xml", func(h *home) string { return string(samlText(h.t, "sso")) }, settings},
		"SCIM": {"POST", "/scim/v2/Users", "application/scim+json", func(*home) string { return `{"userName":"eve"}` }, settings},
		"document": {"PUT", "/documents", "application/json", func(h *home) string {
			return `{"collectionId":"` + h.collection("wiki") + `","uri":"https://wiki.test/zebra","title":"Zebra","body":"It is 7 metres tall."}`
		}, content},
		"tool": {"POST", "/mcp", "application/json", func(*home) string { return `{"jsonrpc":"2.0","id":1,"method":"ping"}` }, content},
	}
	endings := map[string]struct {
		end    func(h *home, made team.APIKey) error
		status map[bool]int // 0: it succeeds
	}{
		"key revoked": {func(h *home, k team.APIKey) error { return h.services.teams.RevokeKey(h.t.Context(), h.team.ID, k.ID) }, map[bool]int{settings: 401, content: 401}},
		"owner deactivated": {func(h *home, k team.APIKey) error {
			return h.changeUser(*k.UserID, `{"userName":"bob","active":false}`)
		}, map[bool]int{settings: 401, content: 401}},
		"owner no admin": {func(h *home, k team.APIKey) error { return h.changeUser(*k.UserID, `{"userName":"bob"}`) }, map[bool]int{settings: 403}},
		"nothing":        {func(*home, team.APIKey) error { return nil }, nil},
	}
	for what, c := range changes {
		for name, e := range endings {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHome(t)
					h.asSCIM("GET", "/Users", nil) // sets SAML metadata, without which there is no SCIM
					bob, err := teamtest.CreateUser(t.Context(), h.services.teams, h.team.ID, "bob", team.RoleAdmin)
					if err != nil {
						t.Fatal(err)
					}
					made, text, err := h.services.teams.CreateKey(t.Context(), h.team.ID, team.NewKey{Kind: team.KindPersonal, UserID: bob.ID, Name: "his"})
					if err != nil {
						t.Fatal(err)
					}
					body := &lateReader{strings.NewReader(c.body(h)), func() {
						time.Sleep(15 * time.Second) // of the bubble
						if err := e.end(h, made); err != nil {
							t.Error(err)
						}
					}}
					r := httptest.NewRequestWithContext(t.Context(), c.method, "/v1"+c.path, body)
					r.Header.Set("Authorization", "Bearer "+text)
					r.Header.Set("Content-Type", c.media)
					w := httptest.NewRecorder()
					h.handler.ServeHTTP(w, r)
					if want := e.status[c.of]; want == 0 && w.Code >= 300 || want != 0 && w.Code != want {
						t.Errorf("%d %s, want %d", w.Code, w.Body, want)
					}
					where := w.Header().Get("WWW-Authenticate")
					if (where != "") != (w.Code == 401) || strings.Contains(where, "resource_metadata") != (w.Code == 401 && what == "tool") {
						t.Errorf("%d, WWW-Authenticate %q", w.Code, where)
					}
				})
			})
		}
	}
}

// changeUser replaces the attributes of a user.
func (h *home) changeUser(id, attributes string) error {
	before, err := h.services.teams.Profile(h.t.Context(), h.team.ID, id)
	if err != nil {
		return err
	}
	after, err := h.services.teams.Changed(before, []byte(attributes))
	if err != nil {
		return err
	}
	return h.services.teams.ReplaceProfile(h.t.Context(), h.team.ID, before, after)
}

// TestAChangeAfterASlowBodyIsByTheRightsOfNow: who left a group in the meantime changes no document that only the group reads.
func TestAChangeAfterASlowBodyIsByTheRightsOfNow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"owner left a group": 404, "person of a team key left a group": 404, "nothing": 200} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHome(t)
				kind := name
				if name == "nothing" {
					kind = "owner left a group"
				}
				teams := h.key
				e := h.endings(kind)
				his := h.key
				h.key = teams
				const uri = "https://wiki.test/zebra"
				h.must(200, "PUT", "/documents", map[string]any{"collectionId": h.collection("wiki"), "uri": uri, "title": "Zebra", "body": "It is 7 metres tall.",
					"access": map[string]any{"groups": []string{"Engineering"}}})
				h.key = his
				body := &lateReader{strings.NewReader(`{"access":null}`), func() {
					time.Sleep(4 * time.Second) // of the bubble
					if name == "nothing" {
						return
					}
					if err := e.end(); err != nil {
						t.Error(err)
					}
				}}
				if reply := h.streamed("PATCH", "/documents/"+h.id(uri), body, e); strings.Contains(reply, `"status":404`) != (want == 404) {
					t.Errorf("%s, want %d", reply, want)
				}
			})
		})
	}
}
