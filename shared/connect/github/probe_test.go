package github_test

import (
	"net/http"
	"strings"
	"testing"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/github"
	"docent/shared/connect/github/githubtest"
	"docent/shared/source"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	refuse := func(at string, status int, header ...string) func(string, http.ResponseWriter) bool {
		return func(path string, w http.ResponseWriter) bool {
			if !strings.Contains(path, at) {
				return false
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			return true
		}
	}
	for name, c := range map[string]struct {
		repositories []string
		token        string
		base         string // empty: the server's
		before       func(path string, w http.ResponseWriter) bool
		pointer      string // of the field error; empty: there is none
		says         string // in the error; empty: there is none
	}{
		"everything":       {repositories: []string{"acme/api", "acme/web"}},
		"a bad token":      {repositories: []string{"acme/api"}, token: "other", pointer: "/settings/accessToken", says: "does not accept the access token"},
		"a missing one":    {repositories: []string{"acme/api", "acme/gone"}, pointer: "/settings/repositories/1", says: "Not found on GitHub"},
		"a missing scope":  {repositories: []string{"acme/gone"}, before: refuse("acme/gone", 404, "X-OAuth-Scopes", "gist, public_repo"), pointer: "/settings/repositories/0", says: "needs the scope repo; it has gist, public_repo."},
		"enough scopes":    {repositories: []string{"acme/gone"}, before: refuse("acme/gone", 404, "X-OAuth-Scopes", "repo"), pointer: "/settings/repositories/0", says: "this access token."},
		"no permission":    {repositories: []string{"acme/api"}, before: refuse("/issues", 403, "X-Accepted-GitHub-Permissions", "issues=read"), pointer: "/settings/accessToken", says: "needs the permission issues=read"},
		"no contents":      {repositories: []string{"acme/api"}, before: refuse("/commits/", 403, "X-Accepted-GitHub-Permissions", "contents=read"), pointer: "/settings/accessToken", says: "contents=read"},
		"single sign-on":   {repositories: []string{"acme/api"}, before: refuse("acme/api", 403, "X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?authorization_request=AZ"), pointer: "/settings/accessToken", says: "authorize the token for it"},
		"issues are off":   {repositories: []string{"acme/api"}, before: refuse("/issues", 410)},
		"no commit yet":    {repositories: []string{"acme/api"}, before: refuse("/commits/", 409)},
		"a rate limit":     {repositories: []string{"acme/api"}, before: refuse("acme/", 403, "X-RateLimit-Remaining", "0"), says: "rate-limited"},
		"a private server": {repositories: []string{"acme/api"}, base: "https://127.0.0.2:9/", pointer: "/settings/baseUrl", says: "not public"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := githubtest.New(t)
			for _, name := range []string{"acme/api", "acme/web"} {
				server.Put(name, func(r *githubtest.Repository) {
					r.Commits = []githubtest.Commit{{Files: map[string]string{"a.md": "a"}}}
				})
			}
			server.Before(c.before)
			a := source.Access{Settings: source.NewSettings(map[string]any{"repositories": c.repositories, "baseUrl": server.API()}), Secrets: source.Secrets{"accessToken": githubtest.Token}}
			if c.base != "" {
				a.Settings = source.NewSettings(map[string]any{"repositories": c.repositories, "baseUrl": c.base})
			}
			if c.token != "" {
				a.Secrets["accessToken"] = c.token
			}
			connecttest.Probe(t, github.Provider, connecttest.Fetcher(server.Server), a, c.pointer, c.says)
			if n := len(server.Requests()); n > 3+len(c.repositories) {
				t.Errorf("%d requests", n)
			}
		})
	}
}
