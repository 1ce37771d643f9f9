package connectors_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/connect/github/githubtest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/team"
)

// BenchmarkBackfill reads a repository of a thousand issues and pull requests into
// a new data folder, each write on disk before the next, indexing included.
func BenchmarkBackfill(b *testing.B) {
	github := githubtest.New(b)
	github.AnyToken()
	const items = 1000
	github.Put("acme/api", func(r *githubtest.Repository) {
		for n := range items {
			r.Issues = append(r.Issues, github.NewIssue("acme/api", n+1, fmt.Sprintf("Issue %d of the gateway", n+1)))
		}
	})
	for b.Loop() {
		local, err := app.OpenLocal(b.Context(), b.TempDir(), app.LocalOptions{Log: slog.New(slog.DiscardHandler),
			Parts: app.Parts{Connect: connectors.With(fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, github.Certificate()))}})
		if err != nil {
			b.Fatal(err)
		}
		made, admin, err := local.Teams.CreateTeam(b.Context(), "Acme", "ada@acme.test")
		if err != nil {
			b.Fatal(err)
		}
		_, key, err := local.Teams.CreateKey(b.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "ada", UserID: admin.ID})
		if err != nil {
			b.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodPost, "/v1/data-sources", strings.NewReader(fmt.Sprintf(
			`{"provider":"github","name":"api","settings":{"repositories":["acme/api"],"baseUrl":%q}}`, github.API())))
		request.Header.Set("Authorization", "Bearer "+key)
		reply := httptest.NewRecorder()
		local.Handler("https://docent.test/v1").ServeHTTP(reply, request)
		id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(reply.Body.String())
		if reply.Code != http.StatusCreated || id == nil {
			b.Fatalf("%d %s", reply.Code, reply.Body)
		}
		p, err := local.SyncSource(b.Context(), made.ID, id[1], nil)
		if err != nil || p.Read < items {
			b.Fatalf("%+v %v", p, err)
		}
		if err := local.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(items)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
