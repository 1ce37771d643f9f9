package gitlab_test

import (
	"net/http"
	"strings"
	"testing"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/gitlab"
	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	refuse := func(at string, status int) func(string, http.ResponseWriter) bool {
		return func(path string, w http.ResponseWriter) bool {
			if strings.Contains(path, at) {
				w.WriteHeader(status)
			}
			return strings.Contains(path, at)
		}
	}
	for name, tt := range map[string]struct {
		projects []string
		include  []string
		token    string
		base     string // empty: the server's
		before   func(path string, w http.ResponseWriter) bool
		pointer  string // of the field error; empty: there is none
		says     string // in the error; empty: there is none
	}{
		"everything":        {projects: []string{"acme/api", "acme/web"}},
		"a bad token":       {token: "other", pointer: "/settings/accessToken", says: "does not accept the access token"},
		"a missing scope":   {token: gitlabtest.Scopeless, pointer: "/settings/accessToken", says: "lacks the scope read_api"},
		"an expired token":  {token: gitlabtest.Expired, pointer: "/settings/accessToken", says: "has expired"},
		"a missing project": {projects: []string{"acme/api", "acme/gone"}, pointer: "/settings/projects/1", says: "There is no project acme/gone"},
		"a missing role":    {before: refuse("/merge_requests", 403), pointer: "/settings/accessToken", says: "needs the role Reporter"},
		"a part not chosen": {include: []string{"wiki"}, before: refuse("/merge_requests", 403)},
		"no commit yet":     {before: refuse("/repository/tree", 404)},
		"a rate limit":      {before: refuse("acme", 429), says: "rate-limited"},
		"a private server":  {base: "https://127.0.0.2:9/", pointer: "/settings/baseUrl", says: "not public"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := gitlabtest.New(t)
			for _, path := range []string{"acme/api", "acme/web"} {
				server.Put(path, func(p *gitlabtest.Project) { p.Commits = []gitlabtest.Commit{{Files: map[string]string{"a.md": "A."}}} })
			}
			server.Before(tt.before)
			settings := map[string]any{"projects": []string{"acme/api"}, "baseUrl": server.URL}
			secrets := source.Secrets{"accessToken": gitlabtest.Token}
			if tt.projects != nil {
				settings["projects"] = tt.projects
			}
			if tt.include != nil {
				settings["include"] = tt.include
			}
			if tt.base != "" {
				settings["baseUrl"] = tt.base
			}
			if tt.token != "" {
				secrets["accessToken"] = tt.token
			}
			connecttest.Probe(t, gitlab.Provider, connecttest.Fetcher(server.Server), source.Access{Settings: source.NewSettings(settings), Secrets: secrets}, tt.pointer, tt.says)
		})
	}
}
