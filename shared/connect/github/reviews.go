package github

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/source"
)

// The texts of reviews are read by GraphQL: REST lists the reviews of one pull request only. Pull requests are listed by their last change,
// newest first, up to those that have not changed since the last reading. One that changes in the meantime moves to the front, where the
// next reading finds it.

// maxHeld is how many reviews are held before they are stored.
const maxHeld = 100

const (
	reviewsOf = `states:[APPROVED,CHANGES_REQUESTED,COMMENTED,DISMISSED]){nodes{url body submittedAt updatedAt author{login __typename}} pageInfo{hasNextPage endCursor}}`

	moreQuery = `query($owner:String!,$name:String!,$number:Int!,$after:String){repository(owner:$owner,name:$name){` +
		`pullRequest(number:$number){reviews(first:100,after:$after,` + reviewsOf + `}}}`
)

// reviewList is a page of the reviews of a pull request.
type reviewList struct {
	Nodes []*struct {
		URL         string
		Body        string
		SubmittedAt time.Time
		UpdatedAt   time.Time
		Author      struct {
			Login string
			Type  string `json:"__typename"`
		}
	}
	PageInfo struct {
		HasNextPage bool
		EndCursor   string
	}
}

// addReviews adds the reviews that have a text to page, and names the pull request of one that GitHub does not return.
func (s *session) addReviews(page *source.SyncPage, of pull, list reviewList) error {
	for _, n := range list.Nodes {
		if n == nil { // GitHub does not return this one, whenever it is asked
			page.Skipped = append(page.Skipped, source.SkippedItem{URI: s.html + "pull/" + strconv.Itoa(of.Number), Why: "GitHub does not return one of its reviews"})
			continue
		}
		if n.URL == "" {
			return emptyReply()
		}
		if strings.TrimSpace(n.Body) == "" {
			continue
		}
		r := Review{HTMLURL: n.URL, Body: n.Body, User: User{n.Author.Login}, SubmittedAt: n.SubmittedAt, UpdatedAt: n.UpdatedAt}
		if n.Author.Type == "Bot" {
			r.User.Login += "[bot]" // as REST and events have it
		}
		i := r.Item(s.repository, strconv.Itoa(of.Number), "")
		i.URI, _ = s.originalURL(i.URI)
		i.About, _, _ = strings.Cut(i.URI, "#")
		page.Items = append(page.Items, *i)
	}
	return nil
}

// readReviews reads the reviews of the pull requests that changed since p.
func (s *session) readReviews(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	if s.anonymous { // GraphQL wants a token
		yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true})
		return nil
	}
	r := reviewReading{session: s, yield: yield, p: p, begun: s.Now()}
	resumed := p.Cursor != ""
	if !resumed && !p.Since.IsZero() { // a full scan meets them
		if err := r.readFailed(ctx); err != nil {
			return err
		}
	}
	for lister := (pullLister{session: s}); ; {
		list, err := lister.next(ctx, r.p.Cursor)
		var failed *source.SyncError
		switch {
		case errors.As(err, &failed) && failed.Code == source.Refused && resumed: // the cursor has expired
			r.p.Cursor, r.p.Newest, resumed = "", time.Time{}, false
			continue
		case err != nil:
			return err
		}
		resumed = false
		last, err := r.readPulls(ctx, list)
		if err != nil {
			return err
		}
		if last || !list.PageInfo.HasNextPage {
			return r.end()
		}
		if err := r.flush(); err != nil {
			return err
		}
	}
}

// reviewReading is one call of readReviews.
type reviewReading struct {
	*session
	yield func(source.SyncPage) bool
	p     checkpoint
	page  source.SyncPage // read and not yielded yet
	begun time.Time       // when the reading of page began
}

// flush yields the page and begins another.
func (r *reviewReading) flush() error {
	r.page.Checkpoint, r.page.Notice = source.EncodeCheckpoint(r.p), r.renamed(r.p.Name)
	if !r.yield(r.page) {
		return source.ErrStopped
	}
	r.page, r.begun = source.SyncPage{}, r.Now()
	return nil
}

// end yields the last page.
func (r *reviewReading) end() error {
	if r.page.Last = true; r.p.Newest.After(r.p.Since) {
		r.p.Since = r.p.Newest
	}
	r.p = checkpoint{Since: r.p.Since, Name: r.p.Name}
	return r.flush()
}

// readFailed reads the reviews again that could not be read before.
func (r *reviewReading) readFailed(ctx context.Context) error {
	for _, uri := range r.access.Failed {
		number, _ := strconv.Atoi(path.Base(strings.TrimSuffix(uri, reviewsMark)))
		if err := r.readPull(ctx, &r.page, pull{Number: number}, r.flush); err != nil {
			return err
		}
	}
	return nil
}

// readPulls reads the reviews of the pull requests of a list. last: the list reaches those that have not changed.
func (r *reviewReading) readPulls(ctx context.Context, list pullList) (last bool, err error) {
	for _, e := range list.Edges {
		if e.Node == nil {
			r.p.Cursor = e.Cursor
			r.page.Skipped = append(r.page.Skipped, source.SkippedItem{URI: r.html + "pulls", Why: "GitHub does not return one of the pull requests"})
			continue
		}
		if r.p.Newest.IsZero() {
			r.p.Newest = e.Node.UpdatedAt
		}
		if e.Node.UpdatedAt.Before(r.p.Since) {
			return true, nil
		}
		if err := r.readPull(ctx, &r.page, *e.Node, r.flush); err != nil {
			return false, err
		}
		_, name := r.originalURL(e.Node.URL)
		r.p.Name, r.p.Cursor = name, e.Cursor
		if r.Now().Sub(r.begun) >= source.LongPage {
			if err := r.flush(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// reviewsMark ends the URI by which the reviews of a pull request are remembered when they cannot be read.
const reviewsMark = "#reviews"

// readPull adds all reviews of a pull request to page. It calls flush when there are many. Those that GitHub failed to return in an earlier
// reading too are left out, so that they hold up no other pull request; see source.Access.Try.
func (s *session) readPull(ctx context.Context, page *source.SyncPage, of pull, flush func() error) error {
	uri := s.html + "pull/" + strconv.Itoa(of.Number) + reviewsMark
	list, after := of.Reviews, ""
	for {
		if list == nil {
			leftOut, err := s.access.Try(ctx, uri, func(ctx context.Context) (err error) {
				list, err = s.reviewsAfter(ctx, of.Number, after)
				return err
			})
			if err != nil {
				return err
			}
			if leftOut {
				page.Failed = append(page.Failed, source.FailedAgain(uri, "GitHub does not return all reviews"))
				return nil
			}
		}
		if err := s.addReviews(page, of, *list); err != nil {
			return err
		}
		if len(page.Items) >= maxHeld {
			if err := flush(); err != nil {
				return err
			}
		}
		if !list.PageInfo.HasNextPage {
			if slices.Contains(s.access.Failed, uri) {
				page.Unread = append(page.Unread, uri) // it need not be tried again
			}
			return nil
		}
		if list.PageInfo.EndCursor == after {
			return emptyReply() // it would never end
		}
		list, after = nil, list.PageInfo.EndCursor
	}
}

// reviewsAfter returns a page of the reviews of a pull request, after a cursor if that is not empty. One that is gone has none.
func (s *session) reviewsAfter(ctx context.Context, number int, after string) (*reviewList, error) {
	var reply struct {
		Repository *struct{ PullRequest *pull }
	}
	about := map[string]any{"number": number}
	if after != "" {
		about["after"] = after
	}
	err := s.query(ctx, moreQuery, about, attempts, true, &reply)
	var failed *source.SyncError
	switch {
	case errors.As(err, &failed) && failed.Code == source.NotThere:
		return &reviewList{}, nil
	case err != nil:
		return nil, err
	case reply.Repository == nil || reply.Repository.PullRequest == nil:
		return nil, emptyReply()
	}
	list := reply.Repository.PullRequest.Reviews
	if list == nil || list.Nodes == nil {
		return nil, emptyReply()
	}
	return list, nil
}
