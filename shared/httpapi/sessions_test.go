package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
	"docent/shared/team"
)

// signIn opens a session by a link and returns its cookie.
func (a *api) signIn(x tenant) *http.Cookie {
	a.t.Helper()
	code, _, err := a.local.Teams.Invite(a.t.Context(), x.ID, x.admin.ID)
	if err != nil {
		a.t.Fatal(err)
	}
	r := a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(a.t, 201)
	cookies := r.Cookies()
	if len(cookies) != 1 || r.text(a.t, "signIn") != "link" {
		a.t.Fatalf("cookies %v, body %s", cookies, r.body)
	}
	return cookies[0]
}

// by returns the headers of a request of the dashboard's own pages.
func by(c *http.Cookie) map[string]string {
	return map[string]string{"Cookie": c.Name + "=" + c.Value, "Sec-Fetch-Site": "same-origin"}
}

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	c := a.signIn(x)
	if c.Name != "__Host-docent" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 12*3600 {
		t.Errorf("cookie %s", c)
	}
	me := a.do(call{"GET", "/me", "", nil, by(c)}).want(t, 200)
	if me.text(t, "key.kind") != "session" || me.text(t, "user.role") != "admin" {
		t.Errorf("me %s", me.body)
	}
	a.do(call{"POST", "/api-keys", "", map[string]any{"kind": "team", "name": "made in the browser"}, by(c)}).want(t, 201)
	a.do(call{"GET", "/usage/quotas", "", nil, by(c)}).want(t, 200)
	a.do(call{"GET", "/data-sources", "", nil, by(c)}).want(t, 200)
	bucket := a.do(call{"GET", "/usage?start=2026-11-21&groupBy=client", "", nil, by(c)}).want(t, 200)
	if !strings.Contains(string(bucket.body), `"client":"dashboard"`) {
		t.Errorf("usage %s", bucket.body)
	}
	events := a.do(call{"GET", "/security-events", "", nil, by(c)}).want(t, 200)
	for _, want := range []string{`"session.created"`, `"credential":{"type":"session"`} {
		if !strings.Contains(string(events.body), want) {
			t.Errorf("the feed lacks %s: %s", want, events.body)
		}
	}
}

// TestSessionCountsOnlyForTheDashboardsPages lists what another site, or a key beside the
// cookie, could send.
func TestSessionCountsOnlyForTheDashboardsPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	c := a.signIn(x)
	cookie := c.Name + "=" + c.Value
	for name, header := range map[string]map[string]string{
		"another site":              {"Cookie": cookie, "Sec-Fetch-Site": "cross-site"},
		"a subdomain":               {"Cookie": cookie, "Sec-Fetch-Site": "same-site"},
		"typed":                     {"Cookie": cookie, "Sec-Fetch-Site": "none"},
		"no browser":                {"Cookie": cookie},
		"as an API key":             {"Authorization": "Bearer " + c.Value},
		"beside a wrong key":        {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Authorization": "Bearer nonsense"},
		"beside another scheme":     {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Authorization": "Basic YTpi"},
		"the name without a prefix": {"Cookie": "docent=" + c.Value, "Sec-Fetch-Site": "same-origin"},
		"a key in the cookie":       {"Cookie": c.Name + "=" + x.pat, "Sec-Fetch-Site": "same-origin"},
		"an empty cookie":           {"Cookie": c.Name + "=", "Sec-Fetch-Site": "same-origin"},
	} {
		for _, method := range []string{"GET", "DELETE"} {
			a.do(call{method, "/sessions", "", nil, header}).wantCode(t, 401, "unauthorized")
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
	a.do(call{"GET", "/sessions", "", nil, by(c)}).want(t, 200)
	got := a.do(call{"GET", "/me", x.pat, nil, by(c)}).want(t, 200)
	if got.text(t, "key.kind") != "personal" {
		t.Errorf("a key beside the cookie: %s", got.body)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	same := map[string]string{"Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
	for _, c := range []struct {
		name   string
		body   map[string]any
		header map[string]string
		status int
		code   string
	}{
		{"nothing", map[string]any{}, same, 400, "invalid-request"},
		{"an unknown code", map[string]any{"credential": team.NewCode()}, same, 401, "link-expired"},
		{"no key", map[string]any{"credential": "docent_pat_x"}, same, 401, "unauthorized"},
		{"a password", map[string]any{"credential": "password"}, same, 401, "link-expired"},
		{"a team key", map[string]any{"credential": x.key}, same, 403, "wrong-key-kind"},
		{"a SCIM key", map[string]any{"credential": x.scim}, same, 403, "wrong-key-kind"},
		{"another site", map[string]any{"credential": x.pat}, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "cross-origin"},
	} {
		r := a.do(call{"POST", "/sessions", "", c.body, c.header})
		if r.StatusCode != c.status || r.text(t, "code") != c.code || r.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, r.body)
		}
	}
	r := a.do(call{"POST", "/sessions", "", map[string]any{"credential": " " + x.pat + "\n"}, same}).want(t, 201)
	if r.text(t, "signIn") != "key" || r.text(t, "name") != "Firefox on Linux" || strings.Contains(string(r.body), "docent_session") {
		t.Errorf("session %s", r.body)
	}
	events := a.do(call{"GET", "/security-events?eventType=session.created", x.key, nil, nil}).want(t, 200)
	if !strings.Contains(string(events.body), x.admin.ID) {
		t.Errorf("the sign-in in the feed: %s", events.body)
	}
}

// TestSigningInUsesTheKey, so that a key with which its owner signs in every day does not count as unused.
func TestSigningInUsesTheKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	made := a.do(call{"POST", "/api-keys", x.pat, map[string]any{"kind": "personal", "name": "laptop", "userId": x.admin.ID}, nil}).want(t, 201)
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": made.text(t, "secret")}, map[string]string{"Sec-Fetch-Site": "same-origin"}}).want(t, 201)
	list := a.do(call{"GET", "/api-keys", x.pat, nil, nil}).want(t, 200)
	_, laptop, _ := strings.Cut(string(list.body), made.text(t, "id"))
	if laptop, _, _ = strings.Cut(laptop, "}"); !strings.Contains(laptop, `"lastUsedAt":"2026-11-21T12:00:00.000Z"`) {
		t.Errorf("after a sign-in the key is %s", laptop)
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	here, there := a.signIn(x), a.signIn(x)
	var listed []struct {
		ID      string
		Current bool
	}
	a.do(call{"GET", "/sessions", "", nil, by(here)}).want(t, 200).json(t, &listed)
	if len(listed) != 2 || listed[0].Current == listed[1].Current {
		t.Fatalf("%+v", listed)
	}
	out := a.do(call{"DELETE", "/sessions/current", "", nil, by(here)}).want(t, 204)
	if c := out.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 || c[0].Value != "" {
		t.Errorf("cookies after signing out: %v", c)
	}
	a.do(call{"GET", "/me", "", nil, by(here)}).want(t, 401)
	a.do(call{"DELETE", "/sessions/0123456789abcdef", "", nil, by(there)}).want(t, 404)
	a.do(call{"DELETE", "/sessions", x.key, nil, nil}).wantCode(t, 403, "wrong-key-kind")
	a.do(call{"DELETE", "/sessions", x.pat, nil, nil}).want(t, 204)
	a.do(call{"GET", "/me", "", nil, by(there)}).want(t, 401)
}

// TestAnEndedSessionIsRefusedAsASession: the event names the session, as that of its end does, not an API key.
func TestAnEndedSessionIsRefusedAsASession(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	cookie := a.signIn(x)
	a.do(call{"DELETE", "/sessions/current", "", nil, by(cookie)}).want(t, 204)
	a.do(call{"GET", "/me", "", nil, by(cookie)}).want(t, 401)
	ended, refused := a.feed(x.key, "&eventType=session.ended").Events, a.feed(x.key, "&eventType=auth.key.rejected").Events
	if len(ended) != 1 || len(refused) != 1 {
		t.Fatalf("%+v, %+v", ended, refused)
	}
	if got := refused[0]; got.Targets[0] != ended[0].Targets[0] || got.Targets[0].Type != "session" || got.Description != `The session "Browser" was refused (revoked)` {
		t.Errorf("%+v, after %+v", got, ended[0])
	}
}

// TestPlainHTTP signs in on the machine itself only, whatever name it is reached by.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	for _, c := range []struct {
		base, host string
		want       int
	}{
		{"http://127.0.0.1:8080/v1", "127.0.0.1:8080", 201},
		{"http://127.0.0.1:8080/v1", "localhost:9000", 201}, // a tunnel, or a port of a container
		{"http://localhost:8080/v1", "localhost", 201},
		{"http://[::1]:8080/v1", "[::1]:8080", 201},
		{"http://127.0.0.1:8080/v1", "10.0.0.7:8080", 403},
		{"http://127.0.0.1:8080/v1", "evil.test:8080", 403},
		{"http://10.0.0.7:8080/v1", "10.0.0.7:8080", 403},
		{"http://10.0.0.7:8080/v1", "127.0.0.1:8080", 403},
		{"http://docent.example/v1", "docent.example", 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/sessions", strings.NewReader(`{"credential":"`+x.pat+`"}`))
		r.Host = c.host
		w := httptest.NewRecorder()
		a.local.Handler(c.base).ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		if w.Code != c.want || c.want == 201 && (len(cookies) != 1 || cookies[0].Name != "docent-8080" || cookies[0].Secure || !cookies[0].HttpOnly) {
			t.Errorf("%s at %s: %d %s, cookies %v, want %d", c.base, c.host, w.Code, w.Body, cookies, c.want)
		}
		if c.want != 201 {
			continue
		}
		for host, want := range map[string]int{c.host: 200, "10.0.0.7:8080": 401} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/me", nil)
			r.Host = host
			r.AddCookie(cookies[0])
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			w := httptest.NewRecorder()
			if a.local.Handler(c.base).ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s at %s with the cookie: %d %s, want %d", c.base, host, w.Code, w.Body, want)
			}
		}
	}
}

func TestLinkOfTheOperator(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	same := map[string]string{"Sec-Fetch-Site": "same-origin"}
	invite := func(i team.Invitation) string {
		i.ExpiresAt = a.clock.Now().Add(time.Minute)
		code, err := app.Invite(a.dataDir, i)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	code := invite(team.Invitation{})
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).wantCode(t, 401, "link-expired") // there is no team
	x := a.newTenant("acme")
	code = invite(team.Invitation{})
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).want(t, 201)
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).wantCode(t, 401, "link-expired")
	code = invite(team.Invitation{TeamID: x.ID})
	a.clock.Advance(time.Minute)
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).wantCode(t, 401, "link-expired")
	a.newTenant("rival")
	code = invite(team.Invitation{})
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).wantCode(t, 401, "link-expired") // for which team?
	code = invite(team.Invitation{TeamID: x.ID})
	a.do(call{"POST", "/sessions", "", map[string]any{"credential": code}, same}).want(t, 201)
}

func TestOperationsOnSessionsRequireAKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, c := range []call{{"GET", "/sessions", "", nil, nil}, {"DELETE", "/sessions", "", nil, nil}, {"DELETE", "/sessions/current", "", nil, nil}} {
		a.do(c).wantCode(t, 401, "unauthorized")
	}
}
