package scim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// watched is a store that counts reads of members and breaks writes.
type watched struct {
	table.Store
	memberReads atomic.Int64
	mu          sync.Mutex
	fail        func(ops []table.Op) (before bool, err error) // an error before or after the write
}

func (w *watched) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if strings.Contains(q.Partition, "/members/") {
		w.memberReads.Add(1)
	}
	return w.Store.Query(ctx, q)
}

func (w *watched) Write(ctx context.Context, ops ...table.Op) error {
	w.mu.Lock()
	fail := w.fail
	w.mu.Unlock()
	if fail == nil {
		return w.Store.Write(ctx, ops...)
	}
	before, err := fail(ops)
	if err != nil && before {
		return err
	}
	return errors.Join(w.Store.Write(ctx, ops...), err)
}

func (w *watched) set(fail func(ops []table.Op) (bool, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = fail
}

func newWatched(t testing.TB) (*server, *watched) {
	t.Helper()
	w := &watched{}
	return newServerOn(t, func(s table.Store) table.Store { w.Store = s; return w }), w
}

// people stores n users and returns their ids in order.
func (s *server) people(n int) []string {
	s.Helper()
	ids := make([]string, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range n {
		p, err := s.Teams.NewProfile([]byte(fmt.Sprintf(`{"userName":"p%06d"}`, i)))
		if err != nil {
			s.Fatal(err)
		}
		ids[i] = p.ID
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := s.Teams.InsertProfile(s.Context(), s.team.ID, p); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	return ids
}

// members returns the JSON list of members.
func members(ids []string) string {
	var list []string
	for _, id := range ids {
		list = append(list, `{"value":"`+id+`"}`)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// in returns the ids of the members of a group.
func (s *server) in(group string) []string {
	s.Helper()
	var ids []string
	list, _ := s.must(200, "GET", "/Groups/"+group, "").body["members"].([]any)
	for _, e := range list {
		ids = append(ids, e.(map[string]any)["value"].(string))
	}
	return ids
}

func (s *server) patchGroup(status int, group string, operations ...string) reply {
	s.Helper()
	return s.must(status, "PATCH", "/Groups/"+group, message(operations...))
}

// TestLargeGroup: 3,000 members are more than fit into one write.
func TestLargeGroup(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	ids := s.people(3000)
	group := s.must(201, "POST", "/Groups?excludedAttributes=members", `{"displayName":"all","members":`+members(ids[:2000])+`}`).string("id")
	if got := len(s.in(group)); got != 2000 {
		t.Fatalf("%d members", got)
	}
	first := s.must(200, "GET", "/Groups/"+group+"?excludedAttributes=members", "").Header.Get("ETag")
	s.patchGroup(204, group, `{"op":"add","path":"members","value":`+members(ids[1950:2100])+`}`)
	if got := len(s.in(group)); got != 2100 {
		t.Errorf("%d members after an addition", got)
	}
	if second := s.must(200, "GET", "/Groups/"+group+"?excludedAttributes=members", "").Header.Get("ETag"); second == first {
		t.Error("the version stays")
	}
	s.patchGroup(204, group, `{"op":"replace","path":"members","value":`+members(ids[1000:3000])+`}`)
	if got := s.in(group); len(got) != 2000 || got[0] != ids[1000] || got[1999] != ids[2999] {
		t.Errorf("%d members after a replacement", len(got))
	}
	w.memberReads.Store(0)
	s.must(200, "GET", "/Groups/"+group+"?excludedAttributes=members", "")
	s.must(200, "GET", "/Groups?excludedAttributes=members", "")
	s.must(200, "GET", "/Groups?excludedAttributes=members&filter=displayName eq \"ALL\"", "")
	s.must(200, "GET", "/Groups?attributes=displayName", "")
	if found := s.must(200, "GET", `/Groups?attributes=id&filter=id eq "`+group+`" and members eq "`+ids[2000]+`"`, ""); found.body["totalResults"] != 1.0 {
		t.Errorf("%s", found.text)
	}
	if found := s.must(200, "GET", `/Groups?attributes=id&filter=members[value eq "`+ids[0]+`"]`, ""); found.body["totalResults"] != 0.0 {
		t.Errorf("%s", found.text)
	}
	s.patchGroup(204, group, `{"op":"add","path":"members","value":`+members(ids[:10])+`}`, `{"op":"remove","path":"members[value eq \"`+ids[0]+`\"]"}`)
	s.patchGroup(204, group, `{"op":"replace","value":{"id":"`+group+`","displayName":"everyone"}}`)
	if reads := w.memberReads.Load(); reads != 0 {
		t.Errorf("members were listed %d times", reads)
	}
	s.must(204, "DELETE", "/Users/"+ids[2500], "")
	if got := s.in(group); len(got) != 2008 {
		t.Errorf("%d members after a user was deleted", len(got))
	}
	s.patchGroup(204, group, `{"op":"remove","path":"members"}`)
	if got := s.in(group); got != nil {
		t.Errorf("%d members of an emptied group", len(got))
	}
	s.must(204, "DELETE", "/Groups/"+group, "")
	s.must(404, "DELETE", "/Groups/"+group, "")
	left, err := s.Table.Query(t.Context(), table.Query{Table: table.Identities, Partition: s.team.ID + "/memberships"})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("%d memberships left, %v", len(left.Items), err)
	}
}

// TestStagedChangeIsWholeOrNothing interrupts a change of many members before and after each of
// its writes. Readers see the old list or the new one, in the group, in its users and in what they may read. When the request is
// repeated, they see the new one.
func TestStagedChangeIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	ids := s.people(120)
	crash := errors.New("crash")
	for _, before := range []bool{true, false} {
		for at := 1; ; at++ {
			group := s.must(201, "POST", "/Groups", fmt.Sprintf(`{"displayName":"g %v %d","members":%s}`, before, at, members(ids[:60]))).string("id")
			change := message(`{"op":"replace","path":"members","value":` + members(ids[50:]) + `}`)
			writes := 0
			var mu sync.Mutex
			w.set(func([]table.Op) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				if writes++; writes >= at { // all later writes fail too: the process has died
					return before || writes > at, errors.Join(crash, table.ErrUnavailable)
				}
				return false, nil
			})
			func() {
				defer func() { _ = recover() }()
				quiet := *s
				quiet.TB = silent{s.TB}
				quiet.Handler = quiet.guarded()
				quiet.do("PATCH", "/Groups/"+group, change)
			}()
			w.set(nil)
			if got := s.in(group); !(len(got) == 60 && got[0] == ids[0]) && !(len(got) == 70 && got[0] == ids[50]) {
				t.Fatalf("cut off at write %d: %d members", at, len(got))
			}
			for _, id := range []string{ids[0], ids[119]} { // only before the change, only after it
				member := slices.Contains(s.in(group), id)
				if shown := s.must(200, "GET", "/Users/"+id, "").body["groups"] != nil; shown != member {
					t.Fatalf("cut off at write %d: user %s shows the group: %t, and is a member: %t", at, id, shown, member)
				}
				if reads, err := s.GroupsOf(t.Context(), s.team.ID, id); err != nil || (len(reads) == 1) != member {
					t.Fatalf("cut off at write %d: user %s reads with %v, and is a member: %t; %v", at, id, reads, member, err)
				}
			}
			s.now.Advance(2 * time.Minute)
			s.must(204, "PATCH", "/Groups/"+group, change)
			if got := s.in(group); len(got) != 70 || got[0] != ids[50] {
				t.Fatalf("cut off at write %d and made again: %d members", at, len(got))
			}
			// The interrupted change is cleaned up: removing all members leaves no items.
			s.patchGroup(204, group, `{"op":"remove","path":"members"}`)
			if got := s.in(group); got != nil {
				t.Fatalf("cut off at write %d: %d members left", at, len(got))
			}
			s.must(204, "DELETE", "/Groups/"+group, "")
			if writes < at {
				break // the change was no longer interrupted
			}
		}
	}
}

// A change that is refused is so before it marks the members: its cost is that of a small request, not that of
// the group.
func TestARefusedChangeMarksNoMembers(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	ids := s.people(200)
	s.must(201, "POST", "/Groups", `{"displayName":"taken"}`)
	group := s.must(201, "POST", "/Groups", `{"displayName":"all","members":`+members(ids)+`}`).string("id")
	var writes atomic.Int64
	w.set(func(ops []table.Op) (bool, error) {
		for _, o := range ops {
			if strings.Contains(table.KeyOf(o).Partition, "/member") {
				writes.Add(1)
			}
		}
		return false, nil
	})
	for name, operation := range map[string]string{
		"the name of another group":     `{"op":"replace","path":"displayName","value":"TAKEN"}`,
		"attributes that are too large": `{"op":"replace","path":"displayName","value":"` + strings.Repeat("x", team.MaxAttributes) + `"}`,
	} {
		r := s.do("PATCH", "/Groups/"+group, message(`{"op":"remove","path":"members"}`, operation))
		if r.StatusCode < 400 || writes.Load() > 0 {
			t.Errorf("%s: %d after %d writes of members", name, r.StatusCode, writes.Swap(0))
		}
	}
	r := s.do("POST", "/Groups", `{"displayName":"taken","members":`+members(ids)+`}`)
	if r.StatusCode != 409 || writes.Load() > 0 {
		t.Errorf("a new group: %d after %d writes of members", r.StatusCode, writes.Load())
	}
	w.set(nil)
	s.patchGroup(204, group, `{"op":"remove","path":"members"}`, `{"op":"replace","path":"displayName","value":"ALL"}`)
	if got := s.in(group); got != nil {
		t.Errorf("%d members of an emptied group", len(got))
	}
}

// silent is a test whose errors are expected.
type silent struct{ testing.TB }

func (silent) Errorf(string, ...any) {}

func TestMembersAndTheirUsers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a, b := s.user("a"), s.user("b")
	rival, _ := s.newTeam("rival")
	foreign, err := teamtest.CreateUser(t.Context(), s.Teams, rival.ID, "x", team.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	group := s.must(201, "POST", "/Groups", `{"displayName":"G","members":[{"value":"`+a+`","display":"Ay"},{"value":"`+b+`"}]}`)
	id := group.string("id")
	if want := `"members":[{"$ref":"` + base + `/scim/v2/Users/` + a + `","display":"Ay","type":"User","value":"` + a + `"},{"$ref":"` + base + `/scim/v2/Users/` + b + `","display":"b","type":"User","value":"` + b + `"}]`; !strings.Contains(group.text, want) {
		t.Errorf("%s", group.text)
	}
	if u := s.must(200, "GET", "/Users/"+a, ""); !strings.Contains(u.text, `"groups":[{"$ref":"`+base+`/scim/v2/Groups/`+id+`","display":"G","type":"direct","value":"`+id+`"}]`) {
		t.Errorf("%s", u.text)
	}
	if l := s.must(200, "GET", `/Users?filter=groups.display eq "g"&sortBy=userName`, ""); l.body["totalResults"] != 2.0 {
		t.Errorf("%s", l.text)
	}
	for _, bad := range []string{"none", foreign.ID, id, strings.ToUpper(a), "../x"} {
		r := s.must(400, "PATCH", "/Groups/"+id, message(`{"op":"add","path":"members","value":[{"value":"`+bad+`"}]}`))
		if r.string("scimType") != "invalidValue" {
			t.Errorf("%q: %s", bad, r.text)
		}
	}
	// The group's version changes with its members, and with nothing else.
	tag := s.must(200, "GET", "/Groups/"+id, "").Header.Get("ETag")
	s.patchGroup(204, id, `{"op":"add","path":"members","value":[{"value":"`+a+`"}]}`)
	if got := s.must(200, "GET", "/Groups/"+id, "").Header.Get("ETag"); got != tag {
		t.Errorf("adding a present member moved %s to %s", tag, got)
	}
	s.must(204, "DELETE", "/Users/"+a, "")
	if got := s.must(200, "GET", "/Groups/"+id, "").Header.Get("ETag"); got == tag {
		t.Error("the version stays when a member is deleted")
	}
	s.must(412, "PATCH", "/Groups/"+id, message(`{"op":"remove","path":"members"}`), "If-Match", tag)
	if got := s.in(id); len(got) != 1 || got[0] != b {
		t.Errorf("members %v", got)
	}
	s.must(409, "POST", "/Groups", `{"displayName":"g"}`)
	other := s.must(201, "POST", "/Groups", `{"displayName":"h"}`).string("id")
	if r := s.patchGroup(409, other, `{"op":"replace","path":"displayName","value":"g"}`); r.string("scimType") != "uniqueness" {
		t.Errorf("%s", r.text)
	}
	s.must(204, "DELETE", "/Groups/"+id, "")
	s.patchGroup(204, other, `{"op":"replace","path":"displayName","value":"G"}`)
	if u := s.must(200, "GET", "/Users/"+b, ""); u.body["groups"] != nil {
		t.Errorf("%s", u.text)
	}
}

// TestDeletionThatWasCutOff: the next DELETE finishes it and answers 204, the one after answers
// 404.
func TestDeletionThatWasCutOff(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	a := s.user("a")
	group := s.must(201, "POST", "/Groups", `{"displayName":"G","members":[{"value":"`+a+`"}]}`).string("id")
	quiet := *s
	quiet.TB = silent{t}
	quiet.Handler = quiet.guarded()
	for _, path := range []string{"/Users/" + a, "/Groups/" + group} {
		writes := 0
		w.set(func([]table.Op) (bool, error) {
			if writes++; writes > 1 {
				return true, table.ErrUnavailable
			}
			return false, nil
		})
		quiet.do("DELETE", path, "")
		w.set(nil)
		s.must(404, "GET", path, "")
		s.must(204, "DELETE", path, "")
		s.must(404, "DELETE", path, "")
	}
}
