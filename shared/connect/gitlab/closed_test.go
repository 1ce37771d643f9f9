package gitlab_test

import (
	"errors"
	"net/http"
	"testing"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/gitlab"
	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

// TestWhatIsNotPublicIsEmptyWithoutAToken: GitLab does not tell beforehand which parts of a public project are switched off or for members.
func TestWhatIsNotPublicIsEmptyWithoutAToken(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"disabled", "private"} {
		for _, part := range []string{"wiki", "merge_requests"} {
			r := read(t)
			r.token = ""
			r.put(func(p *gitlabtest.Project) {
				p.Wiki = []gitlabtest.WikiPage{{Format: "markdown", Slug: "home", Title: "Home", Content: "Welcome."}}
				p.MergeRequests = []gitlabtest.Record{gitlabtest.NewMergeRequest(1, "A change")}
			})
			uris, _, known := r.must(part, nil)
			r.put(func(p *gitlabtest.Project) { p.Levels[part] = level })
			if _, _, _, err := r.part(part, known.Checkpoint); len(uris) != 1 || !errors.Is(err, source.ErrFullScanNeeded) {
				t.Errorf("%s %s: %q were public, then %v", level, part, uris, err)
			}
			uris, _, end := r.must(part, nil)
			if len(uris) != 0 || !end.Exact {
				t.Errorf("%s %s: a full scan has %q, exact %v", level, part, uris, end.Exact)
			}
			if uris, _, _ := r.must(part, end.Checkpoint); len(uris) != 0 {
				t.Errorf("%s %s: then %q", level, part, uris)
			}
			r.put(func(p *gitlabtest.Project) { delete(p.Levels, part) })
			if uris, _, _ := r.must(part, end.Checkpoint); len(uris) != 1 && part == "merge_requests" {
				t.Errorf("%s %s: public again, %q", level, part, uris)
			}
			r.server.Before(func(_ string, w http.ResponseWriter) bool { w.WriteHeader(http.StatusForbidden); return true })
			if _, _, _, err := r.part(part, nil); err == nil {
				t.Errorf("%s %s: what a proxy refuses is empty", level, part)
			}
		}
	}
}

func TestAPublicProjectIsConnectedWithoutAToken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		include       []string
		pointer, says string
	}{
		"all that is public": {nil, "", ""},
		"a part by name":     {[]string{"wiki"}, "/settings/accessToken", "switched off, or not public"},
	} {
		server := gitlabtest.New(t)
		server.Put("acme/api", func(p *gitlabtest.Project) {
			p.Levels["wiki"], p.Commits = "private", []gitlabtest.Commit{{Files: map[string]string{"a.md": "A."}}}
		})
		settings := map[string]any{"projects": []string{"acme/api"}, "baseUrl": server.URL}
		if tt.include != nil {
			settings["include"] = tt.include
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connecttest.Probe(t, gitlab.Provider, connecttest.Fetcher(server.Server), source.Access{Settings: source.NewSettings(settings)}, tt.pointer, tt.says)
		})
	}
}
