// Package atlassian has what the connectors of Confluence and Jira share: how their REST APIs
// are asked and what their failures mean, the settings of a site, and the readers of content.
package atlassian

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// maxReply bounds a reply, in bytes.
const maxReply = 32 << 20

// Client has what every connector of an Atlassian product needs.
type Client struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry
	// Stores reports whether files of a site of the Cloud may be downloaded from a host; nil: from Atlassian's own.
	Stores func(host string) bool
}

// Site is one installation of a product, as one account sees it. It is not safe for
// concurrent use.
type Site struct {
	*rest.API
	Cloud  bool              // otherwise it is a Data Center
	Notice *source.SyncError // what the team's admins should know; nil: nothing
	// Answered are the lookups that failed in an earlier sync and have succeeded in this one. The connector lists them in SyncPage.Unread.
	Answered []string
	access   source.Access
	// Closed: some items have no readers, because a lookup failed or the connector found another reason.
	Closed bool
}

// Openings says, in the checkpoint of a part, which items still need their readers because a lookup failed.
type Openings struct {
	Closed bool `json:"closed,omitempty"` // a lookup of the running full scan failed, so some of its items have no readers
	Rescan bool `json:"rescan,omitempty"` // a failed lookup succeeds again: a full scan follows this reading and gives items their readers
}

// Note updates o after a page of results. opened are the lookups that failed before and have succeeded now. If the
// running reading is a full scan, it gives the items that depend on them their readers. If it has already passed some
// of these items, o requests another full scan.
func (s *Site) Note(o *Openings, full bool, opened []string) {
	o.Closed = full && (o.Closed || s.Closed)
	o.Rescan = o.Rescan || len(opened) > 0 && (!full || o.Closed)
}

// Open returns the site of a source; its Base has no slash at the end. An account with an email
// address is one of the Cloud; its token is sent as a password, that of a Data Center as a bearer token.
// The Cloud redirects downloads to Atlassian's store of files.
func (c Client) Open(product string, a source.Access) *Site {
	s := &Site{Cloud: a.Settings.Text(Email) != "", access: a}
	credentials := "Bearer " + a.Secrets[AccessToken]
	follow := func(string) bool { return false }
	if s.Cloud {
		credentials = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Settings.Text(Email)+":"+a.Secrets[AccessToken]))
		if follow = c.Stores; follow == nil {
			follow = func(host string) bool { return strings.HasSuffix(strings.ToLower(host), ".atlassian.com") }
		}
	}
	s.API = &rest.API{Provider: product, Base: strings.TrimRight(a.Settings.Text(BaseURL), "/"), HTTP: c.HTTP, Now: c.Now, Pause: c.Pause,
		Header: http.Header{"Authorization": {credentials}}, Refusal: s.refusal, Most: maxReply, Follow: follow}
	return s
}

// Hidden returns missing, the failure for a space or project that the site does not show, so that nobody knows who may read its items, if
// they have the readers that the site told.
func (s *Site) Hidden(missing *source.SyncError) error {
	if !Mirrors(s.access.Settings) {
		return missing
	}
	return fmt.Errorf("%w: %w", source.ErrPartHidden, missing)
}

// maxLinkBase bounds what Links returns, in bytes.
const maxLinkBase = 100

// Links returns what the addresses of links to s in a text begin with: its Base, or nothing if that is long. A text may have hundreds of
// thousands of links, of a few bytes each.
func (s *Site) Links() string {
	if len(s.Base) > maxLinkBase {
		return ""
	}
	return s.Base
}

// Get requests path with query from s and decodes the reply. Its errors are *source.SyncError,
// whose text says that what could not be read, or ctx's own.
func Get[T any](ctx context.Context, s *Site, what, path string, query url.Values) (T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	s.About = what
	v, header, err := rest.Get[T](ctx, s.API, path)
	if err == nil && treatsAsNobody(header) {
		return *new(T), s.rejected()
	}
	return v, err
}

// LookUp calls read for a lookup, named what, on which some items depend. unknown means that it has failed again, as in
// an earlier sync; then it lets nobody read these items. The errors are those of source.Access.Try, with what in place
// of the uri.
func (s *Site) LookUp(ctx context.Context, what, items string, read func(context.Context) error) (unknown bool, err error) {
	unknown, err = s.access.Try(ctx, what, read)
	if unknown {
		s.Closed = true
		s.Unknown(items, s.Provider+" fails to return "+what+"; later syncs try again")
	} else if err == nil && slices.Contains(s.access.Failed, what) {
		s.Answered = append(s.Answered, what)
	}
	return unknown, err
}

// membersOf begins what a lookup of the members of a group is called.
const membersOf = "the members of the group "

// MembersOf returns what a lookup of the members of a group is called. A group of the Cloud has an id.
func MembersOf(group, id string) string {
	if id != "" {
		return membersOf + group + " (id " + id + ")"
	}
	return membersOf + group
}

// GroupOf returns the group that MembersOf names. ok is false for another text.
func GroupOf(what string) (group, id string, ok bool) {
	group, ok = strings.CutPrefix(what, membersOf)
	if at := strings.LastIndex(group, " (id "); at >= 0 && strings.HasSuffix(group, ")") {
		group, id = group[:at], group[at+len(" (id "):len(group)-1]
	}
	return group, id, ok
}

// Download returns the file at path, which is below s.Base. A file that cannot be read is a
// *source.FileError, and other failures are those of Get.
func (s *Site) Download(ctx context.Context, what, path string) ([]byte, error) {
	s.About = what
	return s.API.Download(ctx, path)
}
