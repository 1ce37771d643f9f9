// Package atlassiantest has what tests of the connectors of Confluence and Jira share:
// the front of a server that behaves like theirs, and a team whose data source is synced
// from it.
package atlassiantest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The account whose token the server accepts.
const (
	Email = "reader@acme.example"
	Token = "recorded-token"
)

// Server is the front of a provider. It uses https with the certificate of httptest. It
// checks the credentials, counts the requests, and lets a test reply in its place.
type Server struct {
	*httptest.Server
	Cloud    bool
	Mu       sync.Mutex // held while a request is answered
	requests []string
	before   func(path string, w http.ResponseWriter) (answered bool)
}

// New starts a server whose other replies come from h. It stops at the end of the test.
func New(t testing.TB, cloud bool, h http.Handler) *Server {
	t.Helper()
	s := &Server{Cloud: cloud}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		s.requests = append(s.requests, r.URL.RequestURI())
		if s.before != nil && s.before(r.URL.RequestURI(), w) {
			return
		}
		want := "Bearer " + Token
		if cloud {
			want = "Basic " + base64.StdEncoding.EncodeToString([]byte(Email+":"+Token))
		}
		if r.Header.Get("Authorization") != want {
			Refuse(w, http.StatusUnauthorized, "Client must be authenticated to access this resource.")
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Before sets a function that is called before each reply and may reply itself; nil:
// none. It may change what the server has, but must not call its methods.
func (s *Server) Before(f func(path string, w http.ResponseWriter) (answered bool)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.before = f
}

// Requests returns the requests since the last call.
func (s *Server) Requests() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// Answer replies with v.
func Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_ = json.NewEncoder(w).Encode(v)
}

// Refuse replies with an error.
func Refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"statusCode": status, "message": message})
}

// Expanded reports whether a request asks for an expansion.
func Expanded(r *http.Request, name string) bool {
	for one := range strings.SplitSeq(r.URL.Query().Get("expand"), ",") {
		if one == name || strings.HasPrefix(one, name+".") {
			return true
		}
	}
	return false
}
