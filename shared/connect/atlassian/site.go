// Package atlassian has what the connectors of Confluence and Jira share: how their REST APIs
// are asked and what their failures mean, the settings of a site, and the readers of content.
package atlassian

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
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
}

// Open returns the site of a source; its Base has no slash at the end. An account with an email
// address is one of the Cloud; its token is sent as a password, that of a Data Center by itself.
// The Cloud redirects downloads to Atlassian's store of files.
func (c Client) Open(product string, a source.Access) *Site {
	s := &Site{Cloud: a.Settings.Text(Email) != ""}
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

// Get requests path with query from s and decodes the reply. Its errors are *source.SyncError,
// whose text says that what could not be read, or ctx's own.
func Get[T any](ctx context.Context, s *Site, what, path string, query url.Values) (T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	s.About = what
	v, _, err := rest.Get[T](ctx, s.API, path)
	return v, err
}

// Download returns the file at path, which is below s.Base. A file that cannot be read is a
// *source.FileError, and other failures are those of Get.
func (s *Site) Download(ctx context.Context, what, path string) ([]byte, error) {
	s.About = what
	return s.API.Download(ctx, path)
}
