package scim_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/shared/scim"
	"docent/shared/scim/protocol"
)

// crowd stores users that differ in every attribute that lists read, some in groups, and
// returns the reply to GET of every user of the team, in the order of creation.
func (s *server) crowd(n int) []map[string]any {
	s.Helper()
	ids := []string{s.boss.ID}
	for i := range n {
		attributes := []string{fmt.Sprintf(`"userName":"%s%02d"`, []string{"Ann", "bob", "Zoë", "ĉio"}[i%4], (i*7)%n)}
		for every, attribute := range map[int]string{
			2: `"displayName":"` + fmt.Sprintf("D%c", 'a'+i*5%26) + `"`, 3: `"name":{"familyName":"` + strings.Repeat("f", i%5) + `F \"x\" <b>","givenName":"G"}`,
			5: `"active":` + fmt.Sprint(i%2 == 0), 7: `"emails":[{"value":"e` + fmt.Sprint(i) + `@x.test"},{"value":"p` + fmt.Sprint(n-i) + `@x.test","primary":true}]`,
			4: `"externalId":"X` + fmt.Sprint(i) + `"`, 11: `"` + enterprise + `":{"department":"D` + fmt.Sprint(i%3) + `","manager":{"value":"` + ids[i] + `"}}`, 13: `"title":"` + strings.Repeat("t", 600) + fmt.Sprint(i) + `"`,
		} {
			if i%every == 0 {
				attributes = append(attributes, attribute)
			}
		}
		ids = append(ids, s.must(201, "POST", "/Users", "{"+strings.Join(attributes, ",")+"}").string("id"))
	}
	s.group("odd", ids[1], ids[3], ids[5])
	s.group("even", ids[2], ids[4])
	out := make([]map[string]any, len(ids))
	for i, id := range ids {
		out[i] = tree(s, s.must(200, "GET", "/Users/"+id, "").text)
	}
	return out
}

// matchesUser reports whether a user matches a filter.
func matchesUser(filter string, user map[string]any) (bool, error) {
	parsed, err := protocol.ParseFilter(filter)
	if err != nil {
		return false, err
	}
	matches, err := (&protocol.Compiler{Type: protocol.UserType}).Compile(parsed)
	if err != nil {
		return false, err
	}
	return matches(user), nil
}

// userBefore reports whether user a comes before b in the order of sortBy.
func userBefore(by, direction string, a, b map[string]any) (bool, error) {
	o, err := protocol.ParseOrder(&protocol.Compiler{Type: protocol.UserType}, by, direction)
	return o.Compare(o.Key(a), o.Key(b)) < 0, err
}

// TestListsAreWhatTheResourcesSay: lists select and order users by their resources on every
// page, whatever they read to find them.
func TestListsAreWhatTheResourcesSay(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, s *server) {
		all := s.crowd(60)
		filters := []string{"", "active eq true", `active eq "True"`, core + ":active eq true", "active eq false", "active ne true", "not (active eq false)", "active pr", "active eq true and userName sw \"a\"",
			`userName co "n"`, `userName sw "ZO"`, `displayName sw "d"`, `displayName co "ann"`, `displayName pr`, `name pr`, `name.familyName co "\"X\" <B"`, `emails co "@"`, `emails[primary eq true].value sw "p"`,
			`externalId pr`, `meta.lastModified ge "2026-01-01T00:00:00Z"`, `meta.version eq "W/\"1\""`, `schemas eq "` + enterprise + `"`, enterprise + `:department eq "d1"`, enterprise + " pr",
			enterprise + `:manager.displayName pr`, `groups.display eq "ODD"`, `groups pr and title pr`, `title ew "13" or id eq "x"`, `not (nickName pr)`}
		orders := []string{"", "userName", core + ":userName", "displayName", "name.familyName", "active", "emails", "externalId", "meta.created", "meta.lastModified", "title", enterprise + ":department", "groups", "id", "nickName"}
		step := 1
		if strings.HasSuffix(t.Name(), "dynamo") {
			step = 9 // each is several requests, and the server takes one at a time
		}
		for at := 0; at < len(filters)+len(orders); at += step {
			filter, by := filters[at%len(filters)], orders[at%len(orders)]
			for _, direction := range []string{"", "descending"} {
				var want []string
				for _, u := range all {
					matches := filter == ""
					if !matches {
						var err error
						if matches, err = matchesUser(filter, u); err != nil {
							t.Fatal(err)
						}
					}
					if matches {
						want = append(want, u["id"].(string))
					}
				}
				byID := map[string]map[string]any{}
				for _, u := range all {
					byID[u["id"].(string)] = u
				}
				slices.SortFunc(want, func(a, b string) int {
					if less, err := userBefore(by, direction, byID[a], byID[b]); err != nil {
						t.Fatal(err)
					} else if less {
						return -1
					}
					return 1
				})
				query := "/Users?attributes=id&count=23&filter=" + url.QueryEscape(filter) + "&sortBy=" + url.QueryEscape(by) + "&sortOrder=" + direction
				for _, paging := range []string{"startIndex", "cursor"} {
					var got []string
					for next := "1"; next != ""; {
						if paging == "cursor" && next == "1" {
							next = ""
						}
						r := s.must(200, "GET", query+"&"+paging+"="+next, "")
						for _, e := range r.body["Resources"].([]any) {
							got = append(got, e.(map[string]any)["id"].(string))
						}
						if r.body["totalResults"] != float64(len(want)) {
							t.Errorf("filter %q: %v in all, want %d", filter, r.body["totalResults"], len(want))
						}
						if next = r.string("nextCursor"); paging == "startIndex" && len(got) < len(want) {
							next = fmt.Sprint(len(got) + 1)
						}
					}
					if !slices.Equal(got, want) {
						t.Errorf("filter %q, sortBy %q %s, by %s: %d users in an order of their own, want %d", filter, by, direction, paging, len(got), len(want))
					}
				}
			}
		}
	})
}

// TestWholeListsTakeTurns: only a few lists of a team run over all users at a time, and a
// caller that stops waiting blocks no other.
func TestWholeListsTakeTurns(t *testing.T) {
	t.Parallel()
	s, gate := newGated(t)
	s.people(3)
	gate.hold()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { s.must(200, "GET", "/Users?sortBy=title", "") })
	}
	gate.waitFor(t, scim.WholeListsOfTeam)
	s.must(200, "GET", "/Users?filter=userName eq \"p000001\"", "") // goes through an index
	if n := gate.waiting(); n != scim.WholeListsOfTeam {
		t.Errorf("%d lists at a time", n)
	}
	gate.release()
	all.Wait()
	if s.WaitingLists() != 0 {
		t.Errorf("%d turns are left", s.WaitingLists())
	}
}

// TestALongIndexedListIsReadInParts: what an index finds is not held in memory at once.
func TestALongIndexedListIsReadInParts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 501 {
		p, err := s.Teams.NewProfile([]byte(fmt.Sprintf(`{"userName":"off%03d","active":false}`, i)))
		if err == nil {
			err = s.Teams.InsertProfile(t.Context(), s.team.ID, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := s.must(200, "GET", "/Users?count=1&filter=active eq false", ""); r.body["totalResults"] != 501.0 {
		t.Errorf("%v", r.body["totalResults"])
	}
	if r := s.must(200, "GET", "/Users?count=1&filter=active eq true", ""); r.body["totalResults"] != 1.0 || !strings.Contains(r.text, s.boss.ID) {
		t.Errorf("%s", r.text)
	}
}

// TestAScanOfManyPages: users of some 3 MB are several pages of the store.
func TestAScanOfManyPages(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, s *server) {
		const users = 90
		var want []string
		for i := range users {
			p, err := s.Teams.NewProfile([]byte(fmt.Sprintf(`{"userName":"u%02d","nickName":"n%02d","title":"%s"}`, i, users-i, strings.Repeat("x", 32<<10))))
			if err == nil {
				err = s.Teams.InsertProfile(t.Context(), s.team.ID, p)
			}
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, p.ID)
		}
		slices.Reverse(want)
		r := s.must(200, "GET", "/Users?attributes=id&count=200&filter=title pr&sortBy=nickName", "")
		var got []string
		for _, e := range r.body["Resources"].([]any) {
			got = append(got, e.(map[string]any)["id"].(string))
		}
		if !slices.Equal(got, want) || r.body["totalResults"] != float64(users) {
			t.Errorf("%d users, %v in all", len(got), r.body["totalResults"])
		}
	})
}
