package confluence

import (
	"context"
	"strings"
	"time"

	"docent/shared/connect/atlassian"
	"docent/shared/filter"
	"docent/shared/source"
)

// id is the id of content. Some replies have it as a number.
type id string

// UnmarshalJSON reads a string or a number.
func (i *id) UnmarshalJSON(text []byte) error {
	*i = id(strings.Trim(string(text), `"`))
	return nil
}

// content is a page or a comment.
type content struct {
	ID     id     `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Title  string `json:"title"`
	Space  struct {
		Key string `json:"key"`
	} `json:"space"`
	Body struct {
		Storage struct {
			Value string `json:"value"`
		} `json:"storage"`
	} `json:"body"`
	Version struct {
		When   time.Time      `json:"when"`
		Number int            `json:"number"`
		By     atlassian.User `json:"by"`
	} `json:"version"`
	History struct {
		CreatedDate time.Time      `json:"createdDate"`
		CreatedBy   atlassian.User `json:"createdBy"`
	} `json:"history"`
	Ancestors []content `json:"ancestors"`
	Container struct {
		ID   id     `json:"id"`
		Type string `json:"type"`
	} `json:"container"`
	Metadata struct {
		Labels struct {
			Results []struct {
				Name string `json:"name"`
			} `json:"results"`
		} `json:"labels"`
	} `json:"metadata"`
	Extensions struct { // of an attachment
		MediaType string `json:"mediaType"`
		FileSize  int64  `json:"fileSize"`
	} `json:"extensions"`
	Links struct {
		Download string `json:"download"` // of an attachment, below the base address
	} `json:"_links"`
	Restrictions *struct {
		Read *restriction `json:"read"`
	} `json:"restrictions"`

	unread bool // Confluence returns no more than what sparse expands
}

// pageItem returns a page. prepare must have been called with it.
func (r *reading) pageItem(ctx context.Context, c content) source.Item {
	i := source.Item{URI: r.pageURI(c.ID), Title: source.ClipTitle(c.Title), Access: r.audience(c).Names()}
	r.fill(ctx, &i, c, c.ID)
	var labels, above []string
	for _, l := range c.Metadata.Labels.Results {
		labels = append(labels, l.Name)
	}
	for _, a := range c.Ancestors {
		above = append(above, a.Title)
	}
	i.Labels = atlassian.Facts(labels, atlassian.MaxLabel, source.MaxListed)
	i.Metadata["type"] = filter.Text("page")
	if above = atlassian.Facts(above, atlassian.MaxLabel, 20); len(above) > 0 {
		i.Metadata["ancestors"] = filter.List(above...)
	}
	return i
}

// commentItem returns a comment on a page, which the same people may read.
func (r *reading) commentItem(ctx context.Context, c, on content) source.Item {
	i := source.Item{URI: r.commentURI(on.ID, c.ID), Title: source.ClipTitle("Comment: " + on.Title), Comment: true, Access: r.audience(on).Names()}
	r.fill(ctx, &i, c, on.ID)
	i.Metadata["type"] = filter.Text("comment")
	return i
}

// fill sets what pages and comments have in common.
func (r *reading) fill(ctx context.Context, i *source.Item, c content, page id) {
	i.SourceType, i.Project = "documentation", atlassian.Fact(r.space, atlassian.MaxFact)
	i.Author = atlassian.Fact(c.History.CreatedBy.Title(), atlassian.MaxFact)
	i.CreatedAt, i.UpdatedAt = c.History.CreatedDate, c.Version.When
	r.know(c.History.CreatedBy)
	r.know(c.Version.By)
	if r.kind != attachments {
		i.Body = markdown(c.Body.Storage.Value, place{base: r.Links(), space: r.space, page: string(page),
			name: func(p person) string { return r.nameOf(ctx, p) }})
	}
	i.Metadata = filter.Metadata{}
	if c.Version.Number > 0 {
		i.Metadata["version"] = filter.Number(float64(c.Version.Number))
	}
	if editor := atlassian.Fact(c.Version.By.Title(), atlassian.MaxFact); editor != "" {
		i.Metadata["lastEditor"] = filter.Text(editor)
	}
}

// The URIs have the space, so that PartContains needs no request, and no title, which
// changes. Confluence redirects them to its own.

func (r *reading) pageURI(page id) string {
	if r.Cloud {
		return r.Base + "/spaces/" + r.space + "/pages/" + string(page)
	}
	return r.Base + "/pages/viewpage.action?spaceKey=" + r.space + "&pageId=" + string(page)
}

// commentURI begins with the URI of the page, so that a search takes both for one.
func (r *reading) commentURI(page, comment id) string {
	return r.pageURI(page) + "#comment-" + string(comment)
}

// idsOf returns the ids in a URI of the space; comment is empty for a page. ok is false
// for another URI.
func (r *reading) idsOf(uri string) (page, comment id, ok bool) {
	rest, found := strings.CutPrefix(uri, r.pageURI(""))
	if !found {
		return "", "", false
	}
	text, fragment, isComment := strings.Cut(rest, "#comment-")
	if !isNumber(text) || isComment && !isNumber(fragment) {
		return "", "", false
	}
	return id(text), id(fragment), true
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
