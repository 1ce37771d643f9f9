package slacktest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"docent/shared/connect/connecttest"
	"docent/shared/fetch"
)

// Token is the bot token that the server accepts.
const Token = "xoxb-recorded"

// Message is a message in the form of Slack's lists.
type Message struct {
	Type        string            `json:"type"`
	Subtype     string            `json:"subtype,omitempty"`
	User        string            `json:"user"`
	Text        string            `json:"text"`
	TS          string            `json:"ts"`
	ThreadTS    string            `json:"thread_ts,omitempty"`
	ReplyCount  int               `json:"reply_count,omitempty"`
	LatestReply string            `json:"latest_reply,omitempty"`
	Edited      map[string]string `json:"edited,omitempty"`
	Files       []File            `json:"files,omitempty"`
	BotID       string            `json:"bot_id,omitempty"`
	Blocks      json.RawMessage   `json:"blocks,omitempty"`
	Attachments json.RawMessage   `json:"attachments,omitempty"`
}

// File is a file of a message in the form of Slack's lists.
type File struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mimetype"`
	Bytes     int    `json:"size"`
	Mode      string `json:"mode"`
	Download  string `json:"url_private_download"`
	Access    string `json:"file_access,omitempty"`
}

// Channel is a channel on the server. Messages are its history, and Replies those of
// threads; both in order of time.
type Channel struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Private  bool   `json:"is_private"`
	Member   bool   `json:"is_member"`
	Archived bool   `json:"is_archived"`

	Messages []Message            `json:"-"`
	Replies  map[string][]Message `json:"-"` // by the time of their thread
	Members  []string             `json:"-"`
	Limited  bool                 `json:"-"`
}

// Server behaves like the methods of Slack's Web API that read channels. Its fields may
// be changed between requests; see Change.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	Channels map[string]*Channel
	Emails   map[string]string // of users by id, who are named after it
	Former   []string          // ids of deactivated users
	Bots     []string          // ids of users who are bots
	PerPage  int               // the most messages of a reply
	Lacks    string            // a scope that the app does not have
	Needed   string            // what it is told that it needs; empty: Lacks
	Stored   map[string][]byte // files by id
	Foreign  map[string]File   // files of other workspaces by id; see Share
	Limited  string            // a method that may not be called for an hour
	Broken   bool              // no file can be downloaded
	Failing  string            // a method that fails
	Expired  bool              // cursors are no longer valid
	Before   func(n int, w http.ResponseWriter) (answered bool)
	requests []string
}

// New starts a server without channels. It stops at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Channels: map[string]*Channel{}, Emails: map[string]string{}, Stored: map[string][]byte{}, Foreign: map[string]File{}, PerPage: 2}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Attach stores a file and returns it as a message has it.
func (s *Server) Attach(id, name, mediaType string, content []byte) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Stored[id] = content
	return File{ID: id, Name: name, MediaType: mediaType, Bytes: len(content), Mode: "hosted", Download: s.URL + "/files/" + id + "/download"}
}

// Share stores a file of another workspace and returns it as a message has it: with its id, for files.info.
func (s *Server) Share(id, name, mediaType string, content []byte) File {
	full := s.Attach(id, name, mediaType, content)
	full.Access = "visible"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Foreign[id] = full
	return File{ID: id, Mode: "file_access", Access: "check_file_info"}
}

// Fetcher returns a Fetcher that reaches only the server.
func (s *Server) Fetcher() *fetch.Fetcher {
	return connecttest.Fetcher(s.Server)
}

// Requests returns the methods called since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// Change calls f, which may change the fields, between two requests.
func (s *Server) Change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// scopes are the scopes that methods need for a public channel.
var scopes = map[string]string{"conversations.history": "channels:history", "conversations.replies": "channels:history", "conversations.info": "channels:read",
	"conversations.list": "channels:read", "conversations.join": "channels:join", "conversations.members": "channels:read", "users.list": "users:read", "files.info": "files:read"}

// scopeOf returns the scope that a method needs for a channel.
func scopeOf(method string, c *Channel) string {
	if c != nil && c.Private {
		return strings.Replace(scopes[method], "channels:", "groups:", 1)
	}
	return scopes[method]
}

// ServeHTTP answers a request of the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := strings.TrimPrefix(q.URL.Path, "/api/")
	s.requests = append(s.requests, method)
	if s.Before != nil && s.Before(len(s.requests), w) {
		return
	}
	if s.Limited == method {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	if s.Failing == method {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if id, found := strings.CutPrefix(strings.TrimSuffix(q.URL.Path, "/download"), "/files/"); found {
		s.file(id, w, q)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(s.reply(method, q))
}

// file replies with a file, or as Slack does with the page to sign in.
func (s *Server) file(id string, w http.ResponseWriter, q *http.Request) {
	content, known := s.Stored[id]
	switch {
	case q.Header.Get("Authorization") != "Bearer "+Token || s.Lacks == "files:read":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html>Sign in</html>"))
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case s.Broken:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(content)
	}
}

func refused(code string) map[string]any { return map[string]any{"ok": false, "error": code} }

func (s *Server) reply(method string, q *http.Request) map[string]any {
	query := q.URL.Query()
	id := query.Get("channel")
	if method == "conversations.join" {
		var body struct{ Channel string }
		_ = json.NewDecoder(q.Body).Decode(&body)
		id = body.Channel
	}
	c := s.Channels[id]
	switch {
	case q.Header.Get("Authorization") != "Bearer "+Token:
		return refused("invalid_auth")
	case scopes[method] == "":
		return refused("unknown_method")
	case scopeOf(method, c) == s.Lacks:
		return map[string]any{"ok": false, "error": "missing_scope", "needed": cmp.Or(s.Needed, s.Lacks), "provided": "team:read"}
	case method == "users.list":
		return s.users()
	case method == "files.info":
		switch f := s.Foreign[query.Get("file")]; f.Mode {
		case "":
			return refused("file_not_found")
		case "tombstone":
			return refused("file_deleted")
		default:
			return map[string]any{"ok": true, "file": f}
		}
	case method == "conversations.list":
		return s.list(query.Get("types"), query.Get("cursor"))
	case c == nil:
		return refused("channel_not_found")
	case method == "conversations.info":
		return map[string]any{"ok": true, "channel": c}
	case method == "conversations.join" && !c.Archived:
		c.Member = true
		return map[string]any{"ok": true, "channel": c}
	case !c.Member:
		return refused("not_in_channel")
	case s.Expired && query.Get("cursor") != "":
		return refused("invalid_cursor")
	case method == "conversations.members":
		return map[string]any{"ok": true, "members": c.Members, "response_metadata": map[string]string{"next_cursor": ""}}
	}
	if method == "conversations.history" {
		all := slices.Clone(c.Messages)
		slices.Reverse(all)
		return s.page(all, query.Get("oldest"), query.Get("cursor"), c.Limited)
	}
	at := slices.IndexFunc(c.Messages, func(m Message) bool { return m.TS == query.Get("ts") })
	if at < 0 {
		for _, replies := range c.Replies {
			for _, m := range replies {
				if m.TS == query.Get("ts") { // Slack shows no more of its thread
					return map[string]any{"ok": true, "messages": []Message{m}}
				}
			}
		}
		return refused("thread_not_found")
	}
	reply := s.page(c.Replies[query.Get("ts")], query.Get("oldest"), query.Get("cursor"), false)
	reply["messages"] = append([]Message{c.Messages[at]}, reply["messages"].([]Message)...) // the thread's message is on every page
	return reply
}

// list replies with public channels, those that are archived too, from the one that cursor names.
func (s *Server) list(types, cursor string) map[string]any {
	if types != "public_channel" {
		return refused("invalid_types")
	}
	begin, err := strconv.Atoi(cursor)
	if err != nil && cursor != "" {
		return refused("invalid_cursor")
	}
	ids := slices.Sorted(maps.Keys(s.Channels))
	end := min(begin+s.PerPage, len(ids))
	next := ""
	if end < len(ids) {
		next = strconv.Itoa(end)
	}
	listed := []*Channel{}
	for _, id := range ids[min(begin, end):end] { // Slack filters a page after it was made
		if !s.Channels[id].Private {
			listed = append(listed, s.Channels[id])
		}
	}
	return map[string]any{"ok": true, "channels": listed, "response_metadata": map[string]string{"next_cursor": next}}
}

// page replies with the messages after oldest, from the one that cursor names.
func (s *Server) page(all []Message, oldest, cursor string, limited bool) map[string]any {
	all = slices.DeleteFunc(append([]Message{}, all...), func(m Message) bool { return m.TS <= oldest }) // never null
	begin, _ := strconv.Atoi(cursor)
	end := min(begin+s.PerPage, len(all))
	next := ""
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return map[string]any{"ok": true, "messages": all[min(begin, end):end], "has_more": next != "", "is_limited": limited, "response_metadata": map[string]string{"next_cursor": next}}
}

func (s *Server) users() map[string]any {
	type profile struct {
		Name  string `json:"display_name"`
		Email string `json:"email,omitempty"`
	}
	var members []map[string]any
	for id, email := range s.Emails {
		members = append(members, map[string]any{"id": id, "name": strings.ToLower(id), "deleted": slices.Contains(s.Former, id), "is_bot": slices.Contains(s.Bots, id), "profile": profile{"name of " + id, email}})
	}
	return map[string]any{"ok": true, "members": members, "response_metadata": map[string]string{"next_cursor": ""}}
}
