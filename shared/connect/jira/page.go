package jira

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

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
		before := len(page.Items)
		if err := r.add(ctx, &page, i); source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		} else if err != nil {
			return page, err
		}
		for _, item := range page.Items[before:] {
			size += len(item.Body)
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

// add adds an issue and the comments on it to page. Its error may be about one record; then it has tried the others of the issue.
func (r *reading) add(ctx context.Context, page *source.SyncPage, i issue) error {
	unread, denied, err := r.readComments(ctx, &i)
	if err != nil {
		return err
	}
	switch {
	case denied:
		page.Failed = append(page.Failed, source.FailedAgain(r.issueURI(i.Key), "the account of the token may not read all comments on it"))
	case unread:
		page.Failed = append(page.Failed, source.FailedAgain(r.issueURI(i.Key), "Jira does not return all comments on it"))
	}
	readers, err := r.readersOf(ctx, i)
	if err != nil {
		return err
	}
	comments := r.commentReaders(i, readers)
	item := r.issueItem(i, comments.all)
	item.CommentsUnread, item.CommentsDenied = unread, denied
	page.Items = append(page.Items, item)
	var first error
	for _, c := range i.Fields.Comment.Comments {
		who, err := comments.of(ctx, c)
		if source.IsOfOne(err) {
			first = cmp.Or(first, err)
			continue
		}
		if err != nil {
			return err
		}
		page.Items = append(page.Items, r.commentItem(i, c, who))
	}
	return first
}

// finish adds to page the notice and the lookups that succeeded again.
func (r *reading) finish(page *source.SyncPage) {
	r.opened, r.Answered = r.Answered, nil
	page.Notice, page.Unread = r.Notice, append(page.Unread, r.opened...)
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
