package scim_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/table"
)

// memberOf reports whether users are in the group by GroupsOf, which decides who may read.
func (s *server) memberOf(group string, users ...string) []bool {
	s.Helper()
	out := make([]bool, len(users))
	for i, id := range users {
		groups, err := s.GroupsOf(s.Context(), s.team.ID, id)
		if err != nil {
			s.Fatal(err)
		}
		out[i] = slices.ContainsFunc(groups, func(g access.Group) bool { return g.ID == group })
	}
	return out
}

// TestGroupsOfAHalfDoneChange looks at who is a member before each write of a change of 120 members, which marks
// them first, and cuts the change off there. Until the change counts, the marked ones are what they were: those to be removed are
// members and those to be added are not. From then on it is the reverse, at once for all. What was answered holds.
func TestGroupsOfAHalfDoneChange(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	ids := s.people(120)
	stays, removed, added := ids[55], ids[0], ids[119]
	old, changed := []bool{true, true, false}, []bool{true, false, true}
	looks, marked := 0, 0
	for _, before := range []bool{true, false} {
		for at := 1; ; at++ {
			group := s.must(201, "POST", "/Groups", fmt.Sprintf(`{"displayName":"g %v %d","members":%s}`, before, at, members(ids[:60]))).string("id")
			writes, counts := 0, false
			var mu sync.Mutex
			w.set(func(ops []table.Op) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				got := s.memberOf(group, stays, removed, added)
				counts = counts || slices.Equal(got, changed)
				if want := map[bool][]bool{false: old, true: changed}[counts]; !slices.Equal(got, want) {
					t.Errorf("cut off at write %d, before write %d: %v, want %v", at, writes+1, got, want)
				}
				if looks++; len(ops) > 3 {
					marked++
				}
				if writes++; writes >= at {
					return before || writes > at, errors.Join(errors.New("crash"), table.ErrUnavailable)
				}
				return false, nil
			})
			status := s.quietly("PATCH", "/Groups/"+group, message(`{"op":"replace","path":"members","value":`+members(ids[50:])+`}`))
			w.set(nil)
			got := s.memberOf(group, stays, removed, added)
			if !slices.Equal(got, old) && !slices.Equal(got, changed) || status == http.StatusNoContent && !slices.Equal(got, changed) {
				t.Errorf("cut off at write %d: status %d, %v", at, status, got)
			}
			if in := s.in(group); slices.Contains(in, removed) != got[1] || slices.Contains(in, added) != got[2] {
				t.Errorf("cut off at write %d: the list has %d members, readers %v", at, len(in), got)
			}
			s.now.Advance(2 * time.Minute)
			s.must(204, "DELETE", "/Groups/"+group, "")
			if writes < at {
				break
			}
		}
	}
	if marked == 0 {
		t.Error("nothing was marked")
	}
	t.Logf("%d looks at half-done changes", looks)
}

// TestReadersOfAHalfDoneDeactivation cuts a change of one user off at each write. Once it was answered, the user reads
// nothing; if it was not, they read all that they did or nothing.
func TestReadersOfAHalfDoneDeactivation(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	s.Teams.Groups = s.GroupsOf
	s.must(201, "POST", "/Groups", `{"displayName":"G"}`)
	for _, way := range []string{"PUT", "PATCH", "DELETE"} {
		for _, before := range []bool{true, false} {
			for at := 1; ; at++ {
				name := fmt.Sprintf("%s-%t-%d", way, before, at)
				id := s.user(name)
				rule := &access.Rule{Users: []access.Entry{{Name: name, ID: id}}}
				reads := func() bool {
					reader, err := s.Teams.ReaderOf(t.Context(), s.team.ID, id)
					if err != nil {
						t.Fatal(err)
					}
					return reader.MayRead(rule, nil)
				}
				if !reads() {
					t.Fatal("an active user reads nothing")
				}
				writes := 0
				w.set(func([]table.Op) (bool, error) {
					if writes++; writes >= at {
						return before || writes > at, errors.Join(errors.New("crash"), table.ErrUnavailable)
					}
					return false, nil
				})
				body := map[string]string{"PUT": fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":%q,"active":false}`, name),
					"PATCH": message(`{"op":"replace","path":"active","value":false}`)}[way]
				status := s.quietly(way, "/Users/"+id, body)
				w.set(nil)
				if answered := status < 300; answered && reads() {
					t.Errorf("%s: answered with %d, and still reads", name, status)
				}
				if s.quietly(way, "/Users/"+id, body); reads() {
					t.Errorf("%s: sent again, and still reads", name)
				}
				if writes < at {
					break
				}
			}
		}
	}
}

// quietly sends a request whose reply may be an error of the server, and returns its status; 0: it broke off.
func (s *server) quietly(method, path, body string) (status int) {
	defer func() { _ = recover() }()
	quiet := *s
	quiet.TB = silent{s.TB}
	quiet.Handler = quiet.guarded()
	return quiet.do(method, path, body).StatusCode
}
