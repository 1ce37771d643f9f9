package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestReadersOfRandomTeams compares every way of reading with a model of who may read.
func TestReadersOfRandomTeams(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	runs, changes, compared := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 12 {
			return
		}
		x := a.provisioned(fmt.Sprintf("team%d", runs))
		var people []colleague
		var groups, names []string
		members := map[string]map[string]bool{}
		for i := range 3 {
			people = append(people, a.newColleague(x, fmt.Sprintf("p%d@%s.test", i, x.Name)))
			names = append(names, fmt.Sprintf("Group %d", i))
			groups = append(groups, a.newGroup(x, fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Group %d","externalId":"ext-%d"}`, i, i)))
			members[groups[i]] = map[string]bool{}
		}
		wiki := a.newCollection(x.key, "wiki")
		type rule struct{ users, groups []int }
		var byDefault *rule
		rules, documents := map[string]*rule{}, map[string]string{}
		draw := func() (*rule, any) {
			if rapid.IntRange(0, 3).Draw(rt, "no rule") == 0 {
				return nil, nil
			}
			r, body := &rule{}, map[string]any{}
			var u, g []string
			for i := range 3 {
				if rapid.IntRange(0, 2).Draw(rt, "user") == 0 {
					r.users = append(r.users, i)
					u = append(u, rapid.SampledFrom([]string{people[i].id, people[i].name, strings.ToUpper(people[i].name)}).Draw(rt, "by"))
				}
				if rapid.IntRange(0, 2).Draw(rt, "group") == 0 {
					r.groups = append(r.groups, i)
					g = append(g, rapid.SampledFrom([]string{groups[i], names[i], fmt.Sprintf("ext-%d", i)}).Draw(rt, "by"))
				}
			}
			body["users"], body["groups"] = append([]string{}, u...), append([]string{}, g...)
			return r, body
		}
		reads := func(p int, r *rule) bool {
			if r == nil {
				r = byDefault
			}
			if r == nil || slices.Contains(r.users, p) {
				return true
			}
			return slices.ContainsFunc(r.groups, func(g int) bool { return members[groups[g]][people[p].id] })
		}
		for range rapid.IntRange(3, 8).Draw(rt, "changes") {
			changes++
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
				g, p := rapid.IntRange(0, 2).Draw(rt, "g"), rapid.IntRange(0, 2).Draw(rt, "p")
				in := !members[groups[g]][people[p].id]
				a.member(x, groups[g], people[p].id, in)
				members[groups[g]][people[p].id] = in
			case 1:
				r, body := draw()
				byDefault = r
				a.do(call{"PATCH", "/collections/" + wiki, x.key, map[string]any{"defaultAccess": body}, nil}).want(t, 200)
			default:
				uri := fmt.Sprintf("https://wiki.test/%d", rapid.IntRange(0, 4).Draw(rt, "document"))
				r, body := draw()
				rules[uri] = r
				if id := a.documentID(x, uri); documents[id] != "" && rapid.Bool().Draw(rt, "without its content") {
					a.do(call{"PATCH", "/documents/" + id, x.key, map[string]any{"access": body}, nil}).want(t, 200)
				} else {
					documents[a.putWith(x.key, wiki, uri, body).want(t, 200).text(t, "id")] = uri
				}
				a.drain()
			}
			for i, p := range people {
				var want []string
				for uri, r := range rules {
					if reads(i, r) {
						want = append(want, uri)
					}
				}
				compared += shows(t, p.name, a.seen(p.key, nil, documents, true), want, true)
			}
		}
	})
	t.Logf("%d teams of 3 people and 3 groups, %d changes, %d reads compared", min(runs, 12), changes, compared)
}
