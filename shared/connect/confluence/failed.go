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

// notReturned says that an item could not be read, as half a sentence.
const notReturned = "Confluence does not return it"

// resultsName names a page of results, for Access.Try.
func (r *reading) resultsName() string { return "some " + r.kind + " of the space " + r.space }

// found returns a page of results, without those up to the one with the id done. If the page fails as it did before, or
// is too large, its results are read one by one, so that one that fails does not hold up the others.
func (r *reading) found(ctx context.Context, query url.Values, done id) (results, error) {
	var found results
	var other error // that no single result causes
	leftOut, err := r.before.Try(ctx, r.resultsName(), func(ctx context.Context) (err error) {
		if found, err = r.search(ctx, query); err != nil && ctx.Err() == nil && !atlassian.IsCode(err, source.Unreadable) {
			other, err = err, nil
		}
		return err
	})
	if leftOut || atlassian.IsCode(other, source.TooLarge) {
		return r.oneByOne(ctx, query, done)
	}
	found.Results = found.after(done)
	return found, cmp.Or(err, other)
}

// oneByOne returns a page of results, each read by its id. It returns only the first of them when much time has passed.
// Results that fail again are marked as unread.
func (r *reading) oneByOne(ctx context.Context, query url.Values, done id) (results, error) {
	r.single = true
	sparse := maps.Clone(query)
	sparse.Set("expand", r.sparse())
	found, err := r.search(ctx, sparse)
	if err != nil {
		return found, err
	}
	r.begun = r.Now()
	var all []content
	var first error // the first failure of a result that has not failed before; the others are still tried, to find all that fail
	rest := found.after(done)
	for n, c := range rest {
		var one results
		leftOut, err := r.before.Try(ctx, r.uriOf(c), func(ctx context.Context) (err error) {
			one, err = r.one(ctx, c.ID, r.expand())
			return err
		})
		switch {
		case leftOut:
			c.unread = true
			all = append(all, c)
		case source.IsOfOne(err):
			first = cmp.Or(first, err)
		case err != nil:
			return found, err
		}
		all = append(all, one.Results...)
		if first == nil && len(all) > 0 && n+1 < len(rest) && r.isLong() {
			found.cut = true
			break
		}
	}
	found.Results = all
	return found, first
}

// sparse returns the expansions of expand without those that may fail for a single result, or be large.
func (r *reading) sparse() string {
	switch r.kind {
	case comments:
		return "version,history,space,container"
	case attachments:
		return "space,container"
	default:
		return "version,history,space,ancestors"
	}
}

// one returns the content with an id, or none.
func (r *reading) one(ctx context.Context, i id, expand string) (results, error) {
	number := strings.TrimPrefix(string(i), "att")
	if !isNumber(number) {
		return results{}, &source.SyncError{Code: source.Unreadable, Detail: "Confluence sent an invalid id."}
	}
	return r.search(ctx, url.Values{"cql": {"id in (" + number + ")"}, "expand": {expand}, "limit": {strconv.Itoa(perPage)}})
}

// uriOf returns the uri of the item of c.
func (r *reading) uriOf(c content) string {
	switch r.kind {
	case comments:
		return r.commentURI(c.Container.ID, c.ID)
	case attachments:
		return r.attachmentURI(c.Container.ID, c.ID, c.Title)
	default:
		return r.pageURI(c.ID)
	}
}

// retry repeats what earlier syncs could not read: items, the readers of a page, and the members of a group. After a
// lookup of members succeeds, a full scan gives the items that depend on it their readers.
func (r *reading) retry(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	r.Ctx = ctx
	var page source.SyncPage
	opened := false
	flush := func() error {
		page.Failed, page.Unread = append(page.Failed, r.closed...), slices.Concat(page.Unread, r.opened(), r.Answered)
		r.closed, r.Answered = nil, nil
		if len(page.Failed)+len(page.Unread)+len(page.Items) == 0 {
			return nil
		}
		known := slices.DeleteFunc(slices.Clone(page.Unread), func(uri string) bool {
			_, comment, ok := r.idsOf(uri)
			_, _, isGroup := atlassian.GroupOf(uri)
			return !(ok && comment == "" || isGroup)
		})
		opened = opened || len(known) > 0
		r.Note(&p.Openings, p.Full, known)
		if page.Checkpoint = source.EncodeCheckpoint(p); !yield(page) {
			return source.ErrStopped
		}
		page = source.SyncPage{}
		return nil
	}
	for _, uri := range r.before.Failed {
		if len(page.Items) >= retriesAPage {
			if err := flush(); err != nil {
				return err
			}
		}
		var err error
		if on, comment, ok := r.idsOf(uri); ok && comment == "" {
			err = r.retryPage(ctx, uri, on, &page)
		} else if ok {
			_, err = r.retryItem(ctx, uri, comment, &page)
		} else if _, file, ok := r.attachmentOf(uri); ok {
			_, err = r.retryItem(ctx, uri, file, &page)
		} else if name, group, ok := atlassian.GroupOf(uri); ok {
			r.GroupIDs[name] = group
			r.members(name)
			err = r.Failed
		}
		if err != nil {
			return err
		}
	}
	p.Retried = true // what is read until then need not be tried again
	if err := flush(); err != nil {
		return err
	}
	if opened {
		return source.ErrFullScanNeeded // what depends on it gets its readers
	}
	return nil
}

// retryPage reads a page and who may read it. Comments and attachments need only its readers.
func (r *reading) retryPage(ctx context.Context, uri string, on id, page *source.SyncPage) error {
	if r.kind == pages {
		if leftOut, err := r.retryItem(ctx, uri, on, page); leftOut || err != nil {
			return err
		}
		return r.readRestriction(ctx, on)
	}
	if _, err := r.eachByID(ctx, []id{on}); err != nil || r.private[on] {
		return err
	}
	return r.readRestriction(ctx, on)
}

// retryItem reads an item again and adds it to page. The sync then downloads the file of an attachment. leftOut means that the item still fails.
func (r *reading) retryItem(ctx context.Context, uri string, i id, page *source.SyncPage) (leftOut bool, err error) {
	var found results
	leftOut, err = r.before.Try(ctx, uri, func(ctx context.Context) (err error) {
		found, err = r.one(ctx, i, r.expand())
		return err
	})
	var some source.SyncPage
	if !leftOut && err == nil {
		some, err = r.page(ctx, found.Results, nil) // of one result
	}
	switch {
	case leftOut:
		r.left[uri] = true
		page.Failed = append(page.Failed, source.FailedAgain(uri, notReturned))
		return true, nil
	case err != nil:
		return false, err
	case len(some.Items) == 0 && r.kind != pages:
		page.Unread = append(page.Unread, uri) // the next full scan asks what became of it
	}
	page.Items, page.Failed, page.Unread = append(page.Items, some.Items...), append(page.Failed, some.Failed...), append(page.Unread, some.Unread...)
	return false, nil
}

// opened returns the uris of pages whose readers an earlier sync could not read, and which are known now.
func (r *reading) opened() (uris []string) {
	for _, uri := range r.before.Failed {
		page, comment, ok := r.idsOf(uri)
		if _, known := r.restricted[page]; ok && comment == "" && known && !r.private[page] && !r.left[uri] {
			uris = append(uris, uri)
		}
	}
	return uris
}
