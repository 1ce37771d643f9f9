package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"docent/shared/team"
)

// pages follows the links of one direction from the page of query and returns the
// ids in the order of the list. between is called before each page but the first.
func (a *api) pages(key, list string, query url.Values, rel, member string, between func(page int)) (ids []string, last url.Values) {
	a.t.Helper()
	for page := 0; ; page++ {
		if page > 1000 {
			a.t.Fatal("the pages do not end")
		}
		c := call{"GET", "/" + list + "?" + query.Encode(), key, nil, map[string]string{"Host": "evil.test", "X-Forwarded-Host": "evil.test", "Forwarded": "host=evil.test"}}
		reply := a.do(c).want(a.t, 200)
		var entries []map[string]any
		reply.json(a.t, &entries)
		var shown []string
		for _, e := range entries {
			shown = append(shown, e[member].(string))
		}
		if rel == "prev" {
			ids = append(shown, ids...)
		} else {
			ids = append(ids, shown...)
		}
		next := reply.link(a.t, rel)
		if next == nil {
			return ids, query
		}
		if next.Get("limit") != query.Get("limit") || next.Get("collectionId") != query.Get("collectionId") || next.Has("after") == next.Has("before") {
			a.t.Errorf("link %v after %v", next, query)
		}
		query = next
		if between != nil {
			between(page)
		}
	}
}

// eachOnce checks that every one of want is in got exactly once, in the same order.
func eachOnce(t *testing.T, got, want []string) {
	t.Helper()
	wanted := map[string]bool{}
	for _, id := range want {
		wanted[id] = true
	}
	survivors := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return !wanted[id] })
	if !slices.Equal(survivors, want) {
		t.Errorf("shown %d of which %d were there throughout, want %d", len(got), len(survivors), len(want))
	}
	seen := map[string]bool{}
	for _, id := range got {
		if seen[id] {
			t.Errorf("%s is shown twice", id)
		}
		seen[id] = true
	}
}

func limited(limit int, more ...string) url.Values {
	query := url.Values{"limit": {fmt.Sprint(limit)}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return query
}

func TestPagesOfCollections(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.clock.Step(300 * time.Microsecond) // some of one millisecond, some not
	acme := a.newTenant("acme")
	var all []string
	for n := range 25 {
		all = append([]string{a.newCollection(acme.key, fmt.Sprint(n))}, all...)
	}
	for _, limit := range []int{1, 4, 5, 24, 25, 200} {
		forward, last := a.pages(acme.key, "collections", limited(limit), "next", "id", nil)
		if !slices.Equal(forward, all) {
			t.Errorf("limit %d forward: %d collections, or not newest first", limit, len(forward))
		}
		backward, first := a.pages(acme.key, "collections", last, "prev", "id", nil)
		if !slices.Equal(backward, all) {
			t.Errorf("limit %d backward: %d collections", limit, len(backward))
		}
		if again, _ := a.pages(acme.key, "collections", first, "next", "id", nil); !slices.Equal(again, all) {
			t.Errorf("limit %d forward again: %d collections", limit, len(again))
		}
	}
	// Paging while other entries are added and deleted.
	gone := map[string]bool{}
	got, _ := a.pages(acme.key, "collections", limited(4), "next", "id", func(page int) {
		gone[all[page*3]] = true
		a.do(call{"DELETE", "/collections/" + all[page*3], acme.key, nil, nil}).want(t, 204)
		a.newCollection(acme.key, "later")
		a.do(call{"PATCH", "/collections/" + all[page*3+1], acme.key, `{"name":"renamed"}`, nil}).want(t, 200)
	})
	eachOnce(t, got, slices.DeleteFunc(slices.Clone(all), func(id string) bool { return gone[id] }))
}

func TestPagesOfDocumentsThatChange(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.clock.Step(40 * time.Microsecond)
	acme := a.newTenant("acme")
	collections := []string{a.newCollection(acme.key, "wiki"), a.newCollection(acme.key, "blog"), a.newCollection(acme.key, "news")}
	_, restricted := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "two", DataSourceIDs: collections[:2]})
	uri := func(n int) string { return fmt.Sprintf("https://x.test/%d", n) }
	for n := range 450 {
		a.putDocument(acme.key, collections[n%3], uri(n), "t", "b")
	}
	all, last := a.pages(acme.key, "documents", limited(200), "next", "uri", nil)
	if len(all) != 450 {
		t.Fatalf("%d documents", len(all))
	}
	if backward, _ := a.pages(acme.key, "documents", last, "prev", "uri", nil); !slices.Equal(backward, all) {
		t.Errorf("backward: %d documents", len(backward))
	}
	in := func(home ...int) []string {
		return slices.DeleteFunc(slices.Clone(all), func(u string) bool {
			n := 0
			_, err := fmt.Sscanf(u, "https://x.test/%d", &n)
			return err != nil || !slices.Contains(home, n%3)
		})
	}
	for _, tt := range []struct {
		name, key string
		query     url.Values
		want      []string
	}{
		{"one collection", acme.key, limited(17, "collectionId", collections[1]), in(1)},
		{"a restricted key", restricted, limited(23), in(0, 1)},
		{"a restricted key, one at a time", restricted, limited(1), in(0, 1)},
		{"one collection of a restricted key", restricted, limited(50, "collectionId", collections[0]), in(0)},
	} {
		forward, last := a.pages(tt.key, "documents", tt.query, "next", "uri", nil)
		backward, _ := a.pages(tt.key, "documents", last, "prev", "uri", nil)
		if !slices.Equal(forward, tt.want) || !slices.Equal(backward, tt.want) {
			t.Errorf("%s: %d forward, %d backward, want %d", tt.name, len(forward), len(backward), len(tt.want))
		}
	}
	gone, next := map[string]bool{}, 450
	change := func(page int) {
		for _, n := range []int{page * 7, page*7 + 200, page*7 + 400} { // on pages before and after this one
			if n >= 450 {
				continue
			}
			id := a.putDocument(acme.key, collections[n%3], uri(n), "replaced", "b")
			if n%2 == 0 {
				gone[uri(n)] = true
				a.do(call{"DELETE", "/documents/" + id, acme.key, nil, nil}).want(t, 204)
			}
			if moved := n + 1; moved < 450 && !gone[uri(moved)] {
				a.putDocument(acme.key, collections[(moved+1)%3], uri(moved), "moved", "b")
			}
			a.putDocument(acme.key, collections[0], uri(next), "new", "b")
			next++
		}
	}
	staying := func() []string {
		return slices.DeleteFunc(slices.Clone(all), func(u string) bool { return gone[u] })
	}
	forward, last := a.pages(acme.key, "documents", limited(31), "next", "uri", change)
	eachOnce(t, forward, staying())
	backward, _ := a.pages(acme.key, "documents", last, "prev", "uri", func(page int) { change(page + 20) })
	eachOnce(t, backward, staying())
	// Deleting a collection removes its documents from a list that is being read.
	forward, _ = a.pages(acme.key, "documents", limited(100), "next", "uri", func(page int) {
		if page == 0 {
			a.do(call{"DELETE", "/collections/" + collections[2], acme.key, nil, nil}).want(t, 204)
		}
	})
	left := a.members(call{"GET", "/documents?limit=200", acme.key, nil, nil}, "uri")
	if len(left) == 0 {
		t.Fatal("no documents are left")
	}
	eachOnce(t, forward, left)
}

func TestPagesOfAnswers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.clock.Step(300 * time.Microsecond)
	acme := a.newTenant("acme")
	var all, byUser []string
	for n := range 45 {
		key := acme.key
		if n%3 == 0 {
			key = acme.pat
			byUser = append([]string{fmt.Sprint(n)}, byUser...)
		}
		a.ask(key, numberedID(n), fmt.Sprint(n)).want(t, 204)
		all = append([]string{fmt.Sprint(n)}, all...)
	}
	newestFirst, _ := a.pages(acme.key, "answers", limited(200), "next", "question", nil)
	for _, tt := range []struct {
		key  string
		want int
	}{{acme.key, 45}, {acme.pat, 15}} {
		for _, limit := range []int{1, 7, 45} {
			forward, last := a.pages(tt.key, "answers", limited(limit), "next", "question", nil)
			backward, _ := a.pages(tt.key, "answers", last, "prev", "question", nil)
			if len(forward) != tt.want || !slices.Equal(forward, backward) {
				t.Errorf("limit %d: %d forward, %d backward, want %d", limit, len(forward), len(backward), tt.want)
			}
			eachOnce(t, newestFirst, forward)
		}
	}
	slices.Sort(all)
	if got := slices.Sorted(slices.Values(newestFirst)); !slices.Equal(got, all) {
		t.Errorf("listed %v", newestFirst)
	}
	if got, _ := a.pages(acme.pat, "answers", limited(200), "next", "question", nil); got[0] != byUser[0] || got[14] != byUser[14] {
		t.Errorf("the user's: %v", got)
	}
	gone := map[string]bool{}
	got, _ := a.pages(acme.key, "answers", limited(4), "next", "question", func(page int) {
		for _, n := range []int{page, 44 - page} {
			if !gone[fmt.Sprint(n)] {
				gone[fmt.Sprint(n)] = true
				a.do(call{"DELETE", "/answers/" + numberedID(n), acme.key, nil, nil}).want(t, 204)
			}
		}
		a.ask(acme.key, numberedID(100+page), "later").want(t, 204)
	})
	eachOnce(t, got, slices.DeleteFunc(slices.Clone(newestFirst), func(q string) bool { return gone[q] }))
}
