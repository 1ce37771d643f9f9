package app

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"docent/shared/access"
	"docent/shared/app/faulttest"
	"docent/shared/document"
	"docent/shared/search"
)

// story is one client's request, made while one call of the system fails.
type story struct {
	name    string
	prepare func(h *home)
	request func(h *home) reply // safe to repeat
	status  int                 // of a success
	check   func(t *testing.T, h *home)
}

const (
	questionID = "0190d2a0-0000-7000-8000-000000000001"
	smallURI   = "https://wiki.test/small"
	largeURI   = "https://wiki.test/large"
)

func (h *home) collection(name string) string {
	if h.prepared[name] == "" {
		h.prepared[name] = h.must(201, "POST", "/collections", map[string]string{"name": name, "description": "d"}).text(h.t, "id")
	}
	return h.prepared[name]
}

func (h *home) put(collection, uri, body string) reply {
	return h.do("PUT", "/documents", map[string]string{"collectionId": collection, "uri": uri, "title": "Title", "body": body})
}

func (h *home) id(uri string) string {
	h.t.Helper()
	id, err := document.ID(h.team.ID, uri)
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

// collectionID returns the id of the prepared collection of that name, even if it was deleted.
func (h *home) collectionID(name string) string { return h.prepared[name] }

// found fails the test unless asking for word quotes it or, with want false, finds nothing.
func (h *home) found(t *testing.T, word string, want bool) {
	t.Helper()
	result, err := h.services.answering.Search(t.Context(), h.team.ID, search.Query{Reader: access.Everything(), Text: word})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(result.Hits) > 0; got != want {
		t.Errorf("%s found: %t, want %t", word, got, want)
	}
}

func stories() []story {
	both := func(h *home) {
		wiki := h.collection("wiki")
		h.put(wiki, smallURI, "The zebra is small.")
		h.put(wiki, largeURI, largeBody("giraffe"))
		h.work()
	}
	state := func(t *testing.T, h *home, uri, body string) {
		t.Helper()
		d := h.must(200, "GET", "/documents/"+h.id(uri), nil)
		if d.text(t, "body") != body || !strings.Contains(string(d.body), `"state":"indexed","meaning":"done"`) {
			t.Errorf("document: %.300s", d.body)
		}
	}
	return []story{
		{"put a small document", func(h *home) { h.collection("wiki") },
			func(h *home) reply { return h.put(h.collection("wiki"), smallURI, "The zebra is small.") }, 200,
			func(t *testing.T, h *home) { state(t, h, smallURI, "The zebra is small."); h.found(t, "zebra", true) }},
		{"put a large document", func(h *home) { h.collection("wiki") },
			func(h *home) reply { return h.put(h.collection("wiki"), largeURI, largeBody("giraffe")) }, 200,
			func(t *testing.T, h *home) { state(t, h, largeURI, largeBody("giraffe")); h.found(t, "giraffe", true) }},
		{"replace a large document by a small one", both,
			func(h *home) reply { return h.put(h.collection("wiki"), largeURI, "The okapi is shy.") }, 200,
			func(t *testing.T, h *home) {
				state(t, h, largeURI, "The okapi is shy.")
				h.found(t, "okapi", true)
				h.found(t, "giraffe", false)
			}},
		{"replace a small document by a large one", both,
			func(h *home) reply { return h.put(h.collection("wiki"), smallURI, largeBody("okapi")) }, 200,
			func(t *testing.T, h *home) { state(t, h, smallURI, largeBody("okapi")); h.found(t, "zebra", false) }},
		{"move a document", func(h *home) { both(h); h.collection("other") },
			func(h *home) reply { return h.put(h.collection("other"), largeURI, largeBody("giraffe")) }, 200,
			func(t *testing.T, h *home) {
				state(t, h, largeURI, largeBody("giraffe"))
				h.must(204, "DELETE", "/collections/"+h.collection("wiki"), nil)
				h.work()
				h.found(t, "giraffe", true)
			}},
		{"open a document and change its title", func(h *home) { h.putRule(largeURI, largeBody("giraffe"), map[string][]string{"users": {}}); h.work() },
			func(h *home) reply {
				return h.as(h.teamKey(), "PATCH", "/documents/"+h.id(largeURI), map[string]any{"title": "Quagga", "access": nil})
			}, 200,
			func(t *testing.T, h *home) {
				state(t, h, largeURI, largeBody("giraffe"))
				h.found(t, "quagga", true)
				if r := h.must(200, "POST", "/context/search", map[string]string{"query": "giraffe"}); !strings.Contains(string(r.body), largeURI) {
					t.Errorf("a person finds %s", r.body)
				}
			}},
		{"delete a document", both,
			func(h *home) reply { return h.do("DELETE", "/documents/"+h.id(largeURI), nil) }, 204,
			func(t *testing.T, h *home) { h.found(t, "giraffe", false); h.found(t, "zebra", true) }},
		{"delete a collection", both,
			func(h *home) reply { return h.do("DELETE", "/collections/"+h.collectionID("wiki"), nil) }, 204,
			func(t *testing.T, h *home) {
				h.found(t, "giraffe", false)
				if left := h.items(t, "documents"); len(left) > 0 {
					t.Errorf("left of the collection: %v", left)
				}
			}},
		{"create a collection", func(*home) {},
			func(h *home) reply {
				return h.do("POST", "/collections", map[string]string{"name": "wiki", "description": "d"}, "Idempotency-Key", "wiki")
			}, 201, func(*testing.T, *home) {}},
		{"change a collection", func(h *home) { h.collection("wiki") },
			func(h *home) reply {
				return h.do("PATCH", "/collections/"+h.collectionID("wiki"), map[string]string{"name": "changed"})
			}, 200, func(*testing.T, *home) {}},
		{"ask", both,
			func(h *home) reply {
				return h.do("PUT", "/answers/"+questionID, map[string]string{"question": "How small is the zebra?"})
			}, 204,
			func(t *testing.T, h *home) {
				a := h.must(200, "GET", "/answers/"+questionID, nil)
				if a.text(t, "state") != "complete" || !strings.Contains(a.text(t, "answer"), "zebra") {
					t.Errorf("answer: %s", a.body)
				}
			}},
		{"ask for a stream", both,
			func(h *home) reply {
				return h.do("PUT", "/answers/"+questionID, map[string]string{"question": "How small is the zebra?"}, "Accept", "text/event-stream")
			}, 200,
			func(t *testing.T, h *home) {
				a := h.do("GET", "/answers/"+questionID, nil, "Accept", "text/event-stream")
				events := eventsOf(t, a.body)
				if last := events[len(events)-1]; last.name != "answer.completed" || !strings.Contains(received(events), "zebra") {
					t.Errorf("events: %s", a.body)
				}
			}},
		{"delete an answer", func(h *home) {
			both(h)
			h.must(204, "PUT", "/answers/"+questionID, map[string]string{"question": "How small is the zebra?"})
			h.work()
		},
			func(h *home) reply { return h.do("DELETE", "/answers/"+questionID, nil) }, 204,
			func(t *testing.T, h *home) { h.must(404, "GET", "/answers/"+questionID, nil) }},
	}
}

// TestEveryCallMayFail makes every storage, object and queue call of every story fail in every
// mode, both in the request and in its work. The client gets 503 with Retry-After or a success;
// its retry succeeds; and at the end all data is consistent.
func TestEveryCallMayFail(t *testing.T) {
	t.Parallel()
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var faults, refused atomic.Int64
			planned := int64(0)
			for n, name := range callsOf(t, s) {
				if (n+len(s.name))%faulttest.EveryNth != 0 {
					continue
				}
				for _, mode := range faulttest.ModesOf(name) {
					planned++
					t.Run(fmt.Sprintf("call %d, %s, %s", n+1, name, mode), func(t *testing.T) {
						h := newHome(t)
						s.prepare(h)
						h.plan.Arm(mode, n+1)
						first := s.request(h)
						h.work()
						if h.plan.Disarm() == "" {
							return // parallel calls may be one fewer; the sum below checks their number
						}
						faults.Add(1)
						switch {
						case first.status == s.status:
						case first.status == 503 && first.header.Get("Retry-After") != "":
							refused.Add(1)
						case first.status == 404 && strings.HasPrefix(s.name, "delete an answer"):
						default:
							t.Errorf("the client got %d: %s", first.status, first.body)
						}
						if again := s.request(h); again.status != s.status && (again.status != 404 || s.name != "delete an answer") {
							t.Errorf("the retry got %d: %s", again.status, again.body)
						}
						h.work()
						h.repair()
						s.check(t, h)
						h.repair()
						h.consistent(t)
					})
				}
			}
			if made := faults.Load(); made < planned*9/10 {
				t.Errorf("%d of %d planned faults were made", made, planned)
			}
			t.Logf("%s: %d faults, %d of them refused with 503", s.name, faults.Load(), refused.Load())
		})
	}
}

// callsOf returns the calls of a story without a failure.
func callsOf(t *testing.T, s story) []string {
	t.Helper()
	h := newHome(t)
	s.prepare(h)
	h.plan.Watch()
	if r := s.request(h); r.status != s.status {
		t.Fatalf("without a fault: %d %s", r.status, r.body)
	}
	h.work()
	calls := h.plan.Seen()
	h.plan.Disarm()
	h.repair()
	s.check(t, h)
	h.repair()
	h.consistent(t)
	if len(calls) == 0 {
		t.Fatal("no calls")
	}
	return calls
}
