package scim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/scim"
	"docent/shared/scim/scimtest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

const base = "https://docent.test/v1"

// server is a SCIM server with its own store and a team that may use it.
type server struct {
	testing.TB
	*scim.Service
	http.Handler
	team team.Team
	boss team.User // the first admin
	key  string    // scim
	now  *clocktest.Clock
}

func newServer(t testing.TB) *server { return newServerOn(t, nil) }

// newServerOn is newServer with a store that wrap makes from the real one.
func newServerOn(t testing.TB, wrap func(table.Store) table.Store) *server {
	t.Helper()
	c := clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	var store table.Store = bolttest.OpenAt(t, c.Now)
	if wrap != nil {
		store = wrap(store)
	}
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	teams := &team.Service{Table: store, Now: c.Now, NewID: newID}
	s := &server{TB: t, now: c, Service: &scim.Service{Table: store, Teams: teams, Now: c.Now, NewID: newID, BaseURL: base}}
	s.Handler = s.guarded()
	s.team, s.boss = s.newTeam("acme")
	s.key = s.newKey(s.team.ID, team.KindSCIM, "")
	return s
}

func (s *server) newTeam(name string) (team.Team, team.User) {
	s.Helper()
	made, boss, err := s.Teams.CreateTeam(s.Context(), name, "boss@"+name+".test")
	if err == nil {
		_, err = s.Teams.SetSAML(s.Context(), made.ID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata))
	}
	if err != nil {
		s.Fatal(err)
	}
	return made, boss
}

func (s *server) newKey(teamID string, kind team.Kind, userID string) string {
	s.Helper()
	_, key, err := s.Teams.CreateKey(s.Context(), teamID, team.NewKey{Kind: kind, Name: "key", UserID: userID})
	if err != nil {
		s.Fatal(err)
	}
	return key
}

// guarded authenticates requests as httpapi does.
func (s *server) guarded() http.Handler {
	h := scim.Handler{Service: s.Service, Classify: func(_ context.Context, err error) (int, string, http.Header) {
		var e *apierr.Error
		if errors.As(err, &e) {
			return e.Kind.Status(), e.Detail, http.Header{}
		}
		if errors.Is(err, table.ErrConflict) {
			return 503, "Try again.", http.Header{"Retry-After": {"1"}}
		}
		s.Errorf("internal: %v", err)
		return 500, "internal", http.Header{}
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := s.Teams.Authenticate(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		h.ServeHTTP(w, r.WithContext(team.WithPrincipal(r.Context(), a.Principal)))
	})
}

// reply is a reply, its body decoded if it is JSON.
type reply struct {
	*http.Response
	text string
	body map[string]any
}

// do makes a request; headers are pairs of name and value.
func (s *server) do(method, path, body string, headers ...string) reply {
	s.Helper()
	return s.as(s.key, method, path, body, headers...)
}

func (s *server) as(key, method, path, body string, headers ...string) reply {
	s.Helper()
	return s.send(s.Context(), key, method, path, body, headers...)
}

// within is do with a context.
func (s *server) within(ctx context.Context, method, path string, body ...string) reply {
	s.Helper()
	return s.send(ctx, s.key, method, path, strings.Join(body, ""))
}

func (s *server) send(ctx context.Context, key, method, path, body string, headers ...string) reply {
	s.Helper()
	r := httptest.NewRequestWithContext(ctx, method, "https://docent.test"+scim.Prefix+strings.NewReplacer(" ", "%20", `"`, "%22", "[", "%5B", "]", "%5D", "ü", "%C3%BC").Replace(path), bytes.NewReader([]byte(body)))
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/scim+json")
	}
	r.Header.Set("Accept", "application/scim+json")
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Del(headers[i]); headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		s.Fatal(err)
	}
	out := reply{Response: w.Result(), text: string(text)}
	if strings.HasSuffix(out.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, &out.body); err != nil {
			s.Fatalf("%s: %v", text, err)
		}
	}
	return out
}

// must is do, and fails unless the reply has the status.
func (s *server) must(status int, method, path, body string, headers ...string) reply {
	s.Helper()
	r := s.do(method, path, body, headers...)
	if r.StatusCode != status {
		s.Fatalf("%s %s: %d, want %d: %s", method, path, r.StatusCode, status, r.text)
	}
	return r
}

func (r reply) string(name string) string {
	text, _ := r.body[name].(string)
	return text
}

// user creates a user and returns its id.
func (s *server) user(name string) string {
	s.Helper()
	return s.must(201, "POST", "/Users", `{"userName":"`+name+`"}`).string("id")
}

func TestFixtures(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", s))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	scimtest.Run(t, web.Client(), web.URL+"/v1/scim/v2", s.key)
}
