// Package confluence reads the pages, comments and attachments of spaces of Confluence Cloud
// or of a Data Center, and who may read them.
//
// A space has three parts: its pages, its comments and its attachments. A full scan lists a part by the time
// of creation, which never changes; later syncs list what changed since the last one,
// newest first. What changes during a sync therefore moves to its start and is read by
// the next one. Deleted pages, and changed restrictions, are noticed by the full scan.
package confluence

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// Bounds of what is read.
const (
	perPage = 25 // items with bodies of one request
	// overlap is how far syncs reach back before the start of the last one: the search
	// finds changes some time after they were made.
	overlap = 10 * time.Minute
	// repeated is how many results of a page the next one repeats where pages are
	// numbered: as many may be deleted between the two requests.
	repeated     = 5
	retriesAPage = 5 // items per page that failed before
	// maxAttachments is the most attachments of a space that a full scan reads: the newest, on whole pages of results.
	maxAttachments = 10_000
)

// The parts of a space.
const (
	pages       = "pages"
	comments    = "comments"
	attachments = "attachments"
)

// Connector reads spaces. It is safe for concurrent use.
type Connector struct {
	atlassian.Client
	Attachments int // the most attachments that a full scan reads; 0: 10,000
}

// Parts returns three parts per space.
func (c *Connector) Parts(s source.Settings) []string {
	var parts []string
	for _, space := range s.List(spaces) {
		parts = append(parts, space+" "+pages, space+" "+comments, space+" "+attachments)
	}
	return parts
}

// checkpoint is the checkpoint of a part.
type checkpoint struct {
	Since time.Time `json:"since,omitzero"`  // when the last complete reading began
	Begun time.Time `json:"begun,omitzero"`  // when the running one began; zero: none runs
	Next  string    `json:"next,omitempty"`  // query of its next page
	Full  bool      `json:"full,omitempty"`  // it is a full scan
	Found int       `json:"found,omitempty"` // files that the running full scan has listed
	// Retried means that what failed before was tried again by the running reading.
	Retried bool `json:"retried,omitempty"`
	// Done is the id of the last result of the page at Next that was read; empty: none was.
	Done id `json:"done,omitempty"`
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
	space   string // key
	kind    string
	mirrors bool
	most    int // attachments of a full scan
	before  source.Access
	closed  []source.SkippedItem // pages whose readers could again not be read, to be reported
	private map[id]bool          // all of those
	left    map[string]bool      // uris of items that could again not be read
	single  bool                 // some results were read one by one
	begun   time.Time            // when the reading of the running page began; zero: it may take any time
	directory
}

func (c *Connector) open(a source.Access, part string) *reading {
	site := c.Client.Open("Confluence", a)
	if site.Cloud && !strings.HasSuffix(site.Base, "/wiki") {
		site.Base += "/wiki"
	}
	space, kind, _ := strings.Cut(part, " ")
	return &reading{Site: site, space: space, kind: kind, mirrors: atlassian.Mirrors(a.Settings), before: a, private: map[id]bool{}, left: map[string]bool{},
		most: cmp.Or(c.Attachments, maxAttachments), directory: newDirectory()}
}
