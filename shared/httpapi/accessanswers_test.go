package httpapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/team"
)

// An answer that was made for a person is withheld once they may not read its documents.
func TestAnAnswerClosesWithItsDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada, eve := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{ada.name}}).want(t, 200)
	a.drain()
	id := uuid.NewString()
	a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
	a.drain()
	if reply := a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200); !strings.Contains(string(reply.body), "cellar") {
		t.Fatalf("ada reads %s", reply.body)
	}
	a.do(call{"GET", "/answers/" + id, eve.key, nil, nil}).wantCode(t, 404, "not-found")
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{eve.name}}).want(t, 200)
	for _, path := range []string{"/answers/" + id, "/answers"} {
		reply := a.do(call{"GET", path, ada.key, nil, nil}).want(t, 200)
		if text := string(reply.body); strings.Contains(text, "cellar") || strings.Contains(text, "wiki.test") || !strings.Contains(text, "access-changed") {
			t.Errorf("%s: %s", path, text)
		}
	}
	// The worker answers with what the asker may read then, not when they asked.
	late := uuid.NewString()
	a.ask(eve.key, late, "Where is the kirschkern kept?").want(t, 204)
	a.putWith(x.key, wiki, "https://wiki.test/a", map[string]any{"users": []string{ada.name}}).want(t, 200)
	a.drain()
	if reply := a.do(call{"GET", "/answers/" + late, eve.key, nil, nil}).want(t, 200); strings.Contains(string(reply.body), "cellar") || !strings.Contains(string(reply.body), "complete") {
		t.Errorf("eve reads %s", reply.body)
	}
}

// Who may no longer read a document does not get it back, in an answer, once it is deleted, nor when they put another one
// at its URI then. Who might read it in the end does, when there is one again that they may read.
func TestADeletedDocumentOpensNoAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own, byDefault any
		later          any  // the rule that the document gets after the answer
		laterDefault   any  // the default rule that the collection gets after the answer
		whole          bool // the collection is deleted
		withheld       bool
		back           bool // the answer is shown once a document is put again
	}{
		"a document with a rule":                            {own: "ada", withheld: true, back: true},
		"a document with a rule, with its collection":       {own: "ada", whole: true, withheld: true, back: true},
		"a document by default":                             {byDefault: "ada", withheld: true, back: true},
		"a document by default, with its collection":        {byDefault: "ada", whole: true, withheld: true, back: true},
		"one that everyone read":                            {},
		"one that ada lost":                                 {later: "bob", withheld: true},
		"one that ada lost, with its collection":            {later: "bob", whole: true, withheld: true},
		"one that ada read in the end":                      {later: "ada"},
		"one that ada lost by default":                      {laterDefault: "bob", withheld: true},
		"one that ada lost by default, with its collection": {laterDefault: "bob", whole: true, withheld: true},
		"one that ada read by default in the end, with it":  {laterDefault: "ada", whole: true},
	} {
		for again, drainsBefore := range map[string]bool{"put again at once": false, "put again later": true} {
			t.Run(name+", "+again, func(t *testing.T) {
				t.Parallel()
				a := newAPI(t)
				x := a.newTenant("acme")
				ada := a.newColleague(x, "ada@acme.test")
				rule := func(who any) any {
					if who == nil {
						return nil
					}
					return map[string]any{"users": []any{who.(string) + "@acme.test"}}
				}
				body := map[string]any{"name": "wiki", "description": "Wiki"}
				if test.byDefault != nil {
					body["defaultAccess"] = rule(test.byDefault)
				}
				wiki := a.do(call{"POST", "/collections", x.key, body, nil}).want(t, 201).text(t, "id")
				document := a.putWith(x.key, wiki, "https://wiki.test/a", rule(test.own)).want(t, 200).text(t, "id")
				a.drain()
				id := uuid.NewString()
				a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
				a.drain()
				shown := func() bool {
					one := string(a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200).body)
					list := string(a.do(call{"GET", "/answers", ada.key, nil, nil}).want(t, 200).body)
					if strings.Contains(one, "cellar") != strings.Contains(list, "cellar") {
						t.Errorf("one answer is %s, the list %s", one, list)
					}
					return strings.Contains(one, "cellar")
				}
				if !shown() {
					t.Fatal("ada reads nothing")
				}
				if test.later != nil {
					a.do(call{"PATCH", "/documents/" + document, x.key, map[string]any{"access": rule(test.later)}, nil}).want(t, 200)
					if shown() == test.withheld {
						t.Errorf("withheld after the change: %t", !test.withheld)
					}
				}
				if test.laterDefault != nil {
					a.do(call{"PATCH", "/collections/" + wiki, x.key, map[string]any{"defaultAccess": rule(test.laterDefault)}, nil}).want(t, 200)
					if shown() == test.withheld {
						t.Errorf("withheld after the change of the default: %t", !test.withheld)
					}
				}
				if test.whole {
					a.do(call{"DELETE", "/collections/" + wiki, x.key, nil, nil}).want(t, 204)
				} else {
					a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
				}
				withheld := test.withheld
				check := func(when string) {
					t.Helper()
					if shown() == withheld {
						t.Errorf("%s: withheld: %t", when, !withheld)
					}
				}
				check("deleted")
				if drainsBefore {
					a.drain()
					check("deleted and removed")
				}
				a.clock.Advance(time.Second)
				a.putWith(ada.key, a.newCollection(x.key, "other"), "https://wiki.test/a", nil).want(t, 200)
				withheld = withheld && !test.back
				check("put again")
				a.drain()
				check("put again and indexed")
				later := uuid.NewString()
				a.ask(ada.key, later, "Where is the kirschkern kept?").want(t, 204)
				a.drain()
				if reply := a.do(call{"GET", "/answers/" + later, ada.key, nil, nil}).want(t, 200); !strings.Contains(string(reply.body), "cellar") {
					t.Errorf("an answer from the new document: %s", reply.body)
				}
			})
		}
	}
}

// The same for the items of a data source that is deleted, also when they come back with another source, for everyone.
func TestADeletedSourceOpensNoAnswer(t *testing.T) {
	t.Parallel()
	for name, removed := range map[string]bool{"items are there again at once": false, "items are there again later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			x := a.newTenant("acme")
			ada := a.newColleague(x, "ada@acme.test")
			source, _ := a.connect(x, "jira", nil)
			a.importItems(x, source, issue(1, "The kirschkern is kept in the cellar", nil)).want(t, 200)
			a.drain()
			id := uuid.NewString()
			a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
			a.drain()
			shown := func() bool {
				return strings.Contains(string(a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200).body), "cellar")
			}
			if !shown() {
				t.Fatal("ada reads nothing")
			}
			a.do(call{"PATCH", "/data-sources/" + source, x.pat, map[string]any{"defaultAccess": map[string]any{"users": []string{"bob@acme.test"}}}, nil}).want(t, 200)
			a.do(call{"DELETE", "/data-sources/" + source, x.pat, nil, nil}).want(t, 204)
			if shown() {
				t.Error("the answer comes back with the deletion")
			}
			if removed {
				if a.drain(); shown() {
					t.Error("the answer comes back when the items are removed")
				}
			}
			a.clock.Advance(time.Second)
			source, _ = a.connect(x, "jira", nil)
			a.importItems(x, source, issue(1, "Nothing", nil)).want(t, 200)
			if shown() {
				t.Error("the answer comes back with another source")
			}
			if a.drain(); shown() {
				t.Error("the answer comes back when the items of another source are indexed")
			}
		})
	}
}

// A key that is restricted to sources reads no answer that was made from a document that is not in them any more. It
// may still rate and erase the answer, which stays as it is for other keys.
func TestAnAnswerClosesForAKeyThatLosesItsDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki, hr := a.newCollection(x.key, "wiki"), a.newCollection(x.key, "hr")
	_, limited := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: ada.id, DataSourceIDs: []string{wiki}})
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", DataSourceIDs: []string{wiki}})
	a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200)
	a.drain()
	for who, key := range map[string]string{"ada": limited, "a team key": bot} {
		id := uuid.NewString()
		a.ask(key, id, "Where is the kirschkern kept?").want(t, 204)
		a.drain()
		shown := func(key string) bool {
			one := string(a.do(call{"GET", "/answers/" + id, key, nil, nil}).want(t, 200).body)
			list := string(a.do(call{"GET", "/answers", key, nil, nil}).want(t, 200).body)
			if strings.Contains(one, "cellar") != strings.Contains(list, "cellar") {
				t.Errorf("%s: one answer is %s, the list %s", who, one, list)
			}
			return strings.Contains(one, "cellar")
		}
		if !shown(key) {
			t.Fatalf("%s reads nothing", who)
		}
		a.putWith(x.key, hr, "https://wiki.test/a", nil).want(t, 200)
		if shown(key) {
			t.Errorf("%s reads the answer by a key that may not use the collection", who)
		}
		a.do(call{"PUT", "/answers/" + id + "/feedback", key, map[string]string{"rating": "up"}, nil}).want(t, 204)
		if shown(key) || !shown(x.key) {
			t.Errorf("%s: rating the answer changed it", who)
		}
		a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200)
		a.drain()
		if !shown(key) {
			t.Errorf("%s does not get the answer back with the document", who)
		}
		a.do(call{"DELETE", "/answers/" + id, key, nil, nil}).want(t, 204)
	}
}

// TestAListTellsDocumentsAtOneAddressApart: two documents had one URI, one after the other, so they have one id. A list, which
// looks at a document once for all of its answers, withholds the same as a read of each.
func TestAListTellsDocumentsAtOneAddressApart(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki := a.newCollection(x.key, "wiki")
	put := func() string {
		return a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200).text(t, "id")
	}
	ask := func() string {
		id := uuid.NewString()
		a.ask(ada.key, id, "Where is the kirschkern kept?").want(t, 204)
		a.drain()
		a.clock.Advance(time.Second)
		return id
	}
	withdraw := func(document string) {
		a.do(call{"PATCH", "/documents/" + document, x.key, map[string]any{"access": map[string]any{"users": []any{"bob@acme.test"}}}, nil}).want(t, 200)
	}
	shown := func(want ...string) {
		t.Helper()
		var items []struct{ QuestionID, Answer string }
		list := a.do(call{"GET", "/answers", ada.key, nil, nil}).want(t, 200)
		if err := json.Unmarshal(list.body, &items); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range items {
			one := a.do(call{"GET", "/answers/" + item.QuestionID, ada.key, nil, nil}).want(t, 200)
			if listed := strings.Contains(item.Answer, "cellar"); listed != strings.Contains(string(one.body), "cellar") {
				t.Errorf("the answer %s is %s, the list has %+v", item.QuestionID, one.body, item)
			} else if listed {
				got = append(got, item.QuestionID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ada is shown %v, want %v", got, want)
		}
	}
	document := put()
	a.drain()
	first := ask()
	shown(first)
	withdraw(document)
	a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
	a.drain()
	a.clock.Advance(time.Second)
	document = put()
	a.drain()
	second := ask()
	shown(second)
	withdraw(document)
	shown()
}

// TestAReplacementOpensNoAnswer: an answer was made from a text that its asker lost. Another text at the same URI, which everyone may
// read, does not open it. The same text with a wider rule does.
func TestAReplacementOpensNoAnswer(t *testing.T) {
	t.Parallel()
	ada, bob := map[string]any{"users": []any{"ada@acme.test"}}, map[string]any{"users": []any{"bob@acme.test"}}
	type change struct {
		rule     any    // nil: everyone
		body     string // empty: only the rule changes
		title    string // empty: it stays
		moved    bool   // to a collection that everyone reads
		remade   bool   // it is deleted before
		withheld bool
	}
	for name, test := range map[string]struct {
		byDefault any // of its collection
		first     any // the rule that it has when ada asks
		changes   []change
	}{
		"another text for all":                    {first: ada, changes: []change{{rule: bob, withheld: true}, {body: "Nothing.", withheld: true}}},
		"another text, then for all":              {first: ada, changes: []change{{rule: bob, withheld: true}, {rule: bob, body: "Nothing.", withheld: true}, {withheld: true}}},
		"several texts":                           {first: ada, changes: []change{{rule: bob, withheld: true}, {rule: bob, body: "One.", withheld: true}, {rule: ada, body: "Two.", withheld: true}, {body: "Three.", withheld: true}}},
		"another text of a document once open":    {changes: []change{{rule: bob, withheld: true}, {body: "Nothing.", withheld: true}}},
		"another title for all":                   {first: ada, changes: []change{{rule: bob, withheld: true}, {title: "About nothing", withheld: true}}},
		"another text in an open collection":      {byDefault: bob, first: ada, changes: []change{{rule: bob, withheld: true}, {body: "Nothing.", moved: true, withheld: true}}},
		"another text, for her again":             {first: ada, changes: []change{{rule: ada, body: "Nothing."}, {body: "More."}}},
		"the same text for all":                   {first: ada, changes: []change{{rule: bob, withheld: true}, {}}},
		"the same text in an open collection":     {first: ada, changes: []change{{rule: bob, withheld: true}, {moved: true}}},
		"another text of a document that is open": {changes: []change{{body: "Nothing."}, {rule: bob, withheld: true}, {}}},
		"made again for her":                      {first: ada, changes: []change{{rule: ada, body: "Nothing.", remade: true}}},
		"made again for all":                      {first: ada, changes: []change{{body: "Nothing.", remade: true}}},
		"made again for others, then for all":     {first: ada, changes: []change{{rule: bob, body: "Nothing.", remade: true, withheld: true}, {}}},
		"made again after she lost it":            {first: ada, changes: []change{{rule: bob, withheld: true}, {body: "Nothing.", remade: true, withheld: true}}},
		"made again, after another text for others": {first: ada, changes: []change{{rule: bob, withheld: true}, {rule: bob, body: "One.", withheld: true},
			{rule: ada, withheld: true}, {rule: ada, body: "Two.", remade: true, withheld: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			x := a.newTenant("acme")
			reader := a.newColleague(x, "ada@acme.test")
			collection := map[string]any{"name": "wiki", "description": "Wiki"}
			if test.byDefault != nil {
				collection["defaultAccess"] = test.byDefault
			}
			wiki := a.do(call{"POST", "/collections", x.key, collection, nil}).want(t, 201).text(t, "id")
			in := map[string]any{"collectionId": wiki, "uri": "https://wiki.test/a", "title": "About it", "body": kirschkern, "access": test.first}
			put := func() string {
				if in["access"] == nil {
					delete(in, "access")
				}
				return a.do(call{"PUT", "/documents", x.key, in, nil}).want(t, 200).text(t, "id")
			}
			document := put()
			a.drain()
			ask := func() string {
				a.clock.Advance(time.Second)
				id := uuid.NewString()
				a.ask(reader.key, id, "Where is the kirschkern kept?").want(t, 204)
				a.drain()
				a.clock.Advance(time.Second)
				return id
			}
			shown := func(id string) bool {
				one := string(a.do(call{"GET", "/answers/" + id, reader.key, nil, nil}).want(t, 200).body)
				return strings.Contains(one, "cellar")
			}
			id := ask()
			if !shown(id) {
				t.Fatal("ada reads nothing")
			}
			for i, c := range test.changes {
				switch in["access"] = c.rule; {
				case c.remade:
					a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
					a.drain()
					a.clock.Advance(time.Second)
					in["body"] = c.body
					put()
				case c.body == "" && c.title == "" && !c.moved:
					a.do(call{"PATCH", "/documents/" + document, x.key, map[string]any{"access": c.rule}, nil}).want(t, 200)
				default:
					if c.moved {
						in["collectionId"] = a.newCollection(x.key, "open")
					}
					in["body"], in["title"] = cmp.Or(c.body, in["body"].(string)), cmp.Or(c.title, in["title"].(string))
					put()
				}
				if shown(id) == c.withheld {
					t.Errorf("after change %d the answer is withheld: %t", i, !c.withheld)
				}
				a.clock.Advance(time.Second)
			}
			in["access"], in["body"] = nil, kirschkern
			put()
			a.drain()
			if !shown(ask()) {
				t.Error("what is asked afterwards is withheld")
			}
		})
	}
}

// TestClocksThatDifferOpenNoAnswer: what ends a text may happen on a machine whose clock is behind that of the question, or of the text.
// An answer is for those who might read the text that it was made from, whenever the question was asked.
func TestClocksThatDifferOpenNoAnswer(t *testing.T) {
	t.Parallel()
	ada, bob := map[string]any{"users": []any{"ada@acme.test"}}, map[string]any{"users": []any{"bob@acme.test"}}
	for name, behind := range map[string]time.Duration{"no clock is behind": 0, "behind that of the question": 5 * time.Second, "behind that of the text": 15 * time.Second} {
		for _, deleted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deleted: %t", name, deleted), func(t *testing.T) {
				t.Parallel()
				a := newAPI(t)
				x := a.newTenant("acme")
				reader, other := a.newColleague(x, "ada@acme.test"), a.newColleague(x, "eve@acme.test")
				wiki := a.newCollection(x.key, "wiki")
				in := map[string]any{"collectionId": wiki, "uri": "https://wiki.test/a", "title": "About it", "body": kirschkern, "access": ada}
				put := func() string { return a.do(call{"PUT", "/documents", x.key, in, nil}).want(t, 200).text(t, "id") }
				document := put()
				a.drain()
				ask := func(by colleague) string {
					id := uuid.NewString()
					a.ask(by.key, id, "Where is the kirschkern kept?").want(t, 204)
					a.drain()
					return id
				}
				shown := func(by colleague, id string) bool {
					return strings.Contains(string(a.do(call{"GET", "/answers/" + id, by.key, nil, nil}).want(t, 200).body), "cellar")
				}
				a.clock.Advance(10 * time.Second)
				id := ask(reader)
				if !shown(reader, id) {
					t.Fatal("ada reads nothing")
				}
				now := a.clock.Now()
				set := func(after time.Duration) { a.clock.Advance(now.Add(after).Sub(a.clock.Now())) }
				set(time.Millisecond - behind)
				a.do(call{"PATCH", "/documents/" + document, x.key, map[string]any{"access": bob}, nil}).want(t, 200)
				if deleted {
					a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
					set(20 * time.Second)
				}
				delete(in, "access")
				in["body"] = kirschkern + " It is for all."
				put()
				a.drain()
				set(30 * time.Second)
				if shown(reader, id) {
					t.Error("ada gets back the answer that was made from the text that she lost")
				}
				set(-time.Second) // as of a question that is answered late
				if id := ask(other); !shown(other, id) {
					t.Error("what was made from the text for all is withheld")
				}
			})
		}
	}
}

// TestADeletionOpensNoAnswerToAKey that may not use the collection that the document was moved to before.
func TestADeletionOpensNoAnswerToAKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	x := a.newTenant("acme")
	ada := a.newColleague(x, "ada@acme.test")
	wiki, hr := a.newCollection(x.key, "wiki"), a.newCollection(x.key, "hr")
	_, limited := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "limited", UserID: ada.id, DataSourceIDs: []string{wiki}})
	_, bot := a.newKey(x.ID, team.NewKey{Kind: team.KindTeam, Name: "bot", DataSourceIDs: []string{wiki}})
	for who, key := range map[string]string{"ada": limited, "a team key": bot} {
		uri := "https://wiki.test/" + uuid.NewString()
		document := a.putWith(x.key, wiki, uri, nil).want(t, 200).text(t, "id")
		a.drain()
		id := uuid.NewString()
		a.ask(key, id, "Where is the kirschkern kept?").want(t, 204)
		a.drain()
		a.clock.Advance(time.Second)
		shown := func(key string) bool {
			return strings.Contains(string(a.do(call{"GET", "/answers/" + id, key, nil, nil}).want(t, 200).body), "cellar")
		}
		if !shown(key) {
			t.Fatalf("%s reads nothing", who)
		}
		a.putWith(x.key, hr, uri, nil).want(t, 200)
		a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
		if shown(key) {
			t.Errorf("%s reads the answer once the document is deleted", who)
		}
		if a.drain(); shown(key) || !shown(x.key) {
			t.Errorf("%s reads the answer: %t, and a key that is not limited: %t", who, shown(key), shown(x.key))
		}
		a.clock.Advance(time.Second)
		document = a.putWith(x.key, wiki, uri, nil).want(t, 200).text(t, "id")
		if shown(key) {
			t.Errorf("%s reads the answer once another document is put", who)
		}
		a.do(call{"DELETE", "/documents/" + document, x.key, nil, nil}).want(t, 204)
		a.drain()
	}
}

// TestAnAnswerNamesNoClosedDocument: an answer that found nothing names the closest documents, also beside what another part of the
// question found. It is withheld with each of them.
func TestAnAnswerNamesNoClosedDocument(t *testing.T) {
	t.Parallel()
	for name, question := range map[string]string{
		"nothing is found":             "Which insurance pays for a violin?",
		"a part of the question finds": "Where is the kirschkern kept? Which insurance pays for a violin?",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			x := a.newTenant("acme")
			ada := a.newColleague(x, "ada@acme.test")
			wiki := a.newCollection(x.key, "wiki")
			a.putWith(x.key, wiki, "https://wiki.test/a", nil).want(t, 200)
			violin := a.do(call{"PUT", "/documents", x.key, map[string]any{"collectionId": wiki, "uri": "https://wiki.test/dismissals", "title": "Dismissals",
				"body": "# The violin\n\nThe violin of the baker is blue.\n\n# The oven\n\nIt is hot in there."}, nil}).want(t, 200).text(t, "id")
			a.drain()
			id := uuid.NewString()
			a.ask(ada.key, id, question).want(t, 204)
			a.drain()
			read := func() string {
				return string(a.do(call{"GET", "/answers/" + id, ada.key, nil, nil}).want(t, 200).body)
			}
			if text := read(); !strings.Contains(text, "Closest") || !strings.Contains(text, "Dismissals") {
				t.Fatalf("no closest document is named: %s", text)
			}
			a.do(call{"PATCH", "/documents/" + violin, x.key, map[string]any{"access": map[string]any{}}, nil}).want(t, 200)
			if text := read(); strings.Contains(strings.ToLower(text), "dismissals") || !strings.Contains(text, "access-changed") {
				t.Errorf("after the document was closed: %s", text)
			}
			a.do(call{"PATCH", "/documents/" + violin, x.key, map[string]any{"access": nil}, nil}).want(t, 200)
			if text := read(); !strings.Contains(text, "Dismissals") {
				t.Errorf("after it was opened again: %s", text)
			}
		})
	}
}
