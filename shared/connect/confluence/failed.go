package confluence

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// retry tries again what earlier syncs could not read: files, who may read a page, and who is in a group. When the latter is known again, a full scan opens what
// depends on it.
func (r *reading) retry(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	r.ctx = ctx
	var page source.SyncPage
	for _, uri := range r.before.Failed {
		var err error
		if on, comment, ok := r.idsOf(uri); ok && comment == "" {
			err = r.readRestriction(ctx, on)
		} else if _, file, ok := r.attachmentOf(uri); ok {
			err = r.retryFile(ctx, uri, file, &page)
		} else if name, group, ok := atlassian.GroupOf(uri); ok {
			r.groupIDs[name] = group
			r.members(name)
			err = r.failed
		}
		if err != nil {
			return err
		}
	}
	page.Failed, page.Unread = append(page.Failed, r.closed...), slices.Concat(page.Unread, r.opened(), r.Answered)
	r.closed, r.Answered = nil, nil
	if len(page.Failed)+len(page.Unread)+len(page.Items) == 0 {
		return nil
	}
	page.Checkpoint = source.EncodeCheckpoint(p)
	if !yield(page) {
		return source.ErrStopped
	}
	if slices.ContainsFunc(page.Unread, func(uri string) bool { _, _, file := r.attachmentOf(uri); return !file }) {
		return source.ErrFullScanNeeded // what depends on it gets its readers
	}
	return nil
}

// retryFile adds an attachment to page, which the sync then downloads.
func (r *reading) retryFile(ctx context.Context, uri string, file id, page *source.SyncPage) error {
	var found results
	leftOut, err := r.before.Try(ctx, uri, func(ctx context.Context) (err error) {
		found, err = r.search(ctx, url.Values{"cql": {"id in (" + strings.TrimPrefix(string(file), "att") + ")"}, "expand": {r.expand()}, "limit": {strconv.Itoa(perPage)}})
		return err
	})
	var some source.SyncPage
	if !leftOut && err == nil {
		some, err = r.page(ctx, found.Results)
	}
	switch {
	case leftOut:
		page.Failed = append(page.Failed, source.FailedAgain(uri, "Confluence does not return it"))
		return nil
	case err != nil:
		return err
	case len(some.Items) == 0:
		page.Unread = append(page.Unread, uri) // the next full scan asks what became of it
	}
	page.Items, page.Failed, page.Unread = append(page.Items, some.Items...), append(page.Failed, some.Failed...), append(page.Unread, some.Unread...)
	return nil
}

// opened returns the uris of pages whose readers an earlier sync could not read, and which are known now.
func (r *reading) opened() (uris []string) {
	for _, uri := range r.before.Failed {
		page, comment, ok := r.idsOf(uri)
		if _, known := r.restricted[page]; ok && comment == "" && known && !r.private[page] {
			uris = append(uris, uri)
		}
	}
	return uris
}
