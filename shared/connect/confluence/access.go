package confluence

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// readRestrictions are the expansions with who may read a page.
const readRestrictions = "restrictions.read.restrictions.user,restrictions.read.restrictions.group"

const perLookup = 50 // pages of one request for restrictions

// restriction lists who may read a page. Nobody in it means everybody.
type restriction struct {
	Restrictions struct {
		User struct {
			Results []atlassian.User `json:"results"`
			Size    int              `json:"size"`
		} `json:"user"`
		Group struct {
			Results []group `json:"results"`
			Size    int     `json:"size"`
		} `json:"group"`
	} `json:"restrictions"`
}

// isComplete reports whether r has both lists. Without one, nobody in the other does not mean everybody.
func (r *restriction) isComplete() bool {
	return r.Restrictions.User.Results != nil && r.Restrictions.Group.Results != nil
}

type group struct {
	ID   string `json:"id"` // Cloud
	Name string `json:"name"`
}

// audienceOf returns who a restriction names.
func (d *directory) audienceOf(r *restriction) atlassian.Audience {
	var a atlassian.Audience
	for _, u := range r.Restrictions.User.Results {
		d.know(u)
		a.Add(u)
	}
	for _, g := range r.Restrictions.Group.Results {
		d.GroupIDs[g.Name] = g.ID
		a.AddGroup(g.Name)
	}
	users, groups := r.Restrictions.User, r.Restrictions.Group
	if len(users.Results)+len(groups.Results)+users.Size+groups.Size == 0 { // those that the account of the token may not see have a size
		return atlassian.Everyone()
	}
	return a
}

// audience returns who may read a page: everyone who may view the space and is in the restrictions of the page and of
// each page above it. Anyone of whom this is unknown may not.
func (r *reading) audience(page content) atlassian.Audience {
	a := r.spaceReaders
	for _, p := range append(slices.Clone(page.Ancestors), page) {
		a = atlassian.Both(a, r.restricted[p.ID], r.members)
	}
	return a
}

// containers returns the pages that comments or attachments are on, by id.
func (r *reading) containers(ctx context.Context, found []content) (map[id]content, error) {
	var ids []id
	listed := map[id]bool{}
	for _, c := range found {
		if c.Container.Type == "page" && !listed[c.Container.ID] {
			ids, listed[c.Container.ID] = append(ids, c.Container.ID), true
		}
	}
	about := map[id]content{}
	var first error // the first failure of a page that has not failed before; the others are still tried, to find all that fail
	for chunk := range slices.Chunk(ids, perLookup) {
		var pages []content
		leftOut, err := r.before.Try(ctx, r.restrictionsName(), func(ctx context.Context) (err error) {
			pages, err = r.byID(ctx, chunk)
			return err
		})
		if leftOut {
			r.single = true
			pages, err = r.eachByID(ctx, chunk)
		}
		if source.IsOfOne(err) {
			first = cmp.Or(first, err)
		} else if err != nil {
			return nil, err
		}
		for _, p := range pages {
			about[p.ID] = p
		}
	}
	return about, first
}

// eachByID is like byID, but sends a request for each page. A page whose request fails again has no readers.
func (r *reading) eachByID(ctx context.Context, ids []id) (all []content, err error) {
	var first error
	for _, one := range ids {
		var found []content
		leftOut, err := r.before.Try(ctx, r.pageURI(one), func(ctx context.Context) (err error) {
			found, err = r.byID(ctx, []id{one})
			return err
		})
		switch {
		case leftOut:
			r.closePage(one)
			found = []content{{ID: one}}
		case source.IsOfOne(err):
			first = cmp.Or(first, err)
		case err != nil:
			return nil, err
		}
		for _, p := range found {
			r.learnReaders(p)
		}
		all = append(all, found...)
	}
	return all, first
}

// closePage notes that the readers of a page could not be read, again. So the page has none.
func (r *reading) closePage(page id) {
	if r.private[page] {
		return
	}
	r.restricted[page] = atlassian.Audience{}
	r.private[page], r.Closed = true, true
	r.closed = append(r.closed, source.FailedAgain(r.pageURI(page), "Confluence does not return who may read it, so that no person does"))
}

// restrictionsName is what a request for the restrictions of several pages is called.
func (r *reading) restrictionsName() string {
	return "the restrictions of pages of the space " + r.space
}

// byID reads the restrictions of pages.
func (r *reading) byID(ctx context.Context, ids []id) ([]content, error) {
	texts := make([]string, len(ids))
	for i, one := range ids {
		if !isNumber(string(one)) {
			return nil, &source.SyncError{Code: source.Unreadable, Detail: "Confluence sent an invalid id."}
		}
		texts[i] = string(one)
	}
	found, err := r.search(ctx, url.Values{"cql": {"id in (" + strings.Join(texts, ",") + ")"},
		"expand": {"space,ancestors," + readRestrictions}, "limit": {strconv.Itoa(perLookup)}})
	return found.Results, err
}

// prepare reads what audience needs: the permissions of the space, and the restrictions
// of the pages and of those above them. Nobody reads a page of which Confluence does not say what it is below.
func (r *reading) prepare(ctx context.Context, found []content, about map[id]content) error {
	r.Ctx = ctx
	if err := r.readSpaceReaders(ctx); err != nil {
		return err
	}
	var wanted []id
	listed := map[id]bool{}
	add := func(p content) {
		if _, known := r.restricted[p.ID]; !known && !listed[p.ID] {
			wanted, listed[p.ID] = append(wanted, p.ID), true
		}
	}
	if r.kind != pages {
		found = slices.Collect(maps.Values(about))
	}
	for _, p := range found {
		r.learnReaders(p)
		add(p)
		for _, above := range p.Ancestors {
			add(above)
		}
	}
	var first error // the first failure of a page that has not failed before; the others are still tried, to find all that fail
	for chunk := range slices.Chunk(wanted, perLookup) {
		var known []content
		leftOut, err := r.before.Try(ctx, r.restrictionsName(), func(ctx context.Context) (err error) {
			known, err = r.byID(ctx, chunk)
			return err
		})
		r.single = r.single || leftOut // each is read below
		if source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		}
		if err != nil {
			return err
		}
		for _, p := range known {
			r.learn(p)
		}
		for _, one := range chunk {
			if err := r.readRestriction(ctx, one); source.IsOfOne(err) {
				first = cmp.Or(first, err)
			} else if err != nil {
				return err
			}
		}
	}
	return first
}

// learnReaders remembers what came with a page about who may read it.
func (r *reading) learnReaders(p content) {
	if p.Ancestors == nil { // not told; those of a page at the top are an empty list
		r.closePage(p.ID)
	}
	r.learn(p)
}

// learn remembers the restrictions that came with a page, unless its readers could not be read.
func (r *reading) learn(p content) {
	if !r.private[p.ID] && p.Restrictions != nil && p.Restrictions.Read != nil && p.Restrictions.Read.isComplete() {
		r.restricted[p.ID] = r.audienceOf(p.Restrictions.Read)
	}
}

// readRestriction reads the restrictions of a page, unless they are known. If the account
// may not see them, nobody reads the page.
func (r *reading) readRestriction(ctx context.Context, page id) error {
	if _, known := r.restricted[page]; known {
		return nil
	}
	var one restriction
	invisible := false
	leftOut, err := r.before.Try(ctx, r.pageURI(page), func(ctx context.Context) (err error) {
		one, err = atlassian.Get[restriction](ctx, r.Site, "the restrictions of page "+string(page),
			"/rest/api/content/"+string(page)+"/restriction/byOperation/read", url.Values{"expand": {"restrictions.user,restrictions.group"}})
		if invisible = atlassian.Invisible(err); invisible {
			return nil
		}
		if err == nil && !one.isComplete() {
			return &source.SyncError{Code: source.Unreadable, Detail: "Confluence sent no restrictions of page " + string(page) + "."}
		}
		return err
	})
	switch {
	case invisible:
		r.restricted[page] = atlassian.Audience{}
		r.Unknown("the restrictions of page "+string(page), "let the account of the token view it")
	case leftOut:
		r.closePage(page)
	case err == nil:
		r.restricted[page] = r.audienceOf(&one)
	}
	return err
}
