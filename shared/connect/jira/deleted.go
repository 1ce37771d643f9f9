package jira

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
	_, _, ok := r.idsOf(uri)
	return ok
}

// IsDeleted asks Jira for one issue or comment. One that moved to another project is
// deleted, and one that the account may no longer view.
func (c *Connector) IsDeleted(ctx context.Context, a source.Access, part, uri string) (bool, error) {
	r := c.open(a, part)
	key, comment, ok := r.idsOf(uri)
	if !ok {
		return false, nil // not a URI of Jira, so Jira cannot be asked
	}
	if err := r.readProject(ctx); err != nil { // without it nothing is known
		return false, err
	}
	one, err := atlassian.Get[struct {
		Key string `json:"key"`
	}](ctx, r.Site, "the issue "+key, r.api+"/issue/"+url.PathEscape(key), url.Values{"fields": {"project"}})
	switch {
	case atlassian.Invisible(err):
		return true, nil
	case err != nil:
		return false, err
	case one.Key == "":
		return false, &source.SyncError{Code: source.Unreadable, Detail: "Jira sent nothing about the issue " + key + "."}
	case !strings.EqualFold(one.Key, key): // it was moved
		return true, nil
	case comment == "":
		return false, nil
	}
	_, err = atlassian.Get[struct{}](ctx, r.Site, "a comment on "+key, r.api+"/issue/"+url.PathEscape(key)+"/comment/"+comment, nil)
	if atlassian.Invisible(err) {
		return true, nil
	}
	return false, err
}

// readProject reads the project. It returns a *source.SyncError if the account cannot see
// it, or if it has another key now.
func (r *reading) readProject(ctx context.Context) error {
	one, err := atlassian.Get[struct {
		Key  string         `json:"key"`
		Lead atlassian.User `json:"lead"`
	}](ctx, r.Site, "the project "+r.project, r.api+"/project/"+url.PathEscape(r.project), nil)
	switch {
	case atlassian.IsCode(err, source.NotThere):
		return r.Hidden(&source.SyncError{Code: source.NotThere, Cause: err,
			Detail: "The project " + r.project + " does not exist in Jira, or the account of the token may not browse it. Check also the base address."})
	case err == nil && !strings.EqualFold(one.Key, r.project):
		return &source.SyncError{Code: source.NotThere,
			Detail: "The project " + r.project + " is called " + atlassian.Fact(one.Key, atlassian.MaxLabel) + " now. Connect it by that key."}
	}
	r.lead = one.Lead
	return err
}
