package connectors_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/connect/github/githubtest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/team"
)

// TestCommentsLeadToTheirIssue: a search returns one of an issue and its comments before the
// rest, and a query returns the issue for its comments.
func TestCommentsLeadToTheirIssue(t *testing.T) {
	t.Parallel()
	github := githubtest.New(t)
	github.AnyToken()
	cache, tickets, closed := github.NewIssue("acme/api", 1, "The cache of tickets"), github.NewIssue("acme/api", 2, "Slow start"), github.NewIssue("acme/api", 3, "Old start")
	closed.State = "closed"
	pull := github.NewPull("acme/api", 4, "Renew tickets")
	comments := []githubtest.Comment{github.NewComment("acme/api", 50, tickets, "It waits for a kerberos principal."), github.NewComment("acme/api", 51, closed, "It waited for a kerberos principal.")}
	for n := range 30 {
		comments = append(comments, github.NewComment("acme/api", 100+n, cache, fmt.Sprintf("The cache of tickets, said %d times: cache, tickets.", n)))
	}
	github.Put("acme/api", func(r *githubtest.Repository) {
		r.Issues = []githubtest.Issue{cache, tickets, closed, pull}
		r.Comments = comments
		r.Reviews = []githubtest.Comment{github.NewReview("acme/api", 60, pull, "Is a kerberos principal renewed too?")}
	})
	local, err := app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true,
		Parts: app.Parts{Connect: connectors.With(fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, github.Certificate()))}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })
	made, admin, err := local.Teams.CreateTeam(t.Context(), "Acme", "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID})
	if err != nil {
		t.Fatal(err)
	}
	call := func(path, body string, into any) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		local.Handler("https://docent.test/v1").ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code > http.StatusCreated {
			t.Fatalf("%s: %d %s %v", path, w.Code, w.Body, err)
		}
	}
	var source struct{ ID string }
	call("/data-sources", fmt.Sprintf(`{"provider":"github","name":"api","settings":{"repositories":["acme/api"],"baseUrl":%q}}`, github.API()), &source)
	if _, err := local.SyncSource(t.Context(), made.ID, source.ID, nil); err != nil {
		t.Fatal(err)
	}
	if err := local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := func(path, query string) (urls []string) {
		var reply struct {
			Sources []struct{ URL, Content string }
		}
		call(path, query, &reply)
		for _, s := range reply.Sources {
			_, short, _ := strings.Cut(s.URL, "acme/api/")
			urls = append(urls, short)
		}
		return urls
	}
	for _, tt := range []struct {
		name, path, body string
		want             []string
	}{
		{"a search gives threads first", "/context/search/issues", `{"query":"cache tickets start","limit":3}`, []string{"issues/1", "issues/2", "issues/3"}},
		{"a query gives the issue for a comment", "/context/query/issues", `{"query":"open issues about a kerberos principal"}`, []string{"issues/2"}},
		{"whatever its state, when none is asked for", "/context/query/issues", `{"query":"issues about a kerberos principal"}`, []string{"issues/2", "issues/3"}},
		{"a query gives the pull request for a comment on a line", "/context/query/prs", `{"query":"merged PRs about a kerberos principal"}`, []string{"pull/4"}},
		{"an issue and its comments are one", "/context/query/issues", `{"query":"open issues about the cache of tickets","limit":2}`, []string{"issues/1"}},
	} {
		got := found(tt.path, tt.body)
		for i := range got {
			if tt.path == "/context/search/issues" {
				got[i], _, _ = strings.Cut(got[i], "#")
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if all := found("/context/search/issues", `{"query":"cache tickets","limit":30}`); len(all) != 30 {
		t.Errorf("further comments do not follow: %q", all)
	}
}
