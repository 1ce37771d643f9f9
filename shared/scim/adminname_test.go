package scim_test

import (
	"strings"
	"testing"
	"time"

	"docent/shared/team"
)

// admin creates an active admin.
func (s *server) admin(userName string) string {
	s.Helper()
	person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
	return s.as(person, "POST", "/Users", `{"userName":"`+userName+`","roles":["admin"]}`).string("id")
}

// named returns a user by the name that the user signs in with; empty: there is none.
func (s *server) named(userName string) string {
	s.Helper()
	ids, err := s.Teams.FindUsers(s.Context(), s.team.ID, team.ByUserName, userName)
	if err != nil {
		s.Fatal(err)
	}
	return strings.Join(ids, " ")
}

// renamings are the ways to give a user another userName, and a title.
func (s *server) renamings(key, path string) map[string]func(to string) reply {
	patch := func(to string) string {
		return message(`{"op":"replace","path":"title","value":"t"}`, `{"op":"replace","path":"userName","value":"`+to+`"}`)
	}
	put := func(to string) string { return `{"userName":"` + to + `","title":"t"}` }
	return map[string]func(to string) reply{
		"PUT":   func(to string) reply { return s.as(key, "PUT", path, put(to)) },
		"PATCH": func(to string) reply { return s.as(key, "PATCH", path, patch(to)) },
		"PATCH without a path": func(to string) reply {
			return s.as(key, "PATCH", path, message(`{"op":"add","value":{"USERNAME":"`+to+`","title":"t"}}`))
		},
		"Bulk PUT":   func(to string) reply { return s.as(key, "POST", "/Bulk", bulkOf("PUT", path, put(to))) },
		"Bulk PATCH": func(to string) reply { return s.as(key, "POST", "/Bulk", bulkOf("PATCH", path, patch(to))) },
	}
}

// TestOnlyAnAdminInPersonRenamesAnAdmin: people sign in by the userName, so whoever could give an admin the name of
// another person could make that person the admin.
func TestOnlyAnAdminInPersonRenamesAnAdmin(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for kind, key := range map[team.Kind]string{
		team.KindSCIM: s.key, team.KindTeam: s.newKey(s.team.ID, team.KindTeam, ""), team.KindPersonal: s.newKey(s.team.ID, team.KindPersonal, s.boss.ID),
	} {
		for way := range s.renamings(key, "") {
			admin, member := "a "+way+string(kind), "m "+way+string(kind)
			id, other := s.admin(admin), s.user(member)
			if r := s.renamings(key, "/Users/"+other)[way]("gone " + member); r.StatusCode != 200 || s.named(member) != "" {
				t.Fatalf("%s of a member by a %s key: %d %s", way, kind, r.StatusCode, r.text)
			}
			r := s.renamings(key, "/Users/"+id)[way](member)
			renamed := s.named(member) == id && s.named(admin) == ""
			kept := s.named(member) == "" && s.named(admin) == id && strings.Contains(r.text, `"status":"403"`) && strings.Contains(r.text, "Only an admin's personal key")
			if kind == team.KindPersonal && !renamed || kind != team.KindPersonal && !kept {
				t.Errorf("%s of an admin by a %s key: %d %s", way, kind, r.StatusCode, r.text)
			}
			if stored := s.must(200, "GET", "/Users/"+id, "").string("title"); (stored == "t") != renamed {
				t.Errorf("%s by a %s key: the title is %q", way, kind, stored)
			}
		}
	}
}

// TestWhatAProviderStillChangesOfAnAdmin: nothing but another name is refused, and deactivation never is.
func TestWhatAProviderStillChangesOfAnAdmin(t *testing.T) {
	t.Parallel()
	off := `{"op":"replace","path":"active","value":"False"}`
	rename := `{"op":"replace","path":"userName","value":"Eve"}`
	for name, c := range map[string]struct {
		change, body string // after the first, with which the admin is as it is
		status       int
		stored       []string
	}{
		"the same name":          {"PUT", `{"userName":"ada","title":"t"}`, 200, []string{`"userName":"ada"`, `"title":"t"`}},
		"its case":               {"PUT", `{"userName":"ADA","title":"t"}`, 200, []string{`"userName":"ADA"`, `"title":"t"`}},
		"other attributes":       {"PATCH", message(`{"op":"replace","path":"externalId","value":"7"}`, `{"op":"add","path":"emails","value":[{"value":"eve@x.test"}]}`), 200, []string{`"externalId":"7"`, `"eve@x.test"`}},
		"a PUT that deactivates": {"PUT", `{"userName":"Eve","title":"t","active":false}`, 200, []string{`"userName":"ada"`, `"title":"t"`, `"active":false`}},
		"a PATCH that does":      {"PATCH", message(rename, off), 200, []string{`"userName":"ada"`, `"active":false`}},
		"no deactivation":        {"PATCH", message(off, `{"op":"replace","path":"active","value":true}`, rename), 403, []string{`"userName":"ada"`, `"active":true`}},
		"deletion":               {"DELETE", "", 204, nil},
	} {
		s := newServer(t)
		s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
		id := s.admin("ada")
		if r := s.do(c.change, "/Users/"+id, c.body); r.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.text)
		}
		if c.stored != nil {
			s.has("/Users/"+id, append(c.stored, `"value":"admin"`)...)
		}
	}
}

// TestAnAdminsNameIsNotChangedOnDetours: not while the admin is inactive, and not by another user with the name.
func TestAnAdminsNameIsNotChangedOnDetours(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person := s.newKey(s.team.ID, team.KindPersonal, s.boss.ID)
	id := s.admin("ada")
	path := "/Users/" + id
	s.must(200, "PATCH", path, message(`{"op":"replace","path":"active","value":false}`))
	for way, rename := range s.renamings(s.key, path) {
		if r := rename("eve"); way != "PUT" && way != "Bulk PUT" && (r.StatusCode != 200 || s.named("ada") != id || s.named("eve") != "") {
			t.Errorf("%s of an inactive admin: %d %s", way, r.StatusCode, r.text)
		}
	}
	if s.named("ada") != id { // a PUT without active activates, so it was refused
		t.Error("an inactive admin was renamed")
	}
	s.must(403, "PUT", path, `{"userName":"eve","active":true}`)
	s.must(200, "PUT", path, `{"userName":"ada","active":true}`)

	s.must(200, "PATCH", path, message(`{"op":"remove","path":"roles"}`)) // ignored
	s.must(403, "PUT", path, `{"userName":"eve"}`)
	s.must(204, "DELETE", path, "")
	again := s.must(201, "POST", "/Users", `{"userName":"ada","roles":["admin"]}`).string("id")
	if s.role(again) != team.RoleMember {
		t.Error("a user with the name of a deleted admin is one")
	}
	if r := s.as(person, "PATCH", "/Users/"+s.boss.ID, message(`{"op":"replace","path":"userName","value":"eve"}`)); r.StatusCode != 200 || s.named("eve") != s.boss.ID {
		t.Errorf("an admin renames itself: %d %s", r.StatusCode, r.text)
	}
}

// TestALesserKeyOfAnAdminMakesNoAdmin: otherwise a key could get, in the session of a user whom it makes an admin or
// who takes an admin's place, scopes that it lacks and a life that it has not.
func TestALesserKeyOfAnAdminMakesNoAdmin(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	end := s.now.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		key  team.NewKey
		full bool
	}{
		"no scopes":  {team.NewKey{}, true},
		"all scopes": {team.NewKey{Scopes: team.Scopes()}, true},
		"manage":     {team.NewKey{Scopes: []team.Scope{team.ScopeManage}}, false},
		"an expiry":  {team.NewKey{ExpiresAt: &end}, false},
	} {
		c.key.Kind, c.key.Name, c.key.UserID = team.KindPersonal, "k", s.boss.ID
		_, key, err := s.Teams.CreateKey(t.Context(), s.team.ID, c.key)
		if err != nil {
			t.Fatal(err)
		}
		member, admin := s.user("member "+name), s.admin("admin "+name)
		for way, r := range map[string]reply{
			"creates an admin":     s.as(key, "POST", "/Users", `{"userName":"new `+name+`","roles":["admin"]}`),
			"makes a member admin": s.as(key, "PATCH", "/Users/"+member, message(`{"op":"add","path":"roles","value":"admin"}`)),
			"renames an admin":     s.as(key, "PATCH", "/Users/"+admin, message(`{"op":"replace","path":"userName","value":"other `+name+`"}`)),
		} {
			refused := r.StatusCode == 403 && strings.Contains(r.string("detail"), "To make a user an admin or rename an admin, use an admin's personal key that has all scopes and no expiry")
			if refused == c.full || !refused && r.StatusCode > 201 {
				t.Errorf("a key with %s %s: %d %s", name, way, r.StatusCode, r.text)
			}
		}
		if got := s.named("new "+name) != "" && s.role(member) == team.RoleAdmin && s.named("admin "+name) == ""; got != c.full {
			t.Errorf("a key with %s: is it stored? %t", name, got)
		}
		for way, r := range map[string]reply{
			"renames a member":    s.as(key, "PATCH", "/Users/"+s.user("x "+name), message(`{"op":"replace","path":"userName","value":"y `+name+`"}`)),
			"changes an admin":    s.as(key, "PATCH", "/Users/"+admin, message(`{"op":"replace","path":"title","value":"t"}`)),
			"takes the role away": s.as(key, "PATCH", "/Users/"+admin, message(`{"op":"remove","path":"roles"}`)),
		} {
			if r.StatusCode != 200 {
				t.Errorf("a key with %s %s: %d %s", name, way, r.StatusCode, r.text)
			}
		}
	}
}
