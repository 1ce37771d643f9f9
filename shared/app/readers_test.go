package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"docent/shared/app/faulttest"
	"docent/shared/table"
	"docent/shared/table/dynamo/dynamotest"
	"docent/shared/team"
)

// persons makes n users with personal keys, at "user N" and "key N" of h.prepared.
func (h *home) persons(n int) {
	h.t.Helper()
	for i := range n {
		r := h.asSCIM("POST", "/Users", scimUser(fmt.Sprintf("p%d@x.test", i)))
		if r.status != 201 {
			h.t.Fatalf("%d %s", r.status, r.body)
		}
		id := r.text(h.t, "id")
		_, key, err := h.services.teams.CreateKey(h.t.Context(), h.team.ID, team.NewKey{Kind: team.KindPersonal, Name: "p", UserID: id})
		if err != nil {
			h.t.Fatal(err)
		}
		h.prepared[fmt.Sprintf("user %d", i)], h.prepared[fmt.Sprintf("key %d", i)] = id, key
	}
}

// as makes a request with another key.
func (h *home) as(key, method, path string, body any) reply {
	h.t.Helper()
	own := h.key
	defer func() { h.key = own }()
	h.key = key
	return h.do(method, path, body)
}

func (h *home) putRule(uri, body string, rule map[string][]string) {
	h.t.Helper()
	in := map[string]any{"collectionId": h.collection("wiki"), "uri": uri, "title": "T", "body": body}
	if rule != nil {
		in["access"] = rule
	}
	if r := h.as(h.teamKey(), "PUT", "/documents", in); r.status != 200 {
		h.t.Fatalf("%d %s", r.status, r.body)
	}
}

// teamKey returns a key that may write what no person reads.
func (h *home) teamKey() string {
	h.t.Helper()
	if h.prepared["team key"] == "" {
		_, key, err := h.services.teams.CreateKey(h.t.Context(), h.team.ID, team.NewKey{Kind: team.KindTeam, Name: "t"})
		if err != nil {
			h.t.Fatal(err)
		}
		h.prepared["team key"] = key
	}
	return h.prepared["team key"]
}

// shown returns the URIs that a person sees: in the list, by search and by agents' searches, and 401 if the key does
// not work. The three must agree.
func (h *home) shown(t *testing.T, person int) (uris []string, status int) {
	t.Helper()
	key := h.prepared[fmt.Sprintf("key %d", person)]
	list := h.as(key, "GET", "/documents?limit=200", nil)
	if list.status != http.StatusOK {
		return nil, list.status
	}
	var listed []struct{ URI string }
	if err := json.Unmarshal(list.body, &listed); err != nil {
		t.Fatal(err)
	}
	var found struct{ Sources []struct{ URL string } }
	search := h.as(key, "POST", "/context/search", map[string]any{"query": "zebra", "limit": 50})
	if err := json.Unmarshal(search.body, &found); err != nil || search.status != 200 {
		t.Fatalf("%d %s", search.status, search.body)
	}
	var inSearch []string
	for _, d := range listed {
		uris = append(uris, d.URI)
	}
	for _, s := range found.Sources {
		inSearch = append(inSearch, s.URL)
	}
	slices.Sort(uris)
	slices.Sort(inSearch)
	if !slices.Equal(uris, inSearch) {
		t.Errorf("person %d: the list has %v, a search %v", person, uris, inSearch)
	}
	return uris, list.status
}

// TestReadersFollowAModelOnBothEngines changes members, rules and defaults at random, and compares what each person sees with a
// model after each change.
func TestReadersFollowAModelOnBothEngines(t *testing.T) {
	t.Parallel()
	for engine, changes := range map[string]int{"bolt": 150, "dynamo": 25} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var on []func(*home, *base, *Parts)
			if engine == "dynamo" {
				on = append(on, func(h *home, b *base, _ *Parts) { b.engines.table = dynamotest.OpenAt(t, h.clock.Now) })
			}
			h := newHome(t, on...)
			const people, groups, documents = 3, 3, 5
			h.persons(people)
			h.collection("wiki")
			var ids [groups]string
			for g := range ids {
				ids[g] = h.asSCIM("POST", "/Groups", scimGroup(fmt.Sprintf("G%d", g))).text(t, "id")
			}
			type rule struct{ users, groups []int }
			var members [groups][people]bool
			var byDefault *rule
			rules := map[string]*rule{}
			random := rand.New(rand.NewPCG(7, 11))
			draw := func() (*rule, map[string][]string) {
				if random.IntN(4) == 0 {
					return nil, nil
				}
				r, names := &rule{}, map[string][]string{"users": {}, "groups": {}}
				for i := range 3 {
					if random.IntN(3) == 0 {
						r.users, names["users"] = append(r.users, i), append(names["users"], fmt.Sprintf("P%d@x.test", i))
					}
					if random.IntN(3) == 0 {
						r.groups, names["groups"] = append(r.groups, i), append(names["groups"], ids[i])
					}
				}
				return r, names
			}
			compared := 0
			for range changes {
				switch random.IntN(4) {
				case 0, 1:
					g, p := random.IntN(groups), random.IntN(people)
					members[g][p] = !members[g][p]
					user := h.prepared[fmt.Sprintf("user %d", p)]
					change := scimPatch("add", "members", []map[string]string{{"value": user}})
					if !members[g][p] {
						change = scimPatch("remove", fmt.Sprintf("members[value eq %q]", user), nil)
					}
					if r := h.asSCIM("PATCH", "/Groups/"+ids[g], change); r.status >= 300 {
						t.Fatalf("%d %s", r.status, r.body)
					}
				case 2:
					var names map[string][]string
					byDefault, names = draw()
					body := map[string]any{"defaultAccess": nil}
					if names != nil {
						body["defaultAccess"] = names
					}
					h.must(200, "PATCH", "/collections/"+h.collection("wiki"), body)
				default:
					uri := fmt.Sprintf("https://wiki.test/%d", random.IntN(documents))
					r, names := draw()
					if _, stored := rules[uri]; stored && random.IntN(2) == 0 {
						body := map[string]any{"access": nil}
						if names != nil {
							body["access"] = names
						}
						if r := h.as(h.teamKey(), "PATCH", "/documents/"+h.id(uri), body); r.status != 200 {
							t.Fatalf("%d %s", r.status, r.body)
						}
					} else {
						h.putRule(uri, "The zebra is striped.", names)
					}
					rules[uri] = r
					h.work()
				}
				for p := range people {
					var want []string
					for uri, r := range rules {
						if r == nil {
							r = byDefault
						}
						if r == nil || slices.Contains(r.users, p) || slices.ContainsFunc(r.groups, func(g int) bool { return members[g][p] }) {
							want = append(want, uri)
						}
					}
					slices.Sort(want)
					compared += 2
					if got, _ := h.shown(t, p); !slices.Equal(got, want) {
						t.Fatalf("person %d sees %v, want %v", p, got, want)
					}
				}
			}
			t.Logf("%s: %d people, %d groups, %d documents, %d changes, %d reads compared", engine, people, groups, documents, changes, compared)
		})
	}
}

// TestReadersWhileAChangeFails makes every call of a change of who may read fail in every mode. The next read decides by
// what was acknowledged: after a success all is as changed; else it is as before or as changed, and after a retry as changed.
func TestReadersWhileAChangeFails(t *testing.T) {
	t.Parallel()
	const secret, open = "https://wiki.test/secret", "https://wiki.test/open"
	prepare := func(members bool) func(h *home) {
		return func(h *home) {
			h.persons(1)
			g := scimGroup("Engineering")
			if members {
				g["members"] = []map[string]string{{"value": h.prepared["user 0"]}}
			}
			h.prepared["group"] = h.asSCIM("POST", "/Groups", g).text(h.t, "id")
			h.putRule(secret, "The zebra is striped.", map[string][]string{"groups": {"Engineering"}})
			h.putRule(open, "The zebra is striped.", nil)
			h.work()
		}
	}
	crowded := func(h *home) {
		prepare(false)(h)
		own := h.prepared["user 0"]
		h.makeCrowd()
		h.prepared["user 0"] = own
	}
	patch := func(op string) func(h *home) reply {
		return func(h *home) reply {
			change := scimPatch("add", "members", []map[string]string{{"value": h.prepared["user 0"]}})
			if op == "remove" {
				change = scimPatch("remove", fmt.Sprintf("members[value eq %q]", h.prepared["user 0"]), nil)
			}
			return h.asSCIM("PATCH", "/Groups/"+h.prepared["group"], change)
		}
	}
	merged := func(h *home) {
		prepare(false)(h)
		for n := range 9 { // with the first two documents these are 10 segments, which one more merges
			h.putRule(fmt.Sprintf("%s/%d", secret, n), "The zebra is striped.", map[string][]string{"groups": {"Engineering"}})
			h.work()
		}
	}
	both, one := []string{open, secret}, []string{open}
	for _, s := range []struct {
		name          string
		prepare       func(h *home)
		request       func(h *home) reply
		status        int
		before, after []string
		out           bool // afterwards the key does not work
	}{
		{"put into a group", prepare(false), patch("add"), 204, one, both, false},
		{"taken out of a group", prepare(true), patch("remove"), 204, both, one, false},
		{"put into a group with 45 others", crowded, func(h *home) reply {
			return h.asSCIM("PUT", "/Groups/"+h.prepared["group"], h.staff("Engineering"))
		}, 200, one, both, false},
		{"deactivated by a PUT", prepare(true), func(h *home) reply {
			u := scimUser("p0@x.test")
			u["active"] = false
			return h.asSCIM("PUT", "/Users/"+h.prepared["user 0"], u)
		}, 200, both, nil, true},
		{"a document closed", prepare(true), func(h *home) reply {
			return h.as(h.teamKey(), "PATCH", "/documents/"+h.id(secret), map[string]any{"access": map[string][]string{"users": {}}})
		}, 200, both, one, false},
		{"a merge of segments with sets", merged, func(h *home) reply {
			return h.as(h.teamKey(), "PUT", "/documents", map[string]any{"collectionId": h.collection("wiki"), "uri": "https://wiki.test/more", "title": "T",
				"body": "The zebra is striped.", "access": map[string][]string{"users": {}}})
		}, 200, one, one, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s.prepare(h)
			h.plan.Watch()
			if r := s.request(h); r.status != s.status {
				t.Fatalf("%d %s", r.status, r.body)
			}
			h.work()
			calls := h.plan.Seen()
			h.plan.Disarm()
			var faults atomic.Int64
			planned := 0
			for n, name := range calls {
				if (n+len(s.name))%faulttest.EveryNth != 0 {
					continue
				}
				modes := faulttest.ModesOf(name)
				if strings.Contains(s.name, "merge") { // each takes ten documents
					modes = modes[:min(2, len(modes))]
				}
				for _, mode := range modes {
					planned++
					h := newHome(t)
					s.prepare(h)
					check := func(when string, states ...[]string) {
						t.Helper()
						got, status := h.shown(t, 0)
						gone := s.out && status == http.StatusUnauthorized
						if !gone && !slices.ContainsFunc(states, func(want []string) bool { return want != nil && slices.Equal(got, want) }) {
							t.Errorf("call %d, %s, %s, %s: status %d, %v", n+1, name, mode, when, status, got)
						}
					}
					h.plan.Arm(mode, n+1)
					first := s.request(h)
					h.work()
					if h.plan.Disarm() == "" {
						continue
					}
					faults.Add(1)
					if first.status == s.status {
						check("acknowledged", s.after)
					} else {
						check(fmt.Sprintf("refused with %d", first.status), s.before, s.after)
					}
					h.clock.Advance(2 * visibility) // a staged change that was cut off may be cancelled
					if again := s.request(h); again.status != s.status {
						t.Errorf("call %d, %s, %s: the retry got %d: %s", n+1, name, mode, again.status, again.body)
					}
					h.work()
					check("sent again", s.after)
					h.repair()
					check("repaired", s.after)
				}
			}
			if strings.Contains(s.name, "merge") {
				left, err := h.store.Query(t.Context(), table.Query{Table: table.Index, Partition: h.team.ID})
				if err != nil || len(left.Items) > 9 {
					t.Errorf("nothing was merged: %d segments, %v", len(left.Items), err)
				}
			}
			if made := int(faults.Load()); made < planned*9/10 {
				t.Errorf("%d of %d planned faults were made", made, planned)
			}
			t.Logf("%s: %d faults", s.name, faults.Load())
		})
	}
}
