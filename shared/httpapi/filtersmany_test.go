package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAFilterFindsTheFewAmongMany: the documents that a filter selects are found although hundreds of others fit
// the words better, because the others are left out before anything is ranked.
func TestAFilterFindsTheFewAmongMany(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	const many, few = 600, 7
	for n := range many {
		a.described(acme.key, wiki, fmt.Sprintf("many%d", n), "The lighthouse, a lighthouse: lighthouse.", fmt.Sprintf(`{"kind":"common","n":%d}`, n))
	}
	var want []string
	for n := range few {
		page := fmt.Sprintf("few%d", n)
		a.described(acme.key, wiki, page, "Among many other words about ships and harbours there is once the lighthouse.", fmt.Sprintf(`{"kind":"rare","n":%d}`, n))
		want = append(want, page)
	}
	a.drain()
	for filter, want := range map[string][]string{
		`{"kind":"rare"}`:                                want,
		`{"kind":"rare","n":{"gte":3,"lt":5}}`:           want[3:5],
		`{"or":[{"kind":"rare","n":1},{"kind":"none"}]}`: want[1:2],
		`{"n":599}`:                 {"many599"},
		`{"not":{"kind":"common"}}`: want,
		`{"kind":{"in":["rare"]},"not":{"n":{"gt":0}}}`: want[:1],
	} {
		got := a.do(withFilter("/context/search", acme.key, "lighthouse", filter)).found(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s finds %v, want %v", filter, got, want)
		}
	}
	a.do(call{"PUT", "/answers/" + numberedID(1), acme.key, map[string]any{"question": "Where is the lighthouse among ships and harbours?",
		"filter": json.RawMessage(`{"kind":"rare","n":6}`)}, nil}).want(t, 204)
	a.drain()
	reply := a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, nil}).want(t, 200)
	if !strings.Contains(string(reply.body), `"references":[{"htmlUrl":"https://tracker.test/few6"`) {
		t.Errorf("the answer is %s", reply.body)
	}
}

// TestAChangeOfMetadataIsFoundAtOnce: the next search decides by the metadata of the last put.
func TestAChangeOfMetadataIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	find := func(filter string) string {
		t.Helper()
		return strings.Join(a.do(withFilter("/context/search", acme.key, "lighthouse", filter)).found(t), " ")
	}
	for _, metadata := range []string{`{"state":"draft"}`, `{"state":"final","n":1}`, `{}`, `{"state":"draft"}`} {
		a.described(acme.key, wiki, "page", "The lighthouse shines red.", metadata)
		if got := find(`{"state":{"exists":true}}`); got != "" && metadata == `{}` {
			t.Errorf("before indexing, %s: %s", metadata, got)
		}
		a.drain()
		for filter, selects := range map[string]bool{`{"state":"draft"}`: strings.Contains(metadata, "draft"), `{"n":1}`: strings.Contains(metadata, "n\":1"),
			`{"state":{"exists":false}}`: metadata == `{}`} {
			if got := find(filter); (got == "page") != selects {
				t.Errorf("%s with the metadata %s: %q", filter, metadata, got)
			}
		}
	}
}

// TestFiltersTellNothingOfWhatMayNotBeRead compares the replies that a person gets, with a document that this
// person may not read and without it.
func TestFiltersTellNothingOfWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	with, without := a.newTenant("with"), a.newTenant("without")
	for _, x := range []tenant{with, without} {
		wiki := a.manuals(x)
		if x.ID == with.ID {
			a.do(call{"PUT", "/documents", with.key, map[string]any{"collectionId": wiki, "uri": "https://tracker.test/closed", "title": "closed",
				"body": "The lighthouse hides a zeppelin. The lighthouse of the closed one shines green.", "access": map[string]any{"users": []string{}},
				"metadata": map[string]any{"product": "api", "secret": "zeppelin", "version": 9}}, nil}).want(t, 200)
			a.drain()
		}
	}
	if got := a.do(withFilter("/context/search", with.key, "lighthouse", `{"secret":"zeppelin"}`)).found(t); !slices.Equal(got, []string{"closed"}) {
		t.Fatalf("the team finds %v", got)
	}
	for n, filter := range []string{`{"secret":"zeppelin"}`, `{"secret":{"exists":true}}`, `{"product":"api"}`, `{"version":{"gt":3}}`, `{"not":{"secret":"zeppelin"}}`,
		`{"not":{"secret":{"exists":false}}}`, `{"or":[{"secret":"zeppelin"},{"public":true}]}`, `{"createdAt":{"gte":"2026-01-01"}}`} {
		replies := map[string][2]string{}
		for i, x := range []tenant{with, without} {
			keep := func(what string, reply response) {
				t.Helper()
				both := replies[what]
				both[i] = reply.want(t, 200).sorted(t)
				replies[what] = both
			}
			request := withFilter("/context/search", x.pat, "lighthouse zeppelin", filter)
			request.body.(map[string]any)["explain"] = true
			keep("search", a.do(request))
			keep("documentation", a.do(withFilter("/context/search/documentation", x.pat, "zepelin", filter)))
			keep("research", a.do(withFilter("/context/research", x.pat, "What does the lighthouse hide?", filter)))
			id := fmt.Sprintf("0190d2a0-0000-7000-8000-%04d%08d", i, n)
			a.do(call{"PUT", "/answers/" + id, x.pat, map[string]any{"question": "What does the lighthouse hide?", "filter": json.RawMessage(filter)}, nil}).want(t, 204)
			a.drain()
			answer := a.do(call{"GET", "/answers/" + id, x.pat, nil, nil})
			answer.body = []byte(strings.ReplaceAll(string(answer.body), id, "ID"))
			keep("answer", answer)
		}
		for what, both := range replies {
			if both[0] != both[1] {
				t.Errorf("%s with %s differs:\n%s\n%s", what, filter, both[0], both[1])
			}
			if strings.Contains(both[0], "hides a zeppelin") || strings.Contains(both[0], "/closed") {
				t.Errorf("%s with %s: %s", what, filter, both[0])
			}
		}
	}
}

// sorted returns the reply with its sources in order of their text: those of equal scores are in order of their
// ids, which differ between teams.
func (r response) sorted(t *testing.T) string {
	t.Helper()
	var body map[string]any
	r.json(t, &body)
	if sources, ok := body["sources"].([]any); ok {
		slices.SortFunc(sources, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
