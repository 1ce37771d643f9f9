package jira

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// read yields the pages from p on.
func (r *reading) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	resumed := p.JQL != ""
	if !resumed {
		if err := r.start(ctx, &p, yield); err != nil {
			return err
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
		if err != nil {
			return r.explained(ctx, err)
		}
		resumed = false
		page, err := r.page(ctx, found.after(p.Done), func(part source.SyncPage, done string) error {
			p.Done = done
			return r.save(part, &p, yield)
		})
		if err != nil {
			return err
		}
		if p, err = r.pass(&page, p, found); err != nil {
			return err
		}
		if err := atlassian.Yield(page, p, yield); err != nil || page.Last {
			return err
		}
	}
}

// start does what comes before a new reading: a full scan needs the project, and changes begin with what failed before.
func (r *reading) start(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	switch {
	case p.Full:
		return r.readProject(ctx)
	case !p.Retried:
		return r.retry(ctx, p, yield)
	}
	return nil
}

// explained returns the failure of a search. Jira refuses one in a project that is not there.
func (r *reading) explained(ctx context.Context, err error) error {
	if atlassian.IsCode(err, source.Refused) {
		if missing := r.readProject(ctx); missing != nil {
			return missing
		}
	}
	return err
}

// save yields a page with the checkpoint p, in which it notes the lookups that succeeded again.
func (r *reading) save(page source.SyncPage, p *checkpoint, yield func(source.SyncPage) bool) error {
	r.Note(&p.Openings, p.Full, r.opened)
	return atlassian.Yield(page, *p, yield)
}

// pass returns the checkpoint after page, which has the last issues of found.
func (r *reading) pass(page *source.SyncPage, p checkpoint, found results) (_ checkpoint, err error) {
	p.Done = ""
	r.Note(&p.Openings, p.Full, r.opened)
	if p, page.Last, err = found.next(p, r.Cloud); err != nil {
		return p, err
	}
	if page.Last {
		p = checkpoint{Since: p.Begun, Openings: atlassian.Openings{Rescan: p.Rescan}}
	}
	return p, nil
}

// begin returns p with the query of a new reading.
func (r *reading) begin(p checkpoint) checkpoint {
	p.Token, p.Start, p.Done = "", 0, ""
	p.JQL = `project = "` + r.project + `"`
	if p.Full {
		p.JQL += " ORDER BY created DESC"
	} else {
		p.JQL += fmt.Sprintf(" AND updated >= -%dm ORDER BY updated DESC", atlassian.MinutesBetween(p.Since.Add(-overlap), r.Now()))
	}
	return p
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
