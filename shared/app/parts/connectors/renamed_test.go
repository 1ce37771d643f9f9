package connectors_test

import (
	"testing"
	"time"

	"docent/shared/connect/github/githubtest"
)

// TestARepositoryThatIsRenamedInCaseOnlyKeepsEachItemOnce: the addresses of its items are others then.
func TestARepositoryThatIsRenamedInCaseOnlyKeepsEachItemOnce(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	put := func(name string) {
		s.Put("acme/api", func(r *githubtest.Repository) {
			first := s.NewIssue(name, 1, "First")
			r.Issues, r.Comments = []githubtest.Issue{first}, []githubtest.Comment{s.NewComment(name, 7, first, "A comment.")}
		})
	}
	put("Acme/API")
	h := newHouse(t, s.Server)
	id := h.connect("github", map[string]any{"repositories": []string{"acme/api"}, "accessToken": githubtest.Token, "baseUrl": s.API()})
	for _, name := range []string{"Acme/API", "acme/api"} {
		put(name)
		if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(25 * time.Hour)
	}
	before, now := s.URL+"/Acme/API/issues/1", s.URL+"/acme/api/issues/1"
	got := h.texts([]string{before, before + "#issuecomment-7", now, now + "#issuecomment-7"})
	if len(got) != 2 || got[now] == "" || got[now+"#issuecomment-7"] == "" {
		t.Errorf("got %q", got)
	}
}
