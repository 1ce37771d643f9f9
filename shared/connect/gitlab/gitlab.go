// Package gitlab reads projects from GitLab, gitlab.com or a server of one's own, by its
// REST API v4: issues and merge requests with their comments, wiki pages, and the files
// of the default branch.
//
// Issues and merge requests are read by the time of their last change, oldest first, each
// page from the last time of the page before. GitLab does not change the time of an issue
// for a comment within a minute of its last change. So what was read within two minutes
// of its change is read again by the next sync. Removed comments do not change it either;
// the daily full scan notices them.
//
// A wiki is one reply, compared by its hash. Files are read from the archive of a commit,
// later from the difference between two commits.
package gitlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// Connector reads projects. It is safe for concurrent use.
type Connector struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry

	mu   sync.Mutex
	last remembered
}

// The parts of a project, as settings name them.
const (
	issues = "issues"
	merges = "merge_requests"
	wiki   = "wiki"
	files  = "files"
)

var kinds = []string{issues, merges, wiki, files}

// kindsOf returns the parts that a source reads of each project.
func kindsOf(s source.Settings) []string {
	if chosen := s.List(include); chosen != nil {
		return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return !slices.Contains(chosen, kind) })
	}
	return kinds
}

// Parts returns up to four parts per project.
func (c *Connector) Parts(s source.Settings) []string {
	var parts []string
	for _, project := range s.List(projects) {
		for _, kind := range kindsOf(s) {
			parts = append(parts, project+" "+kind)
		}
	}
	return parts
}

// checkpoint is the checkpoint of a part.
type checkpoint struct {
	Readers string `json:"readers,omitempty"` // hash of who may read it
	// Issues and merge requests.
	Since        time.Time `json:"since,omitzero"`         // time of the last change read
	Read         []int     `json:"read,omitempty"`         // those with this time that were read
	Page         int       `json:"page,omitempty"`         // page of those since then; 0: the first
	Again        time.Time `json:"again,omitzero"`         // the first time of a change that was fresh when it was read
	Confidential bool      `json:"confidential,omitempty"` // there are confidential ones
	Retried      bool      `json:"retried,omitempty"`      // what failed before was tried again by the running sync
	// Wiki.
	Sum  string `json:"sum,omitempty"`  // hash of the pages that were read, or are being read
	Skip int    `json:"skip,omitempty"` // number already read; also of files
	Done bool   `json:"done,omitempty"` // all were read
	// Files.
	Commit string `json:"commit,omitempty"` // the last commit read
	Target string `json:"target,omitempty"` // the commit that is being read
	Branch string `json:"branch,omitempty"`
	Whole  bool   `json:"whole,omitempty"` // all of Target is read: from an archive or, with Single, one by one
	Single bool   `json:"single,omitempty"`
	Next   int    `json:"next,omitempty"` // with Single, number already read of the files in the order of their names
}

// Retries marks the connector as a source.Retrier.
func (c *Connector) Retries() {}

// Read yields the pages of a part; see source.Connector.
func (c *Connector) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		s, err := c.open(a, part)
		if err != nil {
			return err
		}
		var p checkpoint
		if err := source.DecodeCheckpoint(at, &p); err != nil {
			return err
		}
		if s.about, err = s.lookUp(ctx); isGone(err) && a.Settings.Text(access) != bySource {
			return fmt.Errorf("%w: %w", source.ErrPartHidden, err)
		} else if err != nil {
			return err
		}
		readers, err := s.fingerprint(ctx, p.Confidential)
		if err != nil {
			return err
		}
		if at != nil && readers != p.Readers {
			return s.narrow(ctx, at, p.Confidential, page) // then every item gets its new readers
		}
		p.Readers = readers
		if at == nil && a.Before != nil {
			if err := s.narrowBefore(ctx, a.Before, page); err != nil {
				return err
			}
		}
		yield := func(q source.SyncPage) bool {
			q.Notice = s.notice()
			return page(q)
		}
		if s.about.level(s.kind) == disabled {
			yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true, Exact: at == nil})
			return nil
		}
		switch s.kind {
		case wiki:
			err = s.readWiki(ctx, p, at == nil, yield)
		case files:
			err = s.readFiles(ctx, p, at == nil, yield)
		default:
			err = s.readRecords(ctx, p, at == nil, yield)
		}
		if !s.isClosed(err) {
			return err
		}
		closed := source.EncodeCheckpoint(checkpoint{Readers: p.Readers})
		if at != nil && !bytes.Equal(source.EncodeCheckpoint(p), closed) {
			return source.ErrFullScanNeeded // what was public goes
		}
		yield(source.SyncPage{Checkpoint: closed, Last: true, Exact: at == nil})
		return nil
	})
}

// narrow hides the stored items from those who may read none of them now, and if there are confidential ones, those from all without
// the role Planner: whose they are shows in the full scan. It returns source.ErrFullScanNeeded. It keeps the checkpoint at, so a sync
// that is interrupted repeats it.
func (s *session) narrow(ctx context.Context, at []byte, confidential bool, page func(source.SyncPage) bool) error {
	all, err := s.readers(ctx, false, nil)
	if err != nil {
		return err
	}
	if all != nil && !page(source.SyncPage{Readers: all, Narrow: true, Checkpoint: at}) {
		return source.ErrStopped
	}
	if confidential {
		few, err := s.readers(ctx, true, nil)
		if err != nil {
			return err
		}
		if !page(source.SyncPage{Readers: few, Narrow: true, Marked: confidentialName, Checkpoint: at}) {
			return source.ErrStopped
		}
	}
	return source.ErrFullScanNeeded
}

// narrowBefore hides the stored items likewise before a full scan, if others could read them at the checkpoint before, which it had begun at. The
// scan reaches some of them late.
func (s *session) narrowBefore(ctx context.Context, before []byte, page func(source.SyncPage) bool) error {
	var p checkpoint
	if err := source.DecodeCheckpoint(before, &p); err != nil {
		return err
	}
	readers, err := s.fingerprint(ctx, p.Confidential)
	if err != nil || readers == p.Readers {
		return err
	}
	// With the readers of then and no place, so that a sync that is interrupted here repeats it.
	if err = s.narrow(ctx, source.EncodeCheckpoint(checkpoint{Readers: p.Readers, Confidential: p.Confidential}), p.Confidential, page); errors.Is(err, source.ErrFullScanNeeded) {
		err = nil
	}
	return err
}

// session reads one part of a project.
type session struct {
	*Connector
	api      *rest.API
	settings source.Settings
	key      string // of the project at its server with its token, to remember about
	project  string // its path in the settings
	kind     string
	html     string // URL of the project's pages, with a slash at the end
	about    *about
	access   source.Access
	unknown  string // why some readers are unknown; empty: they are not
}

func (c *Connector) open(a source.Access, part string) (*session, error) {
	project, kind, _ := strings.Cut(part, " ")
	base := "https://gitlab.com/"
	if own := a.Settings.Text(baseURL); own != "" {
		base = strings.TrimSuffix(own, "/") + "/"
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	s := &session{Connector: c, settings: a.Settings, project: project, kind: kind, html: base + project + "/-/", access: a,
		key: base + " " + project + " " + a.Secrets[accessToken]}
	header := http.Header{"Accept": {"application/json"}}
	if token := a.Secrets[accessToken]; token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	s.api = &rest.API{Provider: "GitLab", Base: base + "api/v4/projects/" + url.PathEscape(project), Header: header, HTTP: c.HTTP, Now: c.Now, Pause: c.Pause,
		Refusal: func(e *rest.StatusError) *source.SyncError { return refusal(e, project, u.Host, !s.anonymous()) }}
	return s, nil
}

// isClosed reports whether err says that nobody without an access token sees the part: it is switched off, or for members only. With a
// token, GitLab says so of the project.
func (s *session) isClosed(err error) bool {
	var answered *rest.StatusError
	return s.anonymous() && errors.As(err, &answered) && isForbidden(answered)
}

// isForbidden reports whether GitLab itself, and no proxy, refuses a request.
func isForbidden(e *rest.StatusError) bool {
	return e.Status == http.StatusForbidden && strings.HasPrefix(e.Field("message"), "403")
}

// refusal returns the failure for a reply about a project of a server.
func refusal(e *rest.StatusError, project, host string, hasToken bool) *source.SyncError {
	switch {
	case e.Field("error") == "insufficient_scope":
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Detail: "The access token lacks the scope read_api. Make a new one that has it."}
	case e.Status == http.StatusUnauthorized && strings.Contains(e.Field("error_description"), "expired"):
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Detail: "The access token has expired. Make a new one."}
	case e.Status == http.StatusUnauthorized && strings.Contains(e.Field("error_description"), "revoked"):
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Detail: "The access token was revoked. Make a new one."}
	case isForbidden(e) && !hasToken:
		return &source.SyncError{Code: source.Unauthorized, Detail: "This part of " + project + " is switched off, or not public. Give an access token that may read it, or leave it out."}
	case e.Status == http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized, Detail: "The access token may not read this part of " + project + ". It needs the role Reporter there."}
	case e.Status == http.StatusNotFound && strings.Contains(e.Field("message"), "Project"):
		return &source.SyncError{Code: source.NotThere, Detail: "There is no project " + project + " on " + host + ", or the access token may not see it."}
	default:
		return nil
	}
}
