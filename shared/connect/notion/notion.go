// Package notion reads the pages and databases that are shared with an integration of a
// Notion workspace. The rows of a database are pages.
//
// What changed is listed by the search, latest edit first, until an edit that an earlier
// sync has read. The times of edits are minutes, and the search lags behind edits. So a
// sync looks back an hour, and remembers what it has read of that hour. Text is read page
// by page as Markdown. A daily full scan lists everything that the search returns: it
// reads pages that were shared since, which is not an edit; and what is missing because it
// is deleted or no longer shared is confirmed one by one.
package notion

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

const version = "2026-03-11" // of the API

// Connector reads pages. It is safe for concurrent use.
type Connector struct {
	Base  string       // URL of the API, with a slash at the end
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry
}

// pages is the only part of a source.
const pages = "pages"

// Parts returns the only part.
func (c *Connector) Parts(source.Settings) []string { return []string{pages} }

// PartContains returns true: everything is in the only part.
func (c *Connector) PartContains(source.Settings, string, string) bool { return true }

// checkpoint is the checkpoint of a source.
type checkpoint struct {
	Access string    `json:"access"`           // the settings when it was read: access and the root pages
	Since  time.Time `json:"since,omitzero"`   // what was edited before was read
	Known  edits     `json:"known,omitempty"`  // what was read of the time since then
	Begun  time.Time `json:"begun,omitzero"`   // when the reading started; zero: none runs
	Full   bool      `json:"full,omitempty"`   // it is a full scan
	Cursor string    `json:"cursor,omitempty"` // of the list that is being read
	Passed []string  `json:"passed,omitempty"` // ids of that list that were read or passed
	Next   edits     `json:"next,omitempty"`   // Known of the next sync, so far
	Again  []string  `json:"again,omitempty"`  // ids of pages that Notion refused, to be tried again
	Failed []string  `json:"failed,omitempty"` // Again of the next sync, so far
	Broken string    `json:"broken,omitempty"` // id of the page at which the sync stopped; it is left out if it fails again
	// The earliest edit in the list that the reading has passed, and whether the list was begun again because its cursor had expired.
	Reached   time.Time `json:"reached,omitzero"`
	Restarted bool      `json:"restarted,omitempty"`
}

// edits are the times of the last edits that were read, in minutes, by id.
type edits map[string]int64

func minutes(t time.Time) int64 { return t.Unix() / 60 }

// Read yields the pages of a source; see source.Connector.
func (c *Connector) Read(ctx context.Context, a source.Access, _ string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		s := c.open(a)
		p := checkpoint{Access: strings.Join(append([]string{a.Settings.Text(access)}, slices.Sorted(maps.Keys(s.roots))...), " "), Begun: c.Now().UTC(), Full: true}
		var q checkpoint
		switch {
		case at != nil:
			if err := source.DecodeCheckpoint(at, &q); err != nil {
				return err
			}
			if q.Access != p.Access || q.Begun.IsZero() && q.Since.After(p.Begun) { // the clock was ahead then
				return source.ErrFullScanNeeded
			}
			if q.Begun.IsZero() {
				q.Begun = p.Begun
			}
			p = q
		case a.Before != nil:
			if err := source.DecodeCheckpoint(a.Before, &q); err != nil {
				return err
			}
			if q.Access == p.Access && !q.Since.After(p.Begun) {
				p.Since, p.Known, p.Again = q.Since, q.Known, q.Again
			}
		}
		if p.Full && p.Cursor == "" {
			if err := s.lookUpRoots(ctx); err != nil {
				return err
			}
		}
		return s.read(ctx, p, page)
	})
}

// session reads one workspace.
type session struct {
	*Connector
	api      *rest.API
	settings source.Settings
	stored   func(ctx context.Context, uris []string) (map[string]bool, error) // nil: nothing is
	roots    map[string]bool                                                   // ids; empty: everything is read
	below    map[string]bool                                                   // whether an id is a root or below one, as far as known
	cut      string                                                            // uri of a page whose text is incomplete
}

func (c *Connector) open(a source.Access) *session {
	s := &session{Connector: c, settings: a.Settings, stored: a.Stored, roots: map[string]bool{}, below: map[string]bool{}}
	for _, address := range a.Settings.List(roots) {
		s.roots[idOf(address)] = true
	}
	header := http.Header{"Authorization": {"Bearer " + a.Secrets[accessToken]}, "Notion-Version": {version}}
	s.api = &rest.API{Provider: "Notion", Base: c.Base, Header: header, HTTP: c.HTTP, Now: c.Now, Pause: c.Pause, Refusal: refusal}
	return s
}

// refusal returns the failure for a reply with a code of Notion.
func refusal(e *rest.StatusError) *source.SyncError {
	switch e.Status {
	case http.StatusForbidden:
		return &source.SyncError{Code: source.Unauthorized, AllParts: true, Detail: "The integration lacks the capability to read content. Add it in the integration's configuration in Notion."}
	case http.StatusNotFound:
		return &source.SyncError{Code: source.NotThere, Detail: "Not found in Notion, or not shared with the integration. To share a page, open it in Notion and add the integration in its menu under Connections."}
	default:
		return nil
	}
}

// URIs do not contain titles, so that a renamed page keeps its own. Notion redirects them.
const (
	site     = "https://www.notion.so/"
	fragment = "#source-" // before the id of a data source, after its database
)

// IsDeleted asks Notion for one page or data source. It is deleted if it is in the trash
// or no longer shared.
func (c *Connector) IsDeleted(ctx context.Context, a source.Access, _ string, uri string) (bool, error) {
	s := c.open(a)
	rest, ok := strings.CutPrefix(uri, site)
	database, dataSource, _ := strings.Cut(rest, fragment)
	if !ok || idOf(database) != database || dataSource != "" && idOf(dataSource) != dataSource {
		return false, nil // not a URI of this package
	}
	kind, id := "pages", database
	if dataSource != "" {
		kind, id = "data_sources", dataSource
	}
	o, err := s.object(ctx, kind, id)
	var failed *source.SyncError
	switch {
	case errors.As(err, &failed) && failed.Code == source.NotThere:
		return true, nil // the token is accepted, so this is Notion's own answer
	case err != nil:
		return false, fmt.Errorf("read %s: %w", uri, err)
	case o.InTrash:
		return true, nil
	}
	inside, err := s.isBelow(ctx, o)
	return err == nil && !inside, err
}
