package confluence

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// read yields the pages from p on.
func (r *reading) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	resumed := p.Next != ""
	whole := p.Full && !resumed
	if !resumed {
		if err := r.start(ctx, &p, yield); err != nil {
			return err
		}
	}
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
		r.begun = r.Now()
		part := func(page source.SyncPage, done id) error { return r.save(page, done, &p, yield) }
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
		if p, err = r.pass(&page, p, query, found.Links.Next, whole); err != nil {
			return err
		}
		if err := atlassian.Yield(page, p, yield); err != nil || page.Last {
			return err
		}
	}
}

// start does what comes before a new reading: a full scan needs the space, and changes begin with what failed before.
func (r *reading) start(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	switch {
	case p.Full:
		_, err := r.spaceID(ctx)
		return err
	case !p.Retried:
		return r.retry(ctx, p, yield)
	}
	return nil
}

// save yields page, which has the results up to done, with the checkpoint p after them.
func (r *reading) save(page source.SyncPage, done id, p *checkpoint, yield func(source.SyncPage) bool) error {
	p.Done = done
	r.count(p, page)
	r.Note(&p.Openings, p.Full, page.Unread)
	return atlassian.Yield(page, *p, yield)
}

// count adds the files on page to those that a full scan has listed. Nothing else is counted: by checkpoints that repeat, a sync finds pages
// that lead back to an earlier one.
func (r *reading) count(p *checkpoint, page source.SyncPage) {
	if p.Full && r.kind == attachments {
		p.Found += len(page.Items)
	}
}

// pass completes page, which has the last results of a query, and returns the checkpoint after it. link leads to the next page. whole
// means that this call has read a full scan from its start.
func (r *reading) pass(page *source.SyncPage, p checkpoint, query url.Values, link string, whole bool) (checkpoint, error) {
	p.Done = ""
	r.Note(&p.Openings, p.Full, page.Unread)
	var err error
	if p.Next, err = next(query, link); err != nil {
		return p, err
	}
	if r.count(&p, *page); p.Found >= r.most && p.Next != "" {
		p.Next, page.Notice = "", r.tooMany()
	}
	if page.Last = p.Next == ""; page.Last {
		if whole && !r.single { // else what fails may be on pages before
			page.Unread = append(page.Unread, r.resultsName(), r.restrictionsName()) // what fails next ends a sync again
		}
		p = checkpoint{Since: p.Begun, Openings: atlassian.Openings{Rescan: p.Rescan}}
	}
	return p, nil
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
	return all + fmt.Sprintf(` and lastmodified >= now("-%dm") order by lastmodified desc`, atlassian.MinutesBetween(p.Since.Add(-overlap), r.Now()))
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
