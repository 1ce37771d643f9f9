package scim_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/team"
)

// bulkOf returns a Bulk request with one operation; empty data is omitted.
func bulkOf(method, path, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[{"method":"` + method + `","path":"` + path + `","bulkId":"b"` + data + `}]}`
}

// role returns a user's role by the rules of the team.
func (s *server) role(id string) team.Role {
	s.Helper()
	u, err := s.Teams.User(s.Context(), s.team.ID, id)
	if err != nil {
		s.Fatal(err)
	}
	return u.Role
}

func TestOnlyAnAdminInPersonGrantsOrTakesTheAdminRole(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
	grants := map[string]func(key, id string) reply{
		"PUT": func(key, id string) reply {
			return s.as(key, "PUT", "/Users/"+id, `{"userName":"`+id+`","title":"t","roles":[{"value":"x"},{"value":"Admin"}]}`)
		},
		"PATCH add": func(key, id string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"add","path":"roles","value":[{"value":"admin"},{"value":"x"}]}`, `{"op":"add","path":"title","value":"t"}`))
		},
		"PATCH with a value filter": func(key, id string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"add","path":"roles","value":"x"}`, `{"op":"add","path":"roles[type eq \"y\"].value","value":"ADMIN"}`, `{"op":"add","path":"title","value":"t"}`))
		},
		"PATCH without a path": func(key, id string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"replace","value":{"roles":["x","admin"],"title":"t"}}`))
		},
		"Bulk": func(key, id string) reply {
			return s.as(key, "POST", "/Bulk", bulkOf("PATCH", "/Users/"+id, message(`{"op":"add","value":{"roles":["x","admin"],"title":"t"}}`)))
		},
	}
	takes := map[string]func(key, id, name string) reply{
		"PUT": func(key, id, name string) reply {
			return s.as(key, "PUT", "/Users/"+id, `{"userName":"`+name+`","title":"u"}`)
		},
		"PATCH remove": func(key, id, _ string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"remove","path":"roles"}`, `{"op":"add","path":"title","value":"u"}`))
		},
		"PATCH replace": func(key, id, _ string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"replace","path":"roles","value":[{"value":"x","primary":true}]}`, `{"op":"add","path":"title","value":"u"}`))
		},
		"PATCH of the element": func(key, id, _ string) reply {
			return s.as(key, "PATCH", "/Users/"+id, message(`{"op":"replace","path":"roles[value eq \"admin\"].value","value":"x"}`, `{"op":"add","path":"title","value":"u"}`))
		},
		"Bulk": func(key, id, name string) reply {
			return s.as(key, "POST", "/Bulk", bulkOf("PUT", "/Users/"+id, `{"userName":"`+name+`","title":"u"}`))
		},
	}
	for kind, key := range map[team.Kind]string{
		team.KindSCIM: s.key, team.KindTeam: s.newKey(s.team.ID, team.KindTeam, ""), team.KindPersonal: person,
	} {
		made := s.as(key, "POST", "/Users", `{"userName":"new `+string(kind)+`","roles":[{"value":"x"},{"value":"admin","primary":true}]}`)
		if want := map[bool]team.Role{true: team.RoleAdmin, false: team.RoleMember}[kind == team.KindPersonal]; made.StatusCode != 201 || s.role(made.string("id")) != want ||
			strings.Contains(made.text, `"admin"`) != (want == team.RoleAdmin) || !strings.Contains(made.text, `"value":"x"`) {
			t.Errorf("%s key creates %s", kind, made.text)
		}
		for name, grant := range grants {
			id := s.user("g " + name + string(kind))
			r := grant(key, id)
			if want := map[bool]team.Role{true: team.RoleAdmin, false: team.RoleMember}[kind == team.KindPersonal]; r.StatusCode != 200 || s.role(id) != want {
				t.Errorf("%s by a %s key makes %s: %d %s", name, kind, s.role(id), r.StatusCode, r.text)
			}
			s.has("/Users/"+id, `"title":"t"`, `"value":"x"`) // the rest of the request holds
		}
		for name, take := range takes {
			userName := "t " + name + string(kind)
			id := s.as(person, "POST", "/Users", `{"userName":"`+userName+`","roles":[{"value":"admin","display":"A","primary":true}]}`).string("id")
			r := take(key, id, userName)
			want := team.RoleAdmin
			if kind == team.KindPersonal {
				want = team.RoleMember
			}
			if r.StatusCode != 200 || s.role(id) != want {
				t.Errorf("%s by a %s key leaves %s: %d %s", name, kind, s.role(id), r.StatusCode, r.text)
			}
			s.has("/Users/"+id, `"title":"u"`)
			if got := s.must(200, "GET", "/Users/"+id, "").text; strings.Count(got, `"primary":true`) > 1 {
				t.Errorf("%s leaves two primary roles: %s", name, got)
			}
		}
	}
}

func TestARoleSentUnchangedChangesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
	id := s.as(person, "POST", "/Users", `{"userName":"ada","roles":[{"value":"x"},{"value":"admin","display":"A","primary":true},{"value":"y"}]}`).string("id")
	first := s.must(200, "GET", "/Users/"+id, "")
	for _, r := range []reply{
		s.do("PUT", "/Users/"+id, `{"userName":"ada","roles":[{"value":"x"},{"value":"admin","display":"A","primary":true},{"value":"y"}]}`),
		s.do("PATCH", "/Users/"+id, message(`{"op":"replace","path":"roles","value":[{"value":"x"},{"value":"admin","display":"A","primary":"True"},{"value":"y"}]}`)),
		s.do("PATCH", "/Users/"+id, message(`{"op":"Add","path":"roles[primary eq \"True\"].value","value":"admin"}`)),
	} {
		if r.StatusCode != 200 || r.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("%d %s %s", r.StatusCode, r.Header.Get("ETag"), r.text)
		}
	}
}

// leavings are the ways in which an admin can be removed.
func (s *server) leavings(key, id, userName string) map[string]func() reply {
	path := "/Users/" + id
	off := message(`{"op":"replace","path":"active","value":"False"}`)
	return map[string]func() reply{
		"DELETE":       func() reply { return s.as(key, "DELETE", path, "") },
		"PATCH active": func() reply { return s.as(key, "PATCH", path, off) },
		"PUT active": func() reply {
			return s.as(key, "PUT", path, `{"userName":"`+userName+`","active":false,"roles":["admin"]}`)
		},
		"Bulk DELETE":    func() reply { return s.as(key, "POST", "/Bulk", bulkOf("DELETE", path, "")) },
		"Bulk PATCH":     func() reply { return s.as(key, "POST", "/Bulk", bulkOf("PATCH", path, off)) },
		"PUT no roles":   func() reply { return s.as(key, "PUT", path, `{"userName":"`+userName+`"}`) },
		"PATCH no roles": func() reply { return s.as(key, "PATCH", path, message(`{"op":"remove","path":"roles"}`)) },
	}
}

// TestTheLastAdminWhoCanActStays: an admin without a usable key does not count.
func TestTheLastAdminWhoCanActStays(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, s *server) {
		person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
		idle := s.as(person, "POST", "/Users", `{"userName":"idle","roles":["admin"]}`).string("id")
		newKey := func(k team.NewKey) team.APIKey {
			k.Kind, k.Name, k.UserID = team.KindPersonal, "k", idle
			made, _, err := s.Teams.CreateKey(t.Context(), s.team.ID, k)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		stays := func(why string) {
			t.Helper()
			for name, key := range map[string]string{"scim": s.key, "personal": person} {
				for way, leave := range s.leavings(key, s.boss.ID, "boss@acme.test") {
					demotes := strings.HasSuffix(way, "no roles")
					if demotes && key == s.key {
						continue // it does not take the role at all
					}
					r := leave()
					refused := r.StatusCode == 409 && strings.Contains(r.string("detail"), "last active admin") && r.body["scimType"] == nil
					if strings.HasPrefix(way, "Bulk") {
						refused = strings.Contains(r.text, `"status":"409"`)
					}
					if !refused {
						t.Fatalf("%s: %s by a %s key: %d %s", why, way, name, r.StatusCode, r.text)
					}
				}
			}
			if u, err := s.Teams.User(t.Context(), s.team.ID, s.boss.ID); err != nil || !u.Active || u.Role != team.RoleAdmin {
				t.Fatalf("%+v, %v", u, err)
			}
		}
		stays("another admin without a key")
		soon := s.now.Now().Add(time.Minute)
		newKey(team.NewKey{ExpiresAt: &soon})
		newKey(team.NewKey{DataSourceIDs: []string{"00000000-0000-7000-8000-000000000001"}})
		newKey(team.NewKey{Scopes: []team.Scope{team.ScopeRead, team.ScopeAsk, team.ScopeWrite, team.ScopeAudit}})
		if err := s.Teams.RevokeKey(t.Context(), s.team.ID, newKey(team.NewKey{}).ID); err != nil {
			t.Fatal(err)
		}
		s.now.Advance(time.Minute)
		stays("another admin with an expired, a restricted and a revoked key, and one without manage")
		others := 120 // more keys than are read at a time
		if strings.HasSuffix(t.Name(), "dynamo") {
			others = 1
		}
		for i := range others {
			if _, _, err := s.Teams.CreateKey(t.Context(), s.team.ID, team.NewKey{Kind: team.KindTeam, Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		newKey(team.NewKey{})
		s.must(204, "DELETE", "/Users/"+s.boss.ID, "")
		s.must(409, "DELETE", "/Users/"+idle, "").refuses(t, 409, "")
	})
}

// TestTwoAdminsWhoLeaveAtOnce: of the last two who can act, one stays, however they are
// removed.
func TestTwoAdminsWhoLeaveAtOnce(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, s *server) {
		ways := []string{"DELETE", "PATCH active", "PUT active"}
		for round, way := range ways {
			person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
			s.as(person, "POST", "/Users", `{"userName":"idle`+fmt.Sprint(round)+`","roles":["admin"]}`)
			second := s.as(person, "POST", "/Users", `{"userName":"second`+fmt.Sprint(round)+`","roles":["admin"]}`).string("id")
			s.newKey(s.team.ID, team.KindPersonal, second)
			statuses := make([]int, 2)
			var wg sync.WaitGroup
			for i, leave := range []func() reply{
				s.leavings(s.key, s.boss.ID, s.boss.UserName)[way],
				s.leavings(s.key, second, "second"+fmt.Sprint(round))[ways[(round+1)%len(ways)]],
			} {
				wg.Go(func() { statuses[i] = leave().StatusCode })
			}
			wg.Wait()
			refused := 0
			for _, status := range statuses {
				if status == http.StatusConflict {
					refused++
				}
			}
			if refused != 1 {
				t.Fatalf("%s and another at once: %v", way, statuses)
			}
			if statuses[0] != http.StatusConflict { // the other is the boss from here on
				u, err := s.Teams.User(t.Context(), s.team.ID, second)
				if err != nil {
					t.Fatal(err)
				}
				s.boss = u
			}
		}
	})
}

// TestAnAdminWhoLeavesAtTheSameTimeDoesNotCount: the write is conditional on what was read of the
// other admin.
func TestAnAdminWhoLeavesAtTheSameTimeDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"DELETE", "PATCH active", "PUT active", "the key"} {
		s, w := newWatched(t)
		person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
		s.as(person, "POST", "/Users", `{"userName":"idle","roles":["admin"]}`)
		second := s.as(person, "POST", "/Users", `{"userName":"second","roles":["admin"]}`).string("id")
		key, _, err := s.Teams.CreateKey(t.Context(), s.team.ID, team.NewKey{Kind: team.KindPersonal, Name: "k", UserID: second})
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		w.set(func([]table.Op) (bool, error) {
			once.Do(func() {
				w.set(func([]table.Op) (bool, error) { return false, nil })
				leave, ok := s.leavings(s.key, second, "second")[way]
				if !ok {
					err = s.Teams.RevokeKey(t.Context(), s.team.ID, key.ID)
				} else if r := leave(); r.StatusCode >= 300 {
					t.Errorf("%s of the other: %d %s", way, r.StatusCode, r.text)
				}
			})
			return false, err
		})
		s.do("DELETE", "/Users/"+s.boss.ID, "").refuses(t, 409, "")
	}
}
