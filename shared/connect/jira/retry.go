package jira

import (
	"context"
	"net/url"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// retry reads the issues that earlier syncs could not read completely, and repeats their failed lookups. After a lookup
// succeeds, a full scan gives the items that depend on it their readers.
func (r *reading) retry(ctx context.Context, p *checkpoint, yield func(source.SyncPage) bool) error {
	var found []issue
	var left source.SyncPage
	answered := 0
	add := func(page source.SyncPage, _ string) error {
		answered += len(r.opened)
		return r.save(page, p, yield)
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
		one, again, err := r.issueOf(ctx, uri, key)
		switch {
		case again:
			left.Failed = append(left.Failed, source.FailedAgain(uri, "Jira does not return it"))
		case err != nil:
			return err
		case !strings.EqualFold(one.Key, key):
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

// issueOf reads the issue with a key. again means that it has failed again. One that the account may not see, or that has moved, has another
// key or none.
func (r *reading) issueOf(ctx context.Context, uri, key string) (one issue, again bool, err error) {
	again, err = r.before.Try(ctx, uri, func(ctx context.Context) (err error) {
		one, err = atlassian.Get[issue](ctx, r.Site, "the issue "+key, r.api+"/issue/"+url.PathEscape(key), url.Values{"fields": {fields}})
		if atlassian.Invisible(err) {
			return nil
		}
		return err
	})
	return one, again, err
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
	} else if id, ok := strings.CutPrefix(what, membersOfRoleID); ok {
		_, err = r.inRoles(ctx, []string{id})
	} else if name, ok := strings.CutPrefix(what, membersOfRole); ok {
		_, err = r.readersWithin(ctx, atlassian.Everyone(), visibility{Type: "role", Value: name})
	}
	return err
}
