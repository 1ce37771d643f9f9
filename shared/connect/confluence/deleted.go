package confluence

import (
	"context"
	"net/url"
	"strings"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// PartContains reports whether the item of uri belongs to a part.
func (c *Connector) PartContains(s source.Settings, part, uri string) bool {
	r := c.open(source.Access{Settings: s}, part)
	if r.kind == attachments {
		_, _, ok := r.attachmentOf(uri)
		return ok
	}
	_, comment, ok := r.idsOf(uri)
	return ok && (comment != "") == (r.kind == comments)
}

// IsDeleted asks Confluence for one page, comment or attachment. One in the trash or in
// another space is deleted, and one that the account may no longer view. An attachment that
// was renamed or moved to another page has another URI.
func (c *Connector) IsDeleted(ctx context.Context, a source.Access, part, uri string) (bool, error) {
	r := c.open(a, part)
	page, comment, ok := r.idsOf(uri)
	var attachment id
	if r.kind == attachments {
		page, attachment, ok = r.attachmentOf(uri)
	}
	if !ok {
		return false, nil // not a URI of Confluence, so Confluence cannot be asked
	}
	space, err := r.spaceID(ctx) // without it nothing is known
	if err != nil {
		return false, err
	}
	gone, err := r.pageGone(ctx, page, space)
	switch {
	case gone || err != nil:
		return gone, err
	case attachment != "":
		return r.attachmentGone(ctx, attachment, page, uri)
	case comment != "":
		return r.commentGone(ctx, comment, page)
	default:
		return false, nil
	}
}

// state is a page, comment or attachment in the form of both APIs.
type state struct {
	Status  string `json:"status"`
	SpaceID id     `json:"spaceId"` // Cloud
	PageID  id     `json:"pageId"`  // Cloud, of a comment or attachment
	Title   string `json:"title"`
	Space   struct {
		Key string `json:"key"`
	} `json:"space"` // Data Center
	Container struct {
		ID id `json:"id"`
	} `json:"container"` // Data Center
}

func (r *reading) pageGone(ctx context.Context, page, space id) (bool, error) {
	path := "/rest/api/content/" + string(page)
	if r.Cloud {
		path = "/api/v2/pages/" + string(page)
	}
	s, gone, err := r.state(ctx, path, "space")
	if gone || err != nil {
		return gone, err
	}
	if r.Cloud {
		return s.SpaceID != space, nil
	}
	return !strings.EqualFold(s.Space.Key, r.space), nil
}

func (r *reading) commentGone(ctx context.Context, comment, page id) (bool, error) {
	if !r.Cloud {
		s, gone, err := r.state(ctx, "/rest/api/content/"+string(comment), "container")
		return gone || s.Container.ID != page, err
	}
	s, gone, err := r.state(ctx, "/api/v2/footer-comments/"+string(comment), "")
	if gone && err == nil {
		s, gone, err = r.state(ctx, "/api/v2/inline-comments/"+string(comment), "")
	}
	return gone || s.PageID != page, err
}

func (r *reading) attachmentGone(ctx context.Context, attachment, page id, uri string) (bool, error) {
	path := "/rest/api/content/" + string(attachment)
	if r.Cloud {
		path = "/api/v2/attachments/" + string(attachment)
	}
	s, gone, err := r.state(ctx, path, "container")
	on := s.Container.ID
	if r.Cloud {
		on = s.PageID
	}
	return gone || on != page || r.attachmentURI(page, attachment, s.Title) != uri, err
}

// state reads one page, comment or attachment, and reports whether it is gone.
func (r *reading) state(ctx context.Context, path, expand string) (s state, gone bool, err error) {
	q := url.Values{}
	if expand != "" && !r.Cloud {
		q.Set("expand", expand)
	}
	s, err = atlassian.Get[state](ctx, r.Site, "an item of the space "+r.space, path, q)
	if atlassian.Invisible(err) {
		return s, true, nil
	}
	told := s.SpaceID != "" || s.PageID != "" || s.Space.Key != "" || s.Container.ID != "" // where it is
	if err == nil && (s.Status == "" || s.Status == "current" && !told) {
		err = &source.SyncError{Code: source.Unreadable, Detail: "Confluence does not say where an item of the space " + r.space + " is."}
	}
	return s, err == nil && s.Status != "current", err
}

// spaceID returns the id of the space; that of a Data Center is not used. It returns a
// *source.SyncError if the account cannot see the space.
func (r *reading) spaceID(ctx context.Context) (id, error) {
	if r.knownSpace != "" {
		return r.knownSpace, nil
	}
	type space struct {
		ID  id     `json:"id"`
		Key string `json:"key"`
	}
	missing := &source.SyncError{Code: source.NotThere,
		Detail: "The space " + r.space + " does not exist in Confluence, or the account of the token may not view it. Check also the base address."}
	what := "the space " + r.space
	if !r.Cloud {
		one, err := atlassian.Get[space](ctx, r.Site, what, "/rest/api/space/"+url.PathEscape(r.space), nil)
		if atlassian.IsCode(err, source.NotThere) {
			missing.Cause = err
			return "", r.Hidden(missing)
		}
		r.knownSpace = one.ID
		return one.ID, err
	}
	all, err := atlassian.Get[struct {
		Results []space `json:"results"`
	}](ctx, r.Site, what, "/api/v2/spaces", url.Values{"keys": {r.space}})
	if err != nil {
		return "", err
	}
	for _, one := range all.Results {
		if strings.EqualFold(one.Key, r.space) {
			r.knownSpace = one.ID
			return one.ID, nil
		}
	}
	return "", r.Hidden(missing)
}
