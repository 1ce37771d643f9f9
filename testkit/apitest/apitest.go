// Package apitest is an in-memory server that implements the HTTP contract as far as the package client uses it, for
// tests of the client and of the command line.
package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Key is the only key that the server accepts.
const Key = "docent_team_test"

// Server is the API of one team.
type Server struct {
	URL string // ends in /v1

	// Refuse, if set, may answer a request itself; then it returns true. It is called for every request,
	// concurrently.
	Refuse func(w http.ResponseWriter, r *http.Request) bool
	// PageSize caps limit, so that a few items fill several pages. 0: 200.
	PageSize int
	// Polls is how often a poll finds an answer still processing.
	Polls int
	// Failed makes answers end as failed.
	Failed bool
	// Events is the reply to a question whose answer is streamed; empty: there is no stream.
	Events string

	mu          sync.Mutex
	now         time.Time
	collections []collection
	documents   []*Document
	answers     map[string]*answer
	calls       map[string]int
}

type collection struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// New starts a server that ends with the test. Its clock starts at a fixed time and advances one second per
// document put.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{
		now:     time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
		answers: map[string]*answer{}, calls: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/collections", s.listCollections)
	mux.HandleFunc("POST /v1/collections", s.createCollection)
	mux.HandleFunc("GET /v1/collections/{id}", s.getCollection)
	mux.HandleFunc("GET /v1/documents", s.listDocuments)
	mux.HandleFunc("PUT /v1/documents", s.putDocument)
	mux.HandleFunc("GET /v1/documents/{id}", s.getDocument)
	mux.HandleFunc("DELETE /v1/documents/{id}", s.deleteDocument)
	mux.HandleFunc("PUT /v1/answers/{id}", s.ask)
	mux.HandleFunc("GET /v1/answers/{id}", s.poll)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Refuse != nil && s.Refuse(w, r) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls[r.Method+" "+r.URL.Path]++
		w.Header().Set("Date", s.now.Format(http.TimeFormat))
		if r.Header.Get("Authorization") != "Bearer "+Key {
			Problem(w, 401, "unauthorized", "The key is missing, unknown, expired or revoked.")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.URL = srv.URL + "/v1"
	return s
}

// Problem writes an error of the contract.
func Problem(w http.ResponseWriter, status int, code, detail string) {
	reply(w, status, map[string]any{"status": status, "code": code, "detail": detail, "requestId": "r-1"})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Calls returns how many requests of a method and path, such as "PUT /v1/documents", Refuse let through.
func (s *Server) Calls(methodPath string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[methodPath]
}

// AddCollection makes a collection without a request and returns its id.
func (s *Server) AddCollection(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addCollection(name, "A collection of tests.").ID
}

func (s *Server) addCollection(name, description string) collection {
	c := collection{ID: uuid.NewString(), Name: name, Description: description}
	s.collections = append([]collection{c}, s.collections...)
	return c
}

func (s *Server) listCollections(w http.ResponseWriter, r *http.Request) {
	page(w, r, s, s.collections)
}

func (s *Server) createCollection(w http.ResponseWriter, r *http.Request) {
	var in collection
	if !decode(w, r, &in) {
		return
	}
	if len(s.collections) >= 25 {
		Problem(w, 409, "collection-limit", "This team has 25 collections.")
		return
	}
	if in.Name == "" || len([]rune(in.Name)) > 32 || in.Description == "" {
		Problem(w, 400, "invalid-request", "The request is not valid.")
		return
	}
	reply(w, 201, s.addCollection(in.Name, in.Description))
}

func (s *Server) getCollection(w http.ResponseWriter, r *http.Request) {
	if i := s.find(r.PathValue("id")); i >= 0 {
		reply(w, 200, s.collections[i])
		return
	}
	Problem(w, 404, "not-found", "There is no such collection.")
}

func (s *Server) find(id string) int {
	return slices.IndexFunc(s.collections, func(c collection) bool { return c.ID == id })
}

// page writes one page. Its cursor is an offset. Its Link has another host and omits the filter, as the contract
// allows.
func page[T any](w http.ResponseWriter, r *http.Request, s *Server, all []T) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 200 {
		Problem(w, 400, "invalid-request", "The limit is not valid.")
		return
	}
	if s.PageSize > 0 {
		limit = min(limit, s.PageSize)
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("after"))
	from = min(from, len(all))
	to := min(from+limit, len(all))
	if to < len(all) {
		base := "https://elsewhere.example" + r.URL.Path
		w.Header().Set("Link", fmt.Sprintf(`<%s?limit=%d&before=%d>; rel="prev", <%s?limit=%d&after=%d>; rel="next"`,
			base, limit, from, base, limit, to))
	}
	out := all[from:to]
	if out == nil {
		out = []T{}
	}
	reply(w, 200, out)
}
