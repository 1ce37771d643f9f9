package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/team"
)

// Writing a rule again, in whatever case, moves no right to somebody who took the name of another. This holds for
// the rules of documents and for those of their collections and data sources.
func TestARuleWrittenAgainMeansWhomItMeant(t *testing.T) {
	t.Parallel()
	const name = "ada@acme.test"
	for _, place := range []string{"document", "collection", "data source"} {
		for _, written := range []string{name, strings.ToUpper(name)} {
			t.Run(place+", "+written, func(t *testing.T) {
				t.Parallel()
				a := newAPI(t)
				x := a.provisioned("acme")
				ada, eve := a.newColleague(x, name), a.newColleague(x, "eve@acme.test")
				wiki := a.newCollection(x.key, "wiki")
				jira, _ := a.connect(x, "jira", nil)
				const page, ticket = "https://wiki.test/a", "https://tracker.test/issues/1"
				var uri string
				write := map[string]func(name string){
					"document": func(name string) { uri = page; a.putWith(x.key, wiki, page, only(name)).want(t, 200) },
					"collection": func(name string) {
						uri = page
						a.do(call{"PATCH", "/collections/" + wiki, x.key, map[string]any{"defaultAccess": only(name)}, nil}).want(t, 200)
						a.putWith(x.key, wiki, page, nil).want(t, 200)
					},
					"data source": func(name string) {
						uri = ticket
						a.do(call{"PATCH", "/data-sources/" + jira, x.pat, map[string]any{"defaultAccess": only(name)}, nil}).want(t, 200)
						a.importItems(x, jira, issue(1, "The kirschkern is loose", nil)).want(t, 200)
					},
				}[place]
				read := func(step string) {
					t.Helper()
					for who, want := range map[colleague]bool{ada: true, eve: false} {
						body := a.do(call{"POST", "/context/get", who.key, map[string]any{"urls": []string{uri}}, nil}).want(t, 200).body
						if strings.Contains(string(body), `"content"`) != want {
							t.Errorf("%s, %s: %s", step, who.name, body)
						}
					}
				}
				write(name)
				read("written")
				a.rename(x, ada, "ada.lovelace@acme.test")
				a.rename(x, eve, name)
				read("after eve took the name")
				write(written)
				read("written again")
			})
		}
	}
}

// only is a rule that opens to one user.
func only(name string) map[string]any { return map[string]any{"users": []string{name}} }

// TestANameMayLookLikeAnID: some directories have a UUID as the userName. An id may be written in capitals.
func TestANameMayLookLikeAnID(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", ActFor: true})
	ada := a.newColleague(x, uuid.NewString())
	page := a.putWith(x.key, a.newCollection(x.key, "wiki"), "https://wiki.test/a", only(ada.name)).want(t, 200).text(t, "id")
	for _, named := range []string{ada.name, strings.ToUpper(ada.name), ada.id, strings.ToUpper(ada.id)} {
		a.do(call{"GET", "/documents/" + page, bot, nil, map[string]string{"Docent-User": named}}).want(t, 200)
		if reply := a.do(call{"GET", "/documents/" + page + "/access?user=" + named, x.key, nil, nil}).want(t, 200); !strings.Contains(string(reply.body), `"mayRead":true`) {
			t.Errorf("%s: %s", named, reply.body)
		}
	}
}
