package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"docent/shared/source"
)

// record is an issue, a pull request or a comment.
type record interface {
	item(project string) *source.Item
	changed() time.Time
}

type issue struct{ Issue }

func (i issue) item(project string) *source.Item { return i.Item(project) }
func (i issue) changed() time.Time               { return i.UpdatedAt }

type comment struct{ Comment }

func (c comment) changed() time.Time { return c.UpdatedAt }

func (c comment) item(project string) *source.Item {
	on := c.IssueURL
	if on == "" {
		on = c.PullRequestURL
	}
	about, _, _ := strings.Cut(c.HTMLURL, "#")
	i := c.Item(project, path.Base(on), "", strings.Contains(about, "/pull/"))
	i.About = about
	return i
}

// readRecords reads the issues, comments or review comments that changed since p.
func (s *session) readRecords(ctx context.Context, kind string, p checkpoint, yield func(source.SyncPage) bool) error {
	for {
		tag, unchanged, records, err := s.list(ctx, kind, p)
		if err != nil {
			return err
		}
		if unchanged {
			yield(source.SyncPage{Checkpoint: source.EncodeCheckpoint(p), Last: true, Notice: s.renamed(p.Name)})
			return nil
		}
		page := source.SyncPage{Items: make([]source.Item, 0, len(records))}
		last, name := p.Since, p.Name
		for _, r := range records {
			i := r.item(s.repository)
			i.URI, name = s.originalURL(i.URI)
			i.About, _ = s.originalURL(i.About)
			page.Items = append(page.Items, *i)
			if r.changed().After(last) {
				last = r.changed()
			}
		}
		full := len(records) >= perPage || s.more // GitHub hides spam, so that a page with a next one may be short, or empty
		switch {
		case full && last.Equal(p.Since):
			p.Page = max(p.Page, 1) + 1 // more records of one time than a page has
		case full:
			p = checkpoint{Since: last}
		case last.Equal(p.Since) && p.Page <= 1:
			p = checkpoint{Since: last, ETag: tag} // the next sync sends the same request
		default:
			p = checkpoint{Since: last}
		}
		p.Name = name
		page.Checkpoint, page.Last, page.Notice = source.EncodeCheckpoint(p), !full, s.renamed(name)
		if !yield(page) {
			return source.ErrStopped
		}
		if !full {
			return nil
		}
	}
}

// originalURL returns uri with the repository's configured name, and the current name
// if uri has another.
func (s *session) originalURL(uri string) (string, string) {
	rest, ok := below(strings.TrimSuffix(s.html, s.repository+"/"), uri)
	if !ok {
		return uri, ""
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 3 {
		return uri, ""
	}
	name := parts[0] + "/" + parts[1]
	if strings.EqualFold(name, s.repository) {
		return uri, ""
	}
	return s.html + parts[2], name
}

// renamed returns the notice that the repository is now called name, or nil if name is
// empty.
func (s *session) renamed(name string) *source.SyncError {
	if name == "" {
		return nil
	}
	return &source.SyncError{Code: source.Renamed, Detail: s.repository + " is called " + name +
		" now. It is read under its old name as long as GitHub redirects it, but webhooks of the new name are ignored. Connect it again under its new name and remove this one."}
}

// list reads a page of records.
func (s *session) list(ctx context.Context, kind string, p checkpoint) (tag string, unchanged bool, records []record, err error) {
	q := url.Values{"sort": {"updated"}, "direction": {"asc"}, "per_page": {strconv.Itoa(perPage)}}
	if !p.Since.IsZero() {
		q.Set("since", p.Since.UTC().Format(time.RFC3339))
	}
	if p.Page > 1 {
		q.Set("page", strconv.Itoa(p.Page))
	}
	at := "repos/" + s.repository
	if kind == issues {
		q.Set("state", "all")
		var all []issue
		tag, unchanged, err = s.get(ctx, at+"/issues?"+q.Encode(), "", p.ETag, func() any { all = nil; return &all })
		if err == nil && all == nil && !unchanged {
			err = emptyReply()
		}
		for _, i := range all {
			records = append(records, i)
		}
		return tag, unchanged, records, err
	}
	at += map[string]string{comments: "/issues/comments?", lineComments: "/pulls/comments?"}[kind]
	var all []comment
	tag, unchanged, err = s.get(ctx, at+q.Encode(), "", p.ETag, func() any { all = nil; return &all })
	if err == nil && all == nil && !unchanged {
		err = emptyReply()
	}
	for _, c := range all {
		records = append(records, c)
	}
	return tag, unchanged, records, err
}

// emptyReply returns the error for a reply without a value.
func emptyReply() error {
	return &source.SyncError{Code: source.Unreadable, Detail: "GitHub sent an empty reply."}
}

// PartContains reports whether the item of uri belongs to a part.
func (c *Connector) PartContains(settings source.Settings, part, uri string) bool {
	repository, kind, _ := strings.Cut(part, " ")
	s, err := c.open(source.Access{Settings: settings}, repository)
	if err != nil {
		return false
	}
	rest, ok := below(s.html, uri)
	if !ok {
		return false
	}
	folder, _, _ := strings.Cut(rest, "/")
	_, fragment, _ := strings.Cut(rest, "#")
	record := folder == "issues" || folder == "pull"
	switch kind {
	case issues:
		return record && fragment == ""
	case comments:
		return record && strings.HasPrefix(fragment, "issuecomment-")
	case lineComments:
		return record && strings.HasPrefix(fragment, "discussion_r")
	case reviews:
		return record && strings.HasPrefix(fragment, reviewFragment)
	default:
		return folder == "blob"
	}
}

// below returns uri without prefix, ignoring case as GitHub does.
func below(prefix, uri string) (string, bool) {
	if len(uri) <= len(prefix) || !strings.EqualFold(uri[:len(prefix)], prefix) {
		return "", false
	}
	return uri[len(prefix):], true
}

// reviewFragment begins the fragment in the address of a review.
const reviewFragment = "pullrequestreview-"

// IsDeleted asks GitHub for one issue, pull request, comment or review. It is never called for
// a file, because archives are exact.
func (c *Connector) IsDeleted(ctx context.Context, a source.Access, part, uri string) (bool, error) {
	repository, kind, _ := strings.Cut(part, " ")
	s, err := c.open(a, repository)
	if err != nil {
		return false, err
	}
	rest, _ := below(s.html, uri)
	before, fragment, _ := strings.Cut(rest, "#")
	at, id := "issues/", path.Base(before)
	switch kind {
	case comments:
		at, id = "issues/comments/", strings.TrimPrefix(fragment, "issuecomment-")
	case lineComments:
		at, id = "pulls/comments/", strings.TrimPrefix(fragment, "discussion_r")
	case reviews:
		if s.anonymous {
			return false, nil // none is read
		}
		at, id = "pulls/"+id+"/reviews/", strings.TrimPrefix(fragment, reviewFragment)
	}
	if _, err := strconv.ParseUint(id, 10, 63); err != nil {
		return false, nil // not a URI of GitHub, so GitHub cannot be asked
	}
	var one struct {
		HTMLURL string `json:"html_url"`
		Body    string `json:"body"`
	}
	_, _, err = s.get(ctx, "repos/"+s.repository+"/"+at+id, "", "", func() any { return &one })
	if err == nil && one.HTMLURL == "" {
		return false, emptyReply()
	}
	if err == nil && kind == reviews && strings.TrimSpace(one.Body) == "" {
		return true, nil // its text
	}
	if err == nil {
		return s.moved(ctx, uri, one.HTMLURL)
	}
	var failed *source.SyncError
	if !errors.As(err, &failed) || failed.Code != source.NotThere {
		return false, err
	}
	// If the repository cannot be read either, the record may still exist.
	if _, _, err := s.get(ctx, "repos/"+s.repository, "", "", func() any { return &struct{}{} }); err != nil {
		return false, fmt.Errorf("read the repository: %w", err)
	}
	return true, nil
}

// moved reports whether a record with the uri known, now at another, was transferred to
// another repository, or is stored under an address that differs in case only, as after a repository or its owner was renamed so. A
// renamed repository does not count.
func (s *session) moved(ctx context.Context, known, now string) (bool, error) {
	if now == "" || now == known {
		return false, nil
	}
	own, name := s.originalURL(now)
	if !strings.EqualFold(own, known) {
		return true, nil
	}
	if name != "" {
		var about struct {
			Name string `json:"full_name"`
		}
		if _, _, err := s.get(ctx, "repos/"+s.repository, "", "", func() any { return &about }); err != nil {
			return false, fmt.Errorf("read the repository: %w", err)
		}
		if !strings.EqualFold(about.Name, name) {
			return true, nil
		}
	}
	if own == known || s.access.Stored == nil {
		return false, nil
	}
	stored, err := s.access.Stored(ctx, []string{own})
	return stored[own], err
}
