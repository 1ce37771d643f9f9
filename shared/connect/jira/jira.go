// Package jira reads the issues of projects and the comments on them, of Jira Cloud or of
// a Data Center, and who may read them.
//
// A project is one part. A full scan lists its issues by the time of creation, which
// never changes; later syncs list those that changed since the last one, newest first. A
// new comment changes its issue. What changes during a sync moves to its begin and is
// read by the next one. Deleted issues and comments, and changed permissions, are noticed
// by the full scan.
package jira

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
	perPage = 50 // issues of one request
	// overlap is how far syncs reach back before the begin of the last one: the search
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
	"fixVersions,parent,project,created,updated,security,comment"

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

// begin returns p with the query of a new reading.
func (r *reading) begin(p checkpoint) checkpoint {
	p.Token, p.Start, p.Done = "", 0, ""
	p.JQL = `project = "` + r.project + `"`
	if p.Full {
		p.JQL += " ORDER BY created DESC"
	} else {
		// Relative, because the time zone of the account decides what a time means.
		minutes := int(r.Now().Sub(p.Since.Add(-overlap))/time.Minute) + 1
		p.JQL += fmt.Sprintf(" AND updated >= -%dm ORDER BY updated DESC", minutes)
	}
	return p
}

// read yields the pages from p on.
func (r *reading) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	resumed := p.JQL != ""
	if !resumed {
		if p.Full {
			if err := r.readProject(ctx); err != nil {
				return err
			}
		} else if !p.Retried {
			if err := r.retry(ctx, &p, yield); err != nil {
				return err
			}
		}
		p = r.begin(p)
	}
	for {
		r.begun = r.Now()
		found, err := r.search(ctx, p, perPage)
		if resumed && atlassian.IsCode(err, source.Refused) { // the token has expired
			p, resumed = r.begin(p), false
			continue
		}
		if atlassian.IsCode(err, source.Refused) { // as for a project that is not there
			if missing := r.readProject(ctx); missing != nil {
				return missing
			}
		}
		if err != nil {
			return err
		}
		resumed = false
		page, err := r.page(ctx, found.after(p.Done), func(part source.SyncPage, done string) error {
			p.Done = done
			r.Note(&p.Openings, p.Full, r.opened)
			part.Checkpoint = source.EncodeCheckpoint(p)
			if !yield(part) {
				return source.ErrStopped
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.Done = ""
		r.Note(&p.Openings, p.Full, r.opened)
		if p, page.Last, err = found.next(p, r.Cloud); err != nil {
			return err
		}
		if page.Last {
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

// results is a page of a search.
type results struct {
	Issues []issue `json:"issues"`
	Token  string  `json:"nextPageToken"` // Cloud
	Start  int     `json:"startAt"`       // Data Center, and Total
	Total  int     `json:"total"`
}

// after returns the issues behind the one with a key, or all if there is none.
func (found results) after(key string) []issue {
	return found.Issues[slices.IndexFunc(found.Issues, func(i issue) bool { return i.Key == key })+1:]
}

// next returns p for the page after found, and whether found was the last one. Pages that
// are numbered overlap.
func (found results) next(p checkpoint, cloud bool) (checkpoint, bool, error) {
	if cloud {
		if found.Token != "" && found.Token == p.Token {
			return p, false, &source.SyncError{Code: source.Unreadable, Detail: "Jira sent the same page twice."}
		}
		p.Token = found.Token
		return p, found.Token == "", nil
	}
	end := p.Start + len(found.Issues)
	if len(found.Issues) == 0 || end >= found.Total {
		return p, true, nil
	}
	p.Start = max(end-repeated, p.Start+1)
	return p, false, nil
}

func (r *reading) search(ctx context.Context, p checkpoint, most int) (results, error) {
	q := url.Values{"jql": {p.JQL}, "fields": {fields}, "maxResults": {strconv.Itoa(most)}}
	path := r.api + "/search"
	switch {
	case r.Cloud:
		path += "/jql"
		if p.Token != "" {
			q.Set("nextPageToken", p.Token)
		}
	case p.Start > 0:
		q.Set("startAt", strconv.Itoa(p.Start))
	}
	found, err := atlassian.Get[results](ctx, r.Site, "the issues of the project "+r.project, path, q)
	if err == nil {
		err = r.TooMany(len(found.Issues), most)
	}
	return found, err
}

// page returns the items of a page of issues. When the texts so far are long, or when much time has passed, it calls
// part with the items so far and the key of their last issue, so that memory is bounded and progress is saved.
func (r *reading) page(ctx context.Context, found []issue, part func(page source.SyncPage, done string) error) (source.SyncPage, error) {
	var page source.SyncPage
	var first error // the first failure of a record that has not failed before; the others are still tried, to find all that fail
	size := 0
	for n, i := range found {
		if project, _, _ := strings.Cut(i.Key, "-"); !strings.EqualFold(project, r.project) {
			continue
		}
		unread, denied, err := r.readComments(ctx, &i)
		if source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		}
		if err != nil {
			return page, err
		}
		if unread {
			page.Failed = append(page.Failed, source.FailedAgain(r.issueURI(i.Key), "Jira does not return all comments on it"))
		}
		if denied {
			page.Failed[len(page.Failed)-1] = source.FailedAgain(r.issueURI(i.Key), "the account of the token may not read all comments on it")
		}
		readers, err := r.readersOf(ctx, i)
		if source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		}
		if err != nil {
			return page, err
		}
		comments := r.commentReaders(i, readers)
		add := func(item source.Item) {
			page.Items, size = append(page.Items, item), size+len(item.Body)
		}
		item := r.issueItem(i, comments.all)
		item.CommentsUnread, item.CommentsDenied = unread, denied
		add(item)
		for _, c := range i.Fields.Comment.Comments {
			who, err := comments.of(ctx, c)
			if source.IsOfOne(err) {
				first = cmp.Or(first, err)
				continue
			}
			if err != nil {
				return page, err
			}
			add(r.commentItem(i, c, who))
		}
		long := size > pageBytes || !r.begun.IsZero() && r.Now().Sub(r.begun) >= source.LongPage
		if long && r.Failed == nil && first == nil && n+1 < len(found) {
			r.finish(&page)
			if err := part(page, i.Key); err != nil {
				return page, err
			}
			page, size, r.begun = source.SyncPage{}, 0, r.Now()
		}
	}
	r.finish(&page)
	return page, cmp.Or(r.Failed, first)
}

// finish adds to page the notice and the lookups that succeeded again.
func (r *reading) finish(page *source.SyncPage) {
	r.opened, r.Answered = r.Answered, nil
	page.Notice, page.Unread = r.Notice, append(page.Unread, r.opened...)
}

// retry reads the issues that earlier syncs could not read completely, and repeats their failed lookups. After a lookup
// succeeds, a full scan gives the items that depend on it their readers.
func (r *reading) retry(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	var found []issue
	var left source.SyncPage
	answered := 0
	add := func(page source.SyncPage, _ string) error {
		answered += len(r.opened)
		r.Note(&p.Openings, p.Full, r.opened)
		page.Checkpoint = source.EncodeCheckpoint(p)
		if !yield(page) {
			return source.ErrStopped
		}
		return nil
	}
	flush := func() error {
		page, err := r.page(ctx, found, add)
		if err != nil {
			return err
		}
		page.Unread, page.Failed = append(page.Unread, left.Unread...), append(page.Failed, left.Failed...)
		found, left = nil, source.SyncPage{}
		return add(page, "")
	}
	for _, uri := range r.before.Failed {
		if len(found) == retriesAPage {
			if err := flush(); err != nil {
				return err
			}
		}
		key, _, ok := r.idsOf(uri)
		if !ok {
			if err := r.lookUpAgain(ctx, uri); err != nil {
				return err
			}
			continue
		}
		var one issue
		var invisible bool
		again, err := r.before.Try(ctx, uri, func(ctx context.Context) (err error) {
			one, err = atlassian.Get[issue](ctx, r.Site, "the issue "+key, r.api+"/issue/"+url.PathEscape(key), url.Values{"fields": {fields}})
			if invisible = atlassian.Invisible(err); invisible {
				return nil
			}
			return err
		})
		switch {
		case again:
			left.Failed = append(left.Failed, source.FailedAgain(uri, "Jira does not return it"))
		case err != nil:
			return err
		case invisible || !strings.EqualFold(one.Key, key):
			left.Unread = append(left.Unread, uri) // the next full scan asks what became of it
		default:
			found = append(found, one)
		}
	}
	p.Retried = true // what is read until then need not be tried again
	if len(found)+len(left.Unread)+len(left.Failed)+len(r.Answered) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	if answered > 0 {
		return source.ErrFullScanNeeded
	}
	return nil
}

// lookUpAgain repeats a lookup that failed.
func (r *reading) lookUpAgain(ctx context.Context, what string) error {
	var err error
	if name, id, ok := atlassian.GroupOf(what); ok {
		r.Ctx, r.GroupIDs[name] = ctx, id
		r.members(name)
		err = r.Failed
	} else if id, ok := strings.CutPrefix(what, membersOfLevel); ok {
		_, err = r.level(ctx, id)
	} else if name, ok := strings.CutPrefix(what, membersOfRole); ok {
		_, err = r.readersWithin(ctx, atlassian.Everyone(), visibility{Type: "role", Value: name})
	}
	return err
}

// readComments reads the comments of i that did not come with it. unread means that reading them has failed again;
// denied means that the account may not read them.
func (r *reading) readComments(ctx context.Context, i *issue) (unread, denied bool, err error) {
	inline := i.Fields.Comment.Comments
	unread, denied, err = r.listComments(ctx, i)
	if unread && len(i.Fields.Comment.Comments) < len(inline) {
		i.Fields.Comment.Comments = inline
	}
	return unread, denied, err
}

// listComments replaces the comments that came with i by all, if there are more. It returns the results of readComments.
func (r *reading) listComments(ctx context.Context, i *issue) (unread, denied bool, err error) {
	list := &i.Fields.Comment
	if len(list.Comments) >= list.Total {
		return false, false, nil
	}
	const perList = 100
	list.Comments = nil
	size := 0
	for start := 0; start < min(list.Total, maxComments) && size < maxCommentBytes; start = len(list.Comments) {
		var more commentList
		unread, err = r.before.Try(ctx, r.issueURI(i.Key), func(ctx context.Context) error {
			more, err = atlassian.Get[commentList](ctx, r.Site, "the comments on "+i.Key, r.api+"/issue/"+url.PathEscape(i.Key)+"/comment",
				url.Values{"startAt": {strconv.Itoa(start)}, "maxResults": {strconv.Itoa(perList)}, "orderBy": {"created"}})
			denied = atlassian.Invisible(err)
			return err
		})
		if unread || err != nil {
			return unread, denied, err
		}
		list.Comments = append(list.Comments, more.Comments...)
		for _, c := range more.Comments {
			size += len(c.Body)
		}
		if len(more.Comments) == 0 {
			break
		}
	}
	return false, false, nil
}
