package jira

import (
	"encoding/json"
	"strings"
	"time"

	"docent/shared/access"
	"docent/shared/connect/atlassian"
	"docent/shared/filter"
	"docent/shared/source"
)

// when is a time as Jira writes it, with an offset without a colon. A time that cannot be
// read is unknown.
type when struct{ time.Time }

// UnmarshalJSON reads a time or null.
func (w *when) UnmarshalJSON(text []byte) error {
	for _, form := range []string{"2006-01-02T15:04:05.999-0700", time.RFC3339} {
		if t, err := time.Parse(form, strings.Trim(string(text), `"`)); err == nil {
			w.Time = t.UTC()
		}
	}
	return nil
}

type named struct {
	Name string `json:"name"`
}

// issue is an issue. What is null has no name.
type issue struct {
	Key    string `json:"key"`
	Fields struct {
		Summary     string          `json:"summary"`
		Description json.RawMessage `json:"description"`
		Project     struct {
			Type string `json:"projectTypeKey"`
		} `json:"project"`
		Status struct {
			Name     string `json:"name"`
			Category struct {
				Key string `json:"key"`
			} `json:"statusCategory"`
		} `json:"status"`
		Type       named           `json:"issuetype"`
		Priority   named           `json:"priority"`
		Resolution named           `json:"resolution"`
		Resolved   when            `json:"resolutiondate"`
		Assignee   *atlassian.User `json:"assignee"`
		Reporter   *atlassian.User `json:"reporter"`
		Creator    *atlassian.User `json:"creator"`
		Labels     []string        `json:"labels"`
		Components []named         `json:"components"`
		Versions   []named         `json:"fixVersions"`
		Parent     struct {
			Key string `json:"key"`
		} `json:"parent"`
		Created  when `json:"created"`
		Updated  when `json:"updated"`
		Security *struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"security"`
		// Restriction limits an issue of a team-managed project to roles.
		Restriction json.RawMessage `json:"issuerestriction"`
		Comment     commentList     `json:"comment"`
	} `json:"fields"`
}

type commentList struct {
	Comments []comment `json:"comments"`
	Total    int       `json:"total"`
}

type comment struct {
	ID         string          `json:"id"`
	Body       json.RawMessage `json:"body"`
	Author     atlassian.User  `json:"author"`
	Created    when            `json:"created"`
	Updated    when            `json:"updated"`
	Visibility *visibility     `json:"visibility"`
	// Public is false for a comment that Service Management hides from the customer who reported the issue. A Data Center does
	// not tell it.
	Public *bool `json:"jsdPublic"`
}

// hides reports whether a comment on i may be hidden from the customer who reported i.
func (i issue) hides(c comment) bool {
	if c.Public == nil {
		kind := i.Fields.Project.Type
		return kind == "service_desk" || kind == "" // unknown
	}
	return !*c.Public
}

// restriction returns the ids of the roles that i is limited to. If it is limited in a way that is not known, there are none.
func (i issue) restriction() (roles []string, limited bool) {
	raw := i.Fields.Restriction
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	var found struct {
		By map[string][]struct {
			ID string `json:"id"`
		} `json:"issuerestrictions"`
	}
	if json.Unmarshal(raw, &found) != nil || found.By == nil {
		return nil, true
	}
	unknown := false
	for kind, list := range found.By {
		for _, one := range list {
			limited = true
			unknown = unknown || kind != "projectrole"
			roles = append(roles, one.ID)
		}
	}
	if unknown {
		return nil, true
	}
	return roles, limited
}

// visibility limits a comment to a group or a role.
type visibility struct {
	Type       string `json:"type"` // group or role
	Value      string `json:"value"`
	Identifier string `json:"identifier"` // Cloud: the id of the group
}

// issueItem returns an issue.
func (r *reading) issueItem(i issue, readers *access.Names) source.Item {
	f := i.Fields
	item := source.Item{URI: r.issueURI(i.Key), Title: source.ClipTitle(f.Summary), Body: text(f.Description, r.Links()), SourceType: "issue",
		Author: atlassian.Fact(titleOf(f.Reporter, f.Creator), atlassian.MaxFact), Project: atlassian.Fact(r.project, atlassian.MaxFact),
		Number: i.Key, State: source.StateOpen, Labels: atlassian.Facts(f.Labels, atlassian.MaxLabel, source.MaxListed),
		CreatedAt: f.Created.Time, UpdatedAt: f.Updated.Time, ClosedAt: f.Resolved.Time, Access: readers, Metadata: filter.Metadata{}}
	if f.Status.Category.Key == "done" {
		item.State = source.StateClosed
	} else {
		item.ClosedAt = time.Time{}
	}
	if name := atlassian.Fact(titleOf(f.Assignee), atlassian.MaxFact); name != "" {
		item.Assignees = []string{name}
	}
	for name, value := range map[string]string{"type": f.Type.Name, "status": f.Status.Name, "priority": f.Priority.Name,
		"resolution": f.Resolution.Name, "parent": f.Parent.Key} {
		if value = atlassian.Fact(value, atlassian.MaxFact); value != "" {
			item.Metadata[name] = filter.Text(value)
		}
	}
	for name, list := range map[string][]named{"components": f.Components, "fixVersions": f.Versions} {
		var all []string
		for _, one := range list {
			all = append(all, one.Name)
		}
		if all = atlassian.Facts(all, atlassian.MaxLabel, 20); len(all) > 0 {
			item.Metadata[name] = filter.List(all...)
		}
	}
	return item
}

// titleOf returns the name of the first of users that there is.
func titleOf(users ...*atlassian.User) string {
	for _, u := range users {
		if u != nil && u.Title() != "" {
			return u.Title()
		}
	}
	return ""
}

// commentItem returns a comment on i.
func (r *reading) commentItem(i issue, c comment, readers *access.Names) source.Item {
	return source.Item{URI: r.issueURI(i.Key) + "#comment-" + c.ID, Title: source.ClipTitle("Comment on " + i.Key + ": " + i.Fields.Summary),
		Body: text(c.Body, r.Links()), SourceType: "issue", Author: atlassian.Fact(c.Author.Title(), atlassian.MaxFact),
		Project: atlassian.Fact(r.project, atlassian.MaxFact), CreatedAt: c.Created.Time, UpdatedAt: c.Updated.Time, Access: readers,
		Metadata: filter.Metadata{"type": filter.Text("comment")}, Comment: true}
}

func (r *reading) issueURI(key string) string { return r.Base + "/browse/" + key }

// idsOf returns the key of the issue and the id of the comment in a URI of the project; of
// an issue, comment is empty. ok is false for another URI.
func (r *reading) idsOf(uri string) (key, comment string, ok bool) {
	rest, found := strings.CutPrefix(uri, r.issueURI(""))
	if !found {
		return "", "", false
	}
	key, comment, isComment := strings.Cut(rest, "#comment-")
	project, number, _ := strings.Cut(key, "-")
	if !strings.EqualFold(project, r.project) || !isNumber(number) || isComment && !isNumber(comment) {
		return "", "", false
	}
	return key, comment, true
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
