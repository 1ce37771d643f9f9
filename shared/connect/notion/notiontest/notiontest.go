// Package notiontest has a server that behaves like Notion's API of version 2026-03-11,
// for pages and databases that a test creates and shares. It supports cursors, text that
// Notion cuts, capabilities, rate limits and failures.
//
// The replies have the members and codes of the reference of Notion's API and of the
// types of its JavaScript client (makenotion/notion-sdk-js). That times of edits are
// minutes is from the reference too.
package notiontest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
)

// Token is the secret of an integration that may read content.
const Token = "ntn_recorded"

// Object is a page, a database, a data source or a block.
type Object struct {
	Kind       string // page, database, data_source or block
	ID         string
	Title      string
	Edited     time.Time // shown in minutes
	Parent     map[string]any
	Container  map[string]any // of a data source: the parent of its database
	Properties map[string]any // besides the title
	Markdown   string
	Parts      []string // ids of blocks that are not in Markdown
	Cut        bool     // Notion returns no more of it
	InTrash    bool
	Unshared   bool // with the integration
	Unlisted   bool // the search does not return it
}

// Server is the server. It uses https with the certificate of httptest. Its methods are
// safe for concurrent use.
type Server struct {
	*httptest.Server
	connecttest.Watch // of methods and paths
	mu                sync.Mutex
	objects           []*Object
	noText            bool
	cursors           int // changes when they become invalid
}

// Day is the creation time of everything.
var Day = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// ID returns an id that ends in n.
func ID(n int) string { return fmt.Sprintf("0c940186-ab70-4351-bb34-%012d", n) }

// Workspace is the parent of a page at the top.
var Workspace = map[string]any{"type": "workspace", "workspace": true}

// Below returns the parent that is a page, block, database or data source.
func Below(kind, id string) map[string]any {
	return map[string]any{"type": kind + "_id", kind + "_id": id}
}

// Row returns the parent of a row of a database.
func Row(dataSource, database string) map[string]any {
	return map[string]any{"type": "data_source_id", "data_source_id": dataSource, "database_id": database}
}

// NewPage returns page number n at the top of the workspace, edited n minutes after Day.
func NewPage(n int, title string) *Object {
	return &Object{Kind: "page", ID: ID(n), Title: title, Edited: Day.Add(time.Duration(n) * time.Minute), Parent: Workspace, Markdown: "Text of " + title + "."}
}

// New starts a server without objects. It stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/search", s.serve(s.search))
	for path, kind := range map[string]string{"pages": "page", "databases": "database", "data_sources": "data_source", "blocks": "block"} {
		mux.HandleFunc("GET /v1/"+path+"/{id}", s.serve(func(w http.ResponseWriter, q *http.Request) {
			if o := s.find(q.PathValue("id"), kind); o != nil {
				reply(w, http.StatusOK, o.shown())
				return
			}
			notFound(w, q.PathValue("id"))
		}))
	}
	mux.HandleFunc("GET /v1/pages/{id}/markdown", s.serve(s.markdown))
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Put adds objects, or changes those with their ids.
func (s *Server) Put(objects ...*Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range objects {
		s.objects = append(slices.DeleteFunc(s.objects, func(old *Object) bool { return old.ID == o.ID }), o)
	}
}

// Change changes the object with an id.
func (s *Server) Change(id string, change func(o *Object)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.objects {
		if o.ID == id {
			change(o)
		}
	}
}

// WithoutContent takes the capability to read content from the integration.
func (s *Server) WithoutContent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noText = true
}

// EndCursors makes every cursor so far invalid.
func (s *Server) EndCursors() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursors++
}

func (s *Server) serve(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		if _, answered := s.Saw(q.Method+" "+q.URL.Path, q.URL.Path, w); answered {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case q.Header.Get("Authorization") != "Bearer "+Token:
			refuse(w, http.StatusUnauthorized, "unauthorized", "API token is invalid.")
		case q.Header.Get("Notion-Version") != "2026-03-11":
			refuse(w, http.StatusBadRequest, "missing_version", "Notion-Version header failed validation.")
		default:
			h(w, q)
		}
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"object": "error", "status": status, "code": code, "message": message, "request_id": ID(0)})
}

func notFound(w http.ResponseWriter, id string) {
	refuse(w, http.StatusNotFound, "object_not_found", "Could not find object with ID: "+id+". Make sure the relevant pages and databases are shared with your integration.")
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// find returns a shared object of one of some kinds; ids may have no hyphens.
func (s *Server) find(id string, kinds ...string) *Object {
	i := slices.IndexFunc(s.objects, func(o *Object) bool {
		return strings.ReplaceAll(o.ID, "-", "") == strings.ReplaceAll(id, "-", "") && slices.Contains(kinds, o.Kind) && !o.Unshared
	})
	if i < 0 {
		return nil
	}
	return s.objects[i]
}

func text(plain string) []any {
	return []any{map[string]any{"type": "text", "text": map[string]any{"content": plain, "link": nil}, "plain_text": plain, "href": nil}}
}

// shown returns o as the API does.
func (o *Object) shown() map[string]any {
	v := map[string]any{"object": o.Kind, "id": o.ID, "created_time": Day, "last_edited_time": o.Edited.Truncate(time.Minute), "in_trash": o.InTrash, "is_locked": false,
		"created_by": map[string]string{"object": "user", "id": ID(9999)}, "parent": o.Parent, "url": "https://app.notion.com/p/" + strings.ReplaceAll(o.Title, " ", "-") + "-" + strings.ReplaceAll(o.ID, "-", "")}
	properties := map[string]any{}
	for name, p := range o.Properties {
		properties[name] = p
	}
	switch o.Kind {
	case "page":
		properties["Name"] = map[string]any{"id": "title", "type": "title", "title": text(o.Title)}
		v["properties"] = properties
	case "data_source":
		properties["Name"] = schema("title", map[string]any{})
		v["title"], v["description"], v["database_parent"], v["properties"] = text(o.Title), text(o.Markdown), o.Container, properties
	case "database":
		v["title"] = text(o.Title)
	}
	return v
}

// schema returns a property of a data source: how its rows are filled, in the member that has the value in a row.
func schema(kind string, form map[string]any) map[string]any {
	return map[string]any{"id": kind, "name": kind, "description": nil, "type": kind, kind: form}
}

// Schema returns properties of a data source, by their kinds.
func Schema() map[string]any {
	options := map[string]any{"options": []any{map[string]string{"id": "x", "name": "Done", "color": "green"}}}
	all := map[string]any{"Points": schema("number", map[string]any{"format": "dollar"}), "Tags": schema("multi_select", options), "Status": schema("status", options),
		"Level": schema("select", options), "Key": schema("unique_id", map[string]any{"prefix": "GW"}), "Sum": schema("formula", map[string]any{"expression": "1"})}
	for name, kind := range map[string]string{"Note": "rich_text", "Owner": "people", "Late": "checkbox", "Site": "url", "Mail": "email", "Phone": "phone_number", "Due": "date"} {
		all[name] = schema(kind, map[string]any{})
	}
	return all
}

func (s *Server) search(w http.ResponseWriter, q *http.Request) {
	var in struct {
		Size   int    `json:"page_size"`
		Cursor string `json:"start_cursor"`
		Sort   struct{ Direction, Timestamp string }
		Filter struct{ Property, Value string }
	}
	if json.NewDecoder(q.Body).Decode(&in) != nil || in.Size < 1 || in.Size > 100 || in.Sort.Direction == "ascending" {
		refuse(w, http.StatusBadRequest, "validation_error", "not recorded")
		return
	}
	all := slices.Clone(s.objects)
	all = slices.DeleteFunc(all, func(o *Object) bool {
		return o.Unshared || o.Unlisted || o.InTrash || o.Kind != "page" && o.Kind != "data_source" || in.Filter.Value != "" && o.Kind != in.Filter.Value
	})
	slices.SortStableFunc(all, func(a, b *Object) int { return b.Edited.Truncate(time.Minute).Compare(a.Edited.Truncate(time.Minute)) })
	begin := 0
	if in.Cursor != "" {
		cursor := fmt.Sprintf("%d-", s.cursors)
		begin = slices.IndexFunc(all, func(o *Object) bool { return cursor+o.ID == in.Cursor })
		if begin < 0 {
			refuse(w, http.StatusBadRequest, "validation_error", "The start_cursor provided is invalid: "+in.Cursor)
			return
		}
	}
	end := min(begin+in.Size, len(all))
	results := []any{}
	for _, o := range all[begin:end] {
		results = append(results, o.shown())
	}
	var next any
	if end < len(all) {
		next = fmt.Sprintf("%d-%s", s.cursors, all[end].ID)
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "results": results, "next_cursor": next, "has_more": end < len(all), "type": "page_or_data_source", "page_or_data_source": map[string]any{}, "request_id": ID(0)})
}

func (s *Server) markdown(w http.ResponseWriter, q *http.Request) {
	o := s.find(q.PathValue("id"), "page", "block")
	switch {
	case s.noText:
		refuse(w, http.StatusForbidden, "restricted_resource", "Insufficient permissions for this endpoint.")
	case o == nil:
		notFound(w, q.PathValue("id"))
	default:
		parts := append([]string{}, o.Parts...)
		reply(w, http.StatusOK, map[string]any{"object": "page_markdown", "id": o.ID, "markdown": o.Markdown, "truncated": o.Cut || len(parts) > 0, "unknown_block_ids": parts, "request_id": ID(0)})
	}
}
