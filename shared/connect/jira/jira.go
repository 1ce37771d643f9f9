// Package jira reads the issues of projects and the comments on them, of Jira Cloud or of
// a Data Center, and who may read them.
//
// A project is one part. A full scan lists its issues by the time of creation, which
// never changes; later syncs list those that changed since the last one, newest first. A
// new comment changes its issue. What changes during a sync moves to its start and is
// read by the next one. Deleted issues and comments, and changed permissions, are noticed
// by the full scan.
package jira

import (
	"context"
	"iter"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// Bounds of what is read.
const (
	perPage = 50 // issues of one request
	// overlap is how far syncs reach back before the start of the last one: the search
	// finds changes some time after they were made.
	overlap = 10 * time.Minute
	// repeated is how many results of a page the next one repeats where pages are
	// numbered: as many may be deleted between the two requests.
	repeated        = 5
	retriesAPage    = 5        // issues per page that failed before
	maxComments     = 5000     // of an issue
	maxCommentBytes = 32 << 20 // of an issue's comments that are requested separately
	pageBytes       = 8 << 20  // of texts, above which the issues of a reply are more than one page
)

// fields are those of an issue that are read.
const fields = "summary,description,status,issuetype,priority,resolution,resolutiondate,assignee,reporter,creator,labels,components," +
	"fixVersions,parent,project,created,updated,security,issuerestriction,comment"

// Connector reads projects. It is safe for concurrent use.
type Connector struct{ atlassian.Client }

// Parts returns a part per project.
func (c *Connector) Parts(s source.Settings) []string { return s.List(projects) }

// checkpoint is the checkpoint of a part.
type checkpoint struct {
	Since time.Time `json:"since,omitzero"` // when the last complete reading began
	Begun time.Time `json:"begun,omitzero"` // when the running one began; zero: none runs
	JQL   string    `json:"jql,omitempty"`  // its query
	Token string    `json:"token,omitempty"`
	Start int       `json:"start,omitempty"` // Data Center: number of the next result
	Full  bool      `json:"full,omitempty"`  // it is a full scan
	// Retried means that what failed before was tried again by the running reading.
	Retried bool `json:"retried,omitempty"`
	// Done is the key of the last issue of the page at Token or Start that was read; empty: none was.
	Done string `json:"done,omitempty"`
	atlassian.Openings
}

// Retries marks the connector as a source.Retrier.
func (c *Connector) Retries() {}

// Read yields the pages of a part; see source.Connector.
func (c *Connector) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		r := c.open(a, part)
		p := checkpoint{Full: at == nil}
		if err := source.DecodeCheckpoint(at, &p); err != nil {
			return err
		}
		if p.Begun.IsZero() {
			if p.Rescan || p.Since.After(c.Now()) { // the clock was ahead then, so nobody knows what has changed
				return source.ErrFullScanNeeded
			}
			p.Begun = c.Now().UTC()
		}
		return r.read(ctx, p, page)
	})
}

// reading is one call of Read or IsDeleted.
type reading struct {
	*atlassian.Site
	api     string // path of the API
	project string // key
	mirrors bool
	before  source.Access
	opened  []string  // Answered of the latest page
	begun   time.Time // when the search for the running page was sent; zero: it may take any time
	directory
}

func (c *Connector) open(a source.Access, project string) *reading {
	site := c.Client.Open("Jira", a)
	r := &reading{Site: site, api: "/rest/api/2", project: project, mirrors: atlassian.Mirrors(a.Settings), before: a, directory: newDirectory()}
	if site.Cloud {
		r.api = "/rest/api/3"
	}
	return r
}
