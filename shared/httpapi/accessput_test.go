package httpapi_test

import (
	"maps"
	"testing"

	"github.com/google/uuid"

	"docent/shared/team"
)

// A put that would create nothing is answered alike for a URI that is taken by what the caller may not read, and for one
// that is free: whoever only guesses learns nothing.
func TestAPutThatCreatesNothingShowsNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	eve := a.newColleague(x, "eve@acme.test")
	wiki, other := a.newCollection(x.key, "wiki"), a.newCollection(x.key, "other")
	_, limited := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: eve.id, DataSourceIDs: []string{other}})
	a.putWith(x.key, wiki, "https://wiki.test/hidden", map[string]any{}).want(t, 200)
	attempts := map[string]struct {
		body   map[string]any
		header map[string]string
		want   int
	}{
		"under a condition":            {map[string]any{"body": "x"}, map[string]string{"If-Match": `"1"`}, 412},
		"under the condition of any":   {map[string]any{"body": "x"}, map[string]string{"If-Match": "*"}, 412},
		"with an unknown upload":       {map[string]any{"upload": uuid.NewString()}, nil, 400},
		"with what is no upload":       {map[string]any{"upload": "x"}, nil, 400},
		"into an unknown collection":   {map[string]any{"body": "x", "collectionId": uuid.Nil.String()}, nil, 0},
		"with metadata out of bounds":  {map[string]any{"body": "x", "metadata": map[string]any{"1": 1}}, nil, 400},
		"with an unknown media type":   {map[string]any{"body": "x", "mediaType": "text/plain"}, nil, 400},
		"with a rule of no characters": {map[string]any{"body": "x", "access": only(" ")}, nil, 400},
	}
	for key, secret := range map[string]string{"her key": eve.key, "her restricted key": limited} {
		for name, try := range attempts {
			at := func(uri string) response {
				body := map[string]any{"collectionId": other, "uri": uri, "title": "Mine"}
				maps.Copy(body, try.body)
				return a.do(call{"PUT", "/documents", secret, body, try.header})
			}
			taken, free := at("https://wiki.test/hidden"), at("https://wiki.test/free")
			if plain(taken) != plain(free) || try.want != 0 && taken.StatusCode != try.want {
				t.Errorf("%s, %s: %d %s, and for a free one %d %s", key, name, taken.StatusCode, taken.body, free.StatusCode, free.body)
			}
		}
	}
}
