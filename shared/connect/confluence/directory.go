package confluence

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"docent/shared/connect/atlassian"
	"docent/shared/source"
)

// Bounds of lookups.
const (
	perList    = 200
	maxMembers = 10_000 // of a group; a larger one is unknown
	maxLookups = 500    // of accounts that are mentioned, in one sync of a part
)

// directory has what a reading knows about accounts, groups and restrictions.
type directory struct {
	atlassian.Groups
	knownSpace   id
	spaceReaders atlassian.Audience
	spaceRead    bool
	restricted   map[id]atlassian.Audience
	names        map[string]string // of accounts, by each of their ids
	lookups      int
}

func newDirectory() directory {
	return directory{restricted: map[id]atlassian.Audience{}, names: map[string]string{}, Groups: atlassian.NewGroups()}
}

// know remembers the name of an account.
func (d *directory) know(u atlassian.User) {
	for _, key := range []string{u.AccountID, u.UserKey, u.Username} {
		if key != "" && u.Title() != "" {
			d.names[key] = u.Title()
		}
	}
}

// nameOf returns the name of a mentioned account, or "". One that Confluence fails to return has none until the page is read again.
func (r *reading) nameOf(ctx context.Context, p person) string {
	key := cmp.Or(p.userKey, p.username)
	if r.Cloud {
		key = p.accountID
	}
	if name, known := r.names[key]; known || key == "" || r.GivesUp() || r.lookups == maxLookups {
		return name
	}
	r.lookups++
	u, err := r.user(ctx, p)
	if err != nil && !atlassian.IsCode(err, source.Unreadable, source.TooLarge) {
		r.Failed = err
	}
	r.names[key] = u.Title()
	return u.Title()
}

// user reads an account; one that the account of the token may not see is empty.
func (r *reading) user(ctx context.Context, p person) (atlassian.User, error) {
	q := url.Values{}
	switch {
	case r.Cloud:
		q.Set("accountId", p.accountID)
	case p.userKey != "":
		q.Set("key", p.userKey)
	default:
		q.Set("username", p.username)
	}
	u, err := atlassian.Get[atlassian.User](ctx, r.Site, "an account", "/rest/api/user", q)
	if atlassian.Invisible(err) || atlassian.IsCode(err, source.Refused) {
		return atlassian.User{}, nil
	}
	return u, err
}

// members returns the members of a group, or nothing if they are unknown.
func (r *reading) members(name string) map[string]atlassian.User {
	return r.Members(r.Site, name, "some pages of the space "+r.space, r.listMembers)
}

// listMembers returns the members of a group, or nothing if the account may not see them or there are too many.
func (r *reading) listMembers(ctx context.Context, name string) (map[string]atlassian.User, error) {
	path := "/rest/api/group/" + url.PathEscape(name) + "/member"
	if r.Cloud {
		path = "/rest/api/group/" + url.PathEscape(r.GroupIDs[name]) + "/membersByGroupId"
	}
	all := map[string]atlassian.User{}
	for start := 0; ; {
		got, err := atlassian.Get[struct {
			Results []atlassian.User `json:"results"`
		}](ctx, r.Site, "the members of the group "+name, path, url.Values{"start": {strconv.Itoa(start)}, "limit": {strconv.Itoa(perList)}})
		if atlassian.Invisible(err) || err == nil && start >= maxMembers {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		known := len(all)
		for _, u := range got.Results {
			all[u.ID()] = u
		}
		start += len(got.Results)
		if len(got.Results) == 0 { // a shorter page may be one that the site limits
			return all, nil
		}
		if len(all) == known { // the same page again: the rest is unknown
			return nil, nil
		}
	}
}

// readSpaceReaders reads who may view the space, once.
func (r *reading) readSpaceReaders(ctx context.Context) error {
	if r.spaceRead {
		return nil
	}
	var err error
	switch {
	case !r.mirrors:
		r.spaceReaders = atlassian.Everyone()
	case r.Cloud:
		space, missing := r.spaceID(ctx)
		if missing != nil {
			return missing
		}
		err = r.readCloudSpace(ctx, space)
	default:
		err = r.readServerSpace(ctx)
	}
	if !r.Cloud && atlassian.Status(err) == http.StatusInternalServerError {
		// A Data Center replies so to those who are no administrators. Unless nothing works.
		r.knownSpace = ""
		if _, failing := r.spaceID(ctx); failing != nil {
			return failing
		}
		err = &source.SyncError{Code: source.Unauthorized, Cause: err}
	}
	if atlassian.Invisible(err) {
		r.spaceReaders, err = atlassian.Audience{}, nil
		r.Unknown("the space "+r.space, "make the account of the token an administrator of the space (a Data Center must be 9.1 or newer),"+
			" or connect the source with access: source")
	}
	r.spaceRead = err == nil
	return err
}

// readCloudSpace reads the permissions of a space of the Cloud.
func (r *reading) readCloudSpace(ctx context.Context, space id) error {
	type permissions struct {
		Results []struct {
			Principal struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			} `json:"principal"`
			Operation struct {
				Key    string `json:"key"`
				Target string `json:"targetType"`
			} `json:"operation"`
		} `json:"results"`
		Links struct {
			Next string `json:"next"`
		} `json:"_links"`
	}
	var readers atlassian.Audience
	query := url.Values{"limit": {strconv.Itoa(perList)}}
	for {
		got, err := atlassian.Get[permissions](ctx, r.Site, "the permissions of the space "+r.space, "/api/v2/spaces/"+string(space)+"/permissions", query)
		if err != nil {
			return err
		}
		for _, p := range got.Results {
			if p.Operation.Key != "read" || p.Operation.Target != "space" {
				continue
			}
			switch p.Principal.Type {
			case "user":
				u, err := r.user(ctx, person{accountID: p.Principal.ID})
				if err != nil {
					return err
				}
				r.know(u)
				readers.Add(u)
			case "group":
				if err := r.addGroup(ctx, &readers, p.Principal.ID); err != nil {
					return err
				}
			}
		}
		after, err := next(query, got.Links.Next)
		if err != nil {
			return err
		}
		if after == "" {
			r.spaceReaders = readers
			return nil
		}
		if query, err = url.ParseQuery(after); err != nil {
			return err
		}
	}
}

// addGroup adds a group of the Cloud by its id.
func (r *reading) addGroup(ctx context.Context, readers *atlassian.Audience, groupID string) error {
	g, err := atlassian.Get[group](ctx, r.Site, "a group", "/rest/api/group/by-id", url.Values{"id": {groupID}})
	if atlassian.Invisible(err) {
		return nil // nobody reads by it
	}
	if err == nil {
		r.GroupIDs[g.Name] = groupID
		readers.AddGroup(g.Name)
	}
	return err
}

// readServerSpace reads the permissions of a space of a Data Center. What it grants to
// anonymous visitors is left out, because the site may not admit any.
func (r *reading) readServerSpace(ctx context.Context) error {
	type permission struct {
		Operation struct {
			Key    string `json:"operationKey"`
			Target string `json:"targetType"`
		} `json:"operation"`
		Subject struct {
			Type string `json:"type"`
			atlassian.User
		} `json:"subject"`
	}
	all, err := atlassian.Get[[]permission](ctx, r.Site, "the permissions of the space "+r.space, "/rest/api/space/"+url.PathEscape(r.space)+"/permissions", nil)
	if err != nil {
		return err
	}
	var readers atlassian.Audience
	for _, p := range all {
		if p.Operation.Key != "read" || p.Operation.Target != "space" {
			continue
		}
		switch p.Subject.Type {
		case "user", "known":
			u := p.Subject.User
			if u.Username == "" {
				if u, err = r.user(ctx, person{userKey: p.Subject.UserKey}); err != nil {
					return err
				}
			}
			r.know(u)
			readers.Add(u)
		case "group":
			readers.AddGroup(p.Subject.Name)
		}
	}
	r.spaceReaders = readers
	return nil
}
