package httpapi_test

import (
	"regexp"
	"testing"
)

// TestReferencesAreSoundLinks: the links of an answer and its references have the same
// percent-encoded addresses.
func TestReferencesAreSoundLinks(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://x.test/Zebra_(animal)?q='z'", "Zebras", "A zebra grazes at night near the lake.")
	a.drain()
	a.ask(acme.key, numberedID(1), "When does a zebra graze?").want(t, 204)
	a.drain()
	var got struct {
		Answer     string
		References []struct{ HTMLURL string }
		Result     struct{ References []struct{ HTMLURL string } }
	}
	a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, nil}).want(t, 200).json(t, &got)
	const want = "https://x.test/Zebra_%28animal%29?q='z'"
	link := regexp.MustCompile(`\[1\]\(([^)]*)\)`).FindStringSubmatch(got.Answer)
	if len(got.References) == 0 || got.References[0].HTMLURL != want || got.Result.References[0].HTMLURL != want || link == nil || link[1] != want {
		t.Errorf("%+v", got)
	}
}
