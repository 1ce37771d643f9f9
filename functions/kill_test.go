package functions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/scim/scimtest"
	"docent/shared/table"
)

// attempt is one act of a client or a queue, on its own records.
type attempt struct {
	c          *cloud
	worker     string // the function that does the work of a queue
	collection string
	page       string // name of a document
	document   string // its id, if it was prepared
	source     string // id of a data source
	question   string // id
	repeat     string // Idempotency-Key
}

// act is something that a function does in several steps.
type act struct {
	name, function string
	prepare        func(a *attempt)
	do             func(a *attempt) reply // of a worker: status 0
	ok             int                    // status of do
	gone           bool                   // a repeat may find nothing any more: 404
	taken          int                    // the status if a repeat finds that it already exists
	check          func(a *attempt)       // called when everything is settled
}

const howTo = "How do I roll back a deployment?"

func prepareDocument(a *attempt) {
	a.document = a.c.id(a.c.want(a.c.put(a.collection, a.page, rollback), 200))
	a.c.drain()
}

func (a *attempt) work() reply {
	a.c.deliver(a.worker)
	return reply{}
}

func (a *attempt) isFound(found bool) {
	a.c.t.Helper()
	uri := "https://wiki.test/" + a.page + `"`
	if r := a.c.answer(howTo); strings.Contains(r.body, uri) != found {
		a.c.t.Errorf("found is not %t: %s", found, r.body)
	}
}

// isRecorded checks that the feed has the event of the act.
func (a *attempt) isRecorded(kind string) {
	a.c.t.Helper()
	feed := a.c.want(a.c.do("GET", "/security-events?limit=200&order=desc&until=2100-01-01T00:00:00Z&eventType="+kind, nil), 200)
	if n := strings.Count(feed.body, `"`+a.page); n == 0 {
		a.c.t.Errorf("no %s of %s in the feed: %.500s", kind, a.page, feed.body)
	}
}

func (a *attempt) isGone() {
	a.c.t.Helper()
	a.c.want(a.c.do("GET", "/documents/"+a.document, nil), 404)
	a.isFound(false)
	for _, item := range a.c.items(table.Documents) {
		if strings.Contains(item, a.document) {
			a.c.t.Errorf("left behind: %.300s", item)
		}
	}
}

var acts = []act{
	{name: "create a collection", function: "collections", ok: 201,
		do: func(a *attempt) reply { return a.c.create(a.page, a.repeat) },
		check: func(a *attempt) {
			if n := strings.Count(a.c.want(a.c.do("GET", "/collections", nil), 200).body, `"`+a.page+`"`); n != 1 {
				a.c.t.Errorf("%d collections of one name", n)
			}
		}},
	{name: "put a document", function: "documents", ok: 200,
		do: func(a *attempt) reply { return a.c.put(a.collection, a.page, rollback) },
		check: func(a *attempt) {
			r := a.c.want(a.c.do("GET", "/documents?collectionId="+a.collection, nil), 200)
			if n := strings.Count(r.body, `"id"`); n != 1 {
				a.c.t.Errorf("listed %d times: %s", n, r.body)
			}
			a.isFound(true)
		}},
	{name: "put a long document", function: "documents", ok: 200,
		do: func(a *attempt) reply {
			return a.c.put(a.collection, a.page, rollback+strings.Repeat("More words.\n\n", 400))
		},
		check: func(a *attempt) { a.isFound(true) }},
	{name: "replace a document", function: "documents", ok: 200, prepare: prepareDocument,
		do: func(a *attempt) reply { return a.c.put(a.collection, a.page, lunch) },
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/documents/"+a.document, nil), 200, "soup", `"state":"indexed"`)
			if r := a.c.answer(howTo); strings.Contains(r.body, "deployctl") {
				a.c.t.Errorf("the old version is quoted: %s", r.body)
			}
		}},
	{name: "delete a document", function: "documents", ok: 204, prepare: prepareDocument,
		do:    func(a *attempt) reply { return a.c.do("DELETE", "/documents/"+a.document, nil) },
		check: func(a *attempt) { a.isGone() }},
	{name: "delete a collection", function: "collections", ok: 204, prepare: prepareDocument,
		do:    func(a *attempt) reply { return a.c.do("DELETE", "/collections/"+a.collection, nil) },
		check: func(a *attempt) { a.isGone(); a.collection = "" }},
	{name: "ask", function: "answers", ok: 204, prepare: prepareDocument,
		do: func(a *attempt) reply { return a.c.ask(a.question, howTo) },
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/answers/"+a.question, nil), 200, `"state":"complete"`, "deployctl undo")
		}},
	{name: "delete an answer", function: "answers", ok: 204, gone: true,
		prepare: func(a *attempt) { a.c.want(a.c.ask(a.question, "Where is marker "+a.question+"?"), 204); a.c.drain() },
		do:      func(a *attempt) reply { return a.c.do("DELETE", "/answers/"+a.question, nil) },
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/answers/"+a.question, nil), 404)
			for _, item := range a.c.items(table.Answers) {
				if strings.Contains(item, "marker "+a.question) {
					a.c.t.Errorf("left behind: %.300s", item)
				}
			}
		}},
	{name: "search as an agent", function: "context", ok: 200,
		do: func(a *attempt) reply {
			return a.c.do("POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": map[string]any{"name": "context_search_issues", "arguments": map[string]any{"query": "login"}}})
		},
		check: func(*attempt) {}},
	{name: "create a key", function: "admin", ok: 201,
		do: func(a *attempt) reply {
			return a.c.as(a.c.admin).do("POST", "/api-keys", map[string]any{"kind": "team", "name": a.page})
		},
		check: func(a *attempt) { a.isRecorded("api_key.created") }},
	{name: "import items", function: "admin", ok: 200,
		prepare: func(a *attempt) {
			a.source = a.c.id(a.c.want(a.c.as(a.c.admin).do("POST", "/data-sources", map[string]any{"provider": "jira", "name": a.page}), 201))
		},
		do: func(a *attempt) reply {
			return a.c.as(a.c.admin).do("POST", "/data-sources/"+a.source+"/items", `{"uri":"https://tracker.test/`+a.page+
				`","title":"Login fails","body":"On Safari.","sourceType":"issue"}`, "Content-Type", "application/x-ndjson")
		},
		check: func(a *attempt) {
			a.c.want(a.c.do("POST", "/context/search/issues", map[string]any{"query": "login fails", "limit": 50}), 200, "https://tracker.test/"+a.page)
			a.isRecorded("data_source.items_imported")
			a.c.want(a.c.as(a.c.admin).do("DELETE", "/data-sources/"+a.source, nil), 204)
		}},
	{name: "provision a user", function: "scim", ok: 201, taken: 409,
		do: func(a *attempt) reply {
			return a.c.do("POST", "/scim/v2/Users", `{"userName":"`+a.page+`@acme.test"}`, "Content-Type", "application/scim+json")
		},
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", `/scim/v2/Users?filter=userName+eq+"`+a.page+`@acme.test"`, nil), 200, `"totalResults":1`)
			a.isRecorded("scim.user.created")
		}},
	{name: "index a document", function: "indexing",
		prepare: func(a *attempt) { a.document = a.c.id(a.c.want(a.c.put(a.collection, a.page, rollback), 200)) },
		do:      (*attempt).work,
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/documents/"+a.document, nil), 200, `"state":"indexed"`)
			a.isFound(true)
		}},
	{name: "make the vectors of a document", function: "embedding",
		prepare: func(a *attempt) {
			a.document = a.c.id(a.c.want(a.c.put(a.collection, a.page, rollback), 200))
			a.c.deliver("indexing")
		},
		do: (*attempt).work,
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/documents/"+a.document, nil), 200, `"state":"indexed","meaning":"done"`)
			a.isFound(true)
		}},
	{name: "clean up after a document", function: "indexing",
		prepare: func(a *attempt) {
			prepareDocument(a)
			a.c.want(a.c.do("DELETE", "/documents/"+a.document, nil), 204)
		},
		do: (*attempt).work, check: func(a *attempt) { a.isGone() }},
	{name: "clean up after a collection", function: "indexing",
		prepare: func(a *attempt) {
			prepareDocument(a)
			a.c.want(a.c.do("DELETE", "/collections/"+a.collection, nil), 204)
		},
		do: (*attempt).work, check: func(a *attempt) { a.isGone(); a.collection = "" }},
	{name: "put a file", function: "documents", ok: 200,
		do:    func(a *attempt) reply { return a.c.putFile(a.collection, a.page, rollback) },
		check: func(a *attempt) { a.isFound(true); a.c.keepsOriginals(1) }},
	{name: "replace a file", function: "documents", ok: 200,
		prepare: func(a *attempt) { a.c.want(a.c.putFile(a.collection, a.page, lunch), 200); a.c.drain() },
		do:      func(a *attempt) reply { return a.c.putFile(a.collection, a.page, rollback) },
		check:   func(a *attempt) { a.isFound(true); a.c.keepsOriginals(1) }},
	{name: "read a file", function: "extracting",
		prepare: func(a *attempt) { a.document = a.c.id(a.c.want(a.c.putFile(a.collection, a.page, rollback), 200)) },
		do:      (*attempt).work,
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/documents/"+a.document, nil), 200, `"state":"indexed"`)
			a.isFound(true)
			a.c.keepsOriginals(1)
		}},
	{name: "clean up after a file", function: "indexing",
		prepare: func(a *attempt) {
			a.document = a.c.id(a.c.want(a.c.putFile(a.collection, a.page, rollback), 200))
			a.c.drain()
			a.c.want(a.c.do("DELETE", "/documents/"+a.document, nil), 204)
		},
		do: (*attempt).work, check: func(a *attempt) { a.isGone(); a.c.keepsOriginals(0) }},
	{name: "answer", function: "answering",
		prepare: func(a *attempt) { prepareDocument(a); a.c.want(a.c.ask(a.question, howTo), 204) },
		do:      (*attempt).work,
		check: func(a *attempt) {
			a.c.want(a.c.do("GET", "/answers/"+a.question, nil), 200, `"state":"complete"`, "deployctl undo")
		}},
}

// TestKilledInTheMiddleOfEachStep kills a function when it sends a request to storage or queue, or when that
// request was done but not answered, for each request of each act. The client or the queue tries again, the sweeper
// runs, and then the result must be as if nothing had happened. Of the two times per request a run picks one at
// random; DOCENT_ALL_KILLS=1 takes both.
func TestKilledInTheMiddleOfEachStep(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.want(c.as(c.admin).do("PUT", "/team/saml-metadata", scimtest.Metadata, "Content-Type", "application/samlmetadata+xml"), 200)
	killed := 0
	for i, act := range acts {
		steps := 0
		for n, whole := 1, false; !whole; n++ {
			times := []bool{false, true}
			if os.Getenv("DOCENT_ALL_KILLS") == "" {
				times = []bool{rand.IntN(2) == 1}
			}
			for _, after := range times {
				whole = !c.killAt(act, fmt.Sprintf("a%d-%d-%t", i, n, after), n, after)
				if t.Failed() {
					t.Fatalf("%s: killed at request %d, done: %t", act.name, n, after)
				}
				if !whole {
					killed++
					steps = n
				}
			}
		}
		if steps == 0 {
			t.Errorf("%s: no request was seen", act.name)
		}
		t.Logf("%s: killed at each of %d requests", act.name, steps)
	}
	t.Logf("%d kills", killed)
}

// killAt reports whether the function was killed. It was not if its act needs fewer requests.
func (c *cloud) killAt(act act, name string, n int, after bool) (killed bool) {
	c.t.Helper()
	a := &attempt{c: c, worker: act.function, page: name, question: uuid.NewString(), repeat: uuid.NewString()}
	a.collection = c.newCollection("c-" + name)
	if act.prepare != nil {
		act.prepare(a)
	}
	c.functions[act.function].Kill() // so that it starts with nothing in memory
	c.tap.arm(n, after, c.functions[act.function].Kill)
	c.once = true
	first := act.do(a)
	c.once = false
	count, killed := c.tap.disarm()
	switch {
	case !killed:
		c.want(first, act.ok)
	case act.ok != 0:
		if first.status != 503 && first.status != act.ok { // it had answered when a parallel request was cut
			c.t.Errorf("a killed function gave %d %s", first.status, first.body)
		}
		if again := act.do(a); (!act.gone || again.status != 404) && (act.taken == 0 || again.status != act.taken) {
			c.want(again, act.ok)
		}
	}
	if count < n == killed {
		c.t.Errorf("%d requests, killed at %d: %t", count, n, killed)
	}
	c.settle()
	act.check(a)
	if a.collection != "" {
		c.want(c.do("DELETE", "/collections/"+a.collection, nil), 204)
	}
	if act.name == "create a collection" {
		c.want(c.do("DELETE", "/collections/"+c.id(c.create(a.page, a.repeat)), nil), 204)
	}
	c.settle()
	return killed
}
