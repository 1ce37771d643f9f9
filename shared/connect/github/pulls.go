package github

import (
	"context"
	"errors"
	"slices"
	"time"

	"docent/shared/source"
)

const (
	pullsOf = `query($owner:String!,$name:String!,$first:Int!,$after:String){repository(owner:$owner,name:$name){` +
		`pullRequests(first:$first,after:$after,orderBy:{field:UPDATED_AT,direction:DESC}){edges{cursor node{number url updatedAt`

	pullsQuery = pullsOf + ` reviews(first:25,` + reviewsOf + `}} pageInfo{hasNextPage}}}}`

	// alone asks for pull requests without their reviews.
	alone = pullsOf + `}} pageInfo{hasNextPage}}}}`
)

type pull struct {
	Number    int
	URL       string
	UpdatedAt time.Time
	Reviews   *reviewList // nil: not read yet
}

type pullList struct {
	Edges []struct {
		Cursor string
		Node   *pull
	}
	PageInfo struct{ HasNextPage bool }
}

// pullsAPage is how many pull requests are asked for at a time: fewer after a request that GitHub fails to answer, because it fails when the
// reply takes it too long.
var pullsAPage = []int{25, 5, 1}

// pullLister lists pull requests, as many at a time as GitHub answers. Each size is tried once: a request that hangs takes a minute, and a
// page may take seven.
type pullLister struct {
	*session
	size int // index in pullsAPage
	left int // pull requests to list before more of them are asked for at a time
}

// next returns the pull requests after a cursor, or the first ones. One whose reviews GitHub fails to return comes alone and without them.
func (l *pullLister) next(ctx context.Context, after string) (pullList, error) {
	for {
		list, err := l.pulls(ctx, pullsQuery, after, pullsAPage[l.size])
		var failed *source.SyncError
		switch {
		case err == nil:
			l.answered(len(list.Edges))
			return list, nil
		case !errors.As(err, &failed) || failed.Code != source.Unreadable || ctx.Err() != nil:
			return pullList{}, err
		}
		if err := l.Pause(ctx, firstPause); err != nil {
			return pullList{}, err
		}
		if l.size+1 == len(pullsAPage) {
			list, err := l.pulls(ctx, alone, after, 1)
			l.answered(len(list.Edges))
			return list, err
		}
		l.left = pullsAPage[l.size]
		l.size++
	}
}

// answered notes that n pull requests were listed. Once those of the page that failed are, the next larger size is tried again.
func (l *pullLister) answered(n int) {
	if l.left -= n; l.left > 0 || l.size == 0 {
		return
	}
	if l.size--; l.size > 0 {
		l.left = pullsAPage[l.size-1] - pullsAPage[l.size]
	}
}

// pulls returns the pull requests after a cursor, or the first ones. query is pullsQuery, which is asked once, or alone. The node of one that
// GitHub does not return even alone is nil, and so is that of a review. Of several pull requests, that is a failure.
func (s *session) pulls(ctx context.Context, query, after string, first int) (pullList, error) {
	var reply struct {
		Repository *struct{ PullRequests *pullList }
	}
	about := map[string]any{"first": first}
	if after != "" {
		about["after"] = after
	}
	most := 1
	if query == alone {
		most = attempts
	}
	if err := s.query(ctx, query, about, most, first == 1, &reply); err != nil {
		return pullList{}, err
	}
	if reply.Repository == nil || reply.Repository.PullRequests == nil {
		return pullList{}, emptyReply()
	}
	list := *reply.Repository.PullRequests
	for _, e := range list.Edges {
		isRead := query == alone || e.Node != nil && e.Node.Reviews != nil && e.Node.Reviews.Nodes != nil && (first == 1 || !slices.Contains(e.Node.Reviews.Nodes, nil))
		if !isRead || e.Cursor == "" || e.Cursor == after {
			return pullList{}, emptyReply()
		}
	}
	if list.Edges == nil || list.PageInfo.HasNextPage && len(list.Edges) == 0 {
		return pullList{}, emptyReply()
	}
	return list, nil
}
