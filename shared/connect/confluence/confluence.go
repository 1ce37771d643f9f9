// Package confluence reads the pages, comments and attachments of spaces of Confluence Cloud
// or of a Data Center, and who may read them.
//
// A space has three parts: its pages, its comments and its attachments. A full scan lists a part by the time
// of creation, which never changes; later syncs list what changed since the last one,
// newest first. What changes during a sync therefore moves to its begin and is read by
// the next one. Deleted pages, and changed restrictions, are noticed by the full scan.
package confluence

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// Bounds of what is read.
const (
	perPage = 25 // items with bodies of one request
	// overlap is how far syncs reach back before the begin of the last one: the search
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

// read yields the pages from p on.
func (r *reading) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	if p.Full && p.Next == "" {
		if _, err := r.spaceID(ctx); err != nil {
			return err
		}
	}
	if !p.Full && p.Next == "" && !p.Retried {
		if err := r.retry(ctx, &p, yield); err != nil {
			return err
		}
	}
	resumed := p.Next != ""
	begins := !resumed
	for {
		query, err := r.query(p)
		if err != nil {
			return err
		}
		found, err := r.found(ctx, query, p.Done)
		if resumed && atlassian.IsCode(err, source.Refused, source.NotThere) { // the cursor has expired
			p.Next, p.Done, resumed = "", "", false
			continue
		}
		if err != nil {
			return err
		}
		resumed = false
		var last id
		if found.cut {
			last = found.Results[len(found.Results)-1].ID
		}
		part := func(page source.SyncPage, done id) error {
			p.Done, p.Found = done, p.Found+len(page.Items)
			r.Note(&p.Openings, p.Full, page.Unread)
			if page.Checkpoint = source.EncodeCheckpoint(p); !yield(page) {
				return source.ErrStopped
			}
			return nil
		}
		r.begun = r.Now()
		page, err := r.page(ctx, found.Results, part)
		if err != nil {
			return err
		}
		if found.cut {
			if err := part(page, last); err != nil {
				return err
			}
			continue
		}
		p.Done = ""
		r.Note(&p.Openings, p.Full, page.Unread)
		if p.Next, err = next(query, found.Links.Next); err != nil {
			return err
		}
		if p.Found += len(page.Items); p.Full && r.kind == attachments && p.Found >= r.most && p.Next != "" {
			p.Next, page.Notice = "", r.tooMany()
		}
		if page.Last = p.Next == ""; page.Last {
			if p.Full && begins && !r.single { // else what fails may be on pages before
				page.Unread = append(page.Unread, r.resultsName(), r.restrictionsName()) // what fails next ends a sync again
			}
			p = checkpoint{Since: p.Begun, Openings: atlassian.Openings{Rescan: p.Rescan}}
		}
		page.Checkpoint = source.EncodeCheckpoint(p)
		if !yield(page) {
			return source.ErrStopped
		}
		if page.Last {
			return nil
		}
	}
}

// query returns the query of the page at p.
func (r *reading) query(p checkpoint) (url.Values, error) {
	if p.Next != "" {
		q, err := url.ParseQuery(p.Next)
		if err != nil {
			return nil, fmt.Errorf("decode the checkpoint: %w", err)
		}
		return q, nil
	}
	return url.Values{"cql": {r.cql(p)}, "expand": {r.expand()}, "limit": {strconv.Itoa(perPage)}}, nil
}

// expand returns the expansions with all that is read.
func (r *reading) expand() string {
	expand := "body.storage,version,history,space,metadata.labels,ancestors," + readRestrictions
	switch r.kind {
	case comments:
		expand = "body.storage,version,history,space,container"
	case attachments:
		expand = "version,history,space,container"
	}
	return expand
}

// cql returns the query that begins a reading.
func (r *reading) cql(p checkpoint) string {
	all := `space = "` + r.space + `" and type = ` + strings.TrimSuffix(r.kind, "s")
	if p.Full {
		return all + " order by created desc"
	}
	// Relative, because the time zone of the account decides what a time means.
	minutes := int(r.Now().Sub(p.Since.Add(-overlap))/time.Minute) + 1
	return all + fmt.Sprintf(` and lastmodified >= now("-%dm") order by lastmodified desc`, minutes)
}

// results is a page of a search.
type results struct {
	Results []content `json:"results"`
	Links   struct {
		Next string `json:"next"`
	} `json:"_links"`
	cut bool // more results of the page follow
}

// after returns the results behind the one with an id, or all if there is none.
func (found results) after(done id) []content {
	return found.Results[slices.IndexFunc(found.Results, func(c content) bool { return c.ID == done })+1:]
}

// isLong reports whether reading the running page has taken long.
func (r *reading) isLong() bool {
	return !r.begun.IsZero() && r.Now().Sub(r.begun) >= source.LongPage
}

func (r *reading) search(ctx context.Context, q url.Values) (results, error) {
	found, err := atlassian.Get[results](ctx, r.Site, "the "+r.kind+" of the space "+r.space, "/rest/api/content/search", q)
	if err == nil {
		err = r.TooMany(len(found.Results), max(perPage, perLookup))
	}
	return found, err
}

// next returns the query of the page that link leads to, or "" if there is none. Pages
// that are numbered overlap.
func next(query url.Values, link string) (string, error) {
	if link == "" {
		return "", nil
	}
	invalid := &source.SyncError{Code: source.Unreadable, Detail: "Confluence sent an invalid link to the next page."}
	u, err := url.Parse(link)
	if err != nil || u.RawQuery == "" {
		return "", invalid
	}
	q := u.Query()
	if expand, has := query["expand"]; has { // the link may be from a page that was asked for with less
		q["expand"] = expand
	}
	if q.Encode() == query.Encode() {
		return "", invalid
	}
	if start, err := strconv.Atoi(q.Get("start")); err == nil && q.Get("cursor") == "" {
		before, _ := strconv.Atoi(query.Get("start"))
		if start <= before {
			return "", &source.SyncError{Code: source.Unreadable, Detail: "Confluence sent a link to an earlier page."}
		}
		q.Set("start", strconv.Itoa(max(start-repeated, before+1)))
	}
	return q.Encode(), nil
}

// page returns the items of a page of results. When it has taken long, it calls part with the items of the first ones, and the id of the
// last of them.
func (r *reading) page(ctx context.Context, found []content, part func(page source.SyncPage, done id) error) (source.SyncPage, error) {
	var page source.SyncPage
	found = slices.DeleteFunc(found, func(c content) bool {
		return c.Space.Key != "" && !strings.EqualFold(c.Space.Key, r.space) || c.Status != "" && c.Status != "current" ||
			r.kind == attachments && !r.readsFile(c)
	})
	if len(found) == 0 {
		page.Notice = r.Notice
		return page, nil
	}
	var err error
	var about map[id]content // the pages of comments or attachments
	if r.kind != pages {
		if about, err = r.containers(ctx, found); err != nil {
			return page, err
		}
	}
	if err := r.prepare(ctx, found, about); err != nil {
		return page, err
	}
	for n, c := range found {
		on, known := about[c.Container.ID]
		var i source.Item
		switch {
		case r.kind == pages:
			i = r.pageItem(ctx, c)
		case r.kind == comments && known:
			i = r.commentItem(ctx, c, on)
		case known:
			i = r.attachmentItem(ctx, c, on)
		default:
			continue
		}
		if c.unread && i.File == nil { // of an attachment, its download fails
			i.KeepBody, r.left[i.URI] = true, true
			page.Failed = append(page.Failed, source.FailedAgain(i.URI, notReturned))
		}
		if page.Items = append(page.Items, i); n+1 < len(found) && r.isLong() && r.Failed == nil {
			r.finish(&page)
			if err := part(page, c.ID); err != nil {
				return page, err
			}
			page, r.begun = source.SyncPage{}, r.Now()
		}
	}
	r.finish(&page)
	return page, r.Failed
}

// finish adds to page the notice, the pages without known readers, and the lookups that succeeded again.
func (r *reading) finish(page *source.SyncPage) {
	page.Notice = r.Notice
	page.Failed, page.Unread = append(page.Failed, r.closed...), append(r.opened(), r.Answered...)
	r.closed, r.Answered = nil, nil
}
