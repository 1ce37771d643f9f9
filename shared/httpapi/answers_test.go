package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"docent/shared/team"
	"docent/shared/team/teamtest"
)

func TestAskTwiceIsAskOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := "0190d2a0-abcd-7000-8000-000000000001"
	left := a.ask(acme.key, id, "Who?").want(t, 204).Header.Get("X-RateLimit-Limit")
	if left != "1000" {
		t.Errorf("X-RateLimit-Limit %q", left)
	}
	a.ask(acme.key, id, "Who?").want(t, 204)
	a.ask(acme.key, strings.ToUpper(id), "Who?").want(t, 204)
	a.drain()
	a.ask(acme.key, id, "Who?").want(t, 204)
	if listed := a.members(call{"GET", "/answers", acme.key, nil, nil}, "questionId"); len(listed) != 1 || listed[0] != id {
		t.Errorf("listed %v", listed)
	}
	if got := a.used(acme.key, id, "Who?"); got != 1 {
		t.Errorf("%d questions counted, want 1", got)
	}
}

// TestTakenIDsAreAllTheSame: the reply does not say why an id is taken.
func TestTakenIDsAreAllTheSame(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	member := a.newMember(acme)
	a.ask(acme.key, numberedID(1), "Who?").want(t, 204)
	a.ask(rival.key, numberedID(2), "Who?").want(t, 204)
	a.ask(member, numberedID(3), "Who?").want(t, 204)
	a.ask(acme.key, numberedID(4), "Who?").want(t, 204)
	a.do(call{"DELETE", "/answers/" + numberedID(4), acme.key, nil, nil}).want(t, 204)
	a.ask(rival.key, numberedID(5), "Who?").want(t, 204)
	a.do(call{"DELETE", "/answers/" + numberedID(5), rival.key, nil, nil}).want(t, 204)
	var first string
	for name, c := range map[string]call{
		"another question":             {"PUT", "/answers/" + numberedID(1), acme.key, map[string]string{"question": "What?"}, nil},
		"another case":                 {"PUT", "/answers/" + numberedID(1), acme.key, map[string]string{"question": "who?"}, nil},
		"another team's":               {"PUT", "/answers/" + numberedID(2), acme.key, map[string]string{"question": "Who?"}, nil},
		"another user's":               {"PUT", "/answers/" + numberedID(3), acme.pat, map[string]string{"question": "Who?"}, nil},
		"a team key's, personal":       {"PUT", "/answers/" + numberedID(1), acme.pat, map[string]string{"question": "Who?"}, nil},
		"deleted":                      {"PUT", "/answers/" + numberedID(4), acme.key, map[string]string{"question": "Who?"}, nil},
		"another team's deleted":       {"PUT", "/answers/" + numberedID(5), acme.key, map[string]string{"question": "Who?"}, nil},
		"another team's, all in caps":  {"PUT", "/answers/" + strings.ToUpper(numberedID(2)), acme.key, map[string]string{"question": "Who?"}, nil},
		"another question, not a byte": {"PUT", "/answers/" + numberedID(1), acme.key, map[string]string{"question": "Who? "}, nil},
	} {
		reply := a.refused(c, 409, "answer-conflict")
		text := requestIDMember.ReplaceAllString(string(reply.body), "")
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%s: %s, elsewhere %s", name, text, first)
		}
	}
	a.ask(acme.key, numberedID(3), "Who?").want(t, 204) // the team reads it
	if got := a.used(acme.key, numberedID(1), "Who?"); got != 3 {
		t.Errorf("%d questions counted, want 3", got)
	}
}

// newMember returns the personal key of a new user of the team.
func (a *api) newMember(x tenant, sources ...string) string {
	a.t.Helper()
	user, err := teamtest.CreateUser(a.t.Context(), a.local.Teams, x.ID, uuid.NewString()+"@"+x.Name+".test", team.RoleMember)
	if err != nil {
		a.t.Fatal(err)
	}
	_, key := a.newKey(x.ID, team.NewKey{Kind: team.KindPersonal, Name: "personal", UserID: user.ID, DataSourceIDs: sources})
	return key
}

func TestWhoSeesAnAnswer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki, blog := a.newCollection(acme.key, "wiki"), a.newCollection(acme.key, "blog")
	restricted := func(sources ...string) string {
		_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "restricted", DataSourceIDs: sources})
		return key
	}
	keys := map[string]string{"team": acme.key, "admin": acme.pat, "member": a.newMember(acme), "wiki": restricted(wiki), "blog": restricted(blog), "both": restricted(wiki, blog)}
	sees := map[string][]string{ // the users whose questions a key sees
		"team": {"team", "admin", "member", "wiki", "blog", "both"}, "admin": {"admin"}, "member": {"member"},
		"wiki": {"wiki"}, "blog": {"blog"}, "both": {"wiki", "blog", "both"},
	}
	ids, n := map[string]string{}, 0
	for asker, key := range keys {
		n++
		ids[asker] = numberedID(n)
		a.ask(key, ids[asker], asker).want(t, 204)
	}
	for _, answered := range []bool{false, true} {
		for reader, key := range keys {
			listed := a.members(call{"GET", "/answers", key, nil, nil}, "question")
			if len(listed) != len(sees[reader]) {
				t.Errorf("%s lists %v, want %v", reader, listed, sees[reader])
			}
			for asker, id := range ids {
				reply := a.do(call{"GET", "/answers/" + id, key, nil, nil})
				if strings.Contains(strings.Join(sees[reader], " ")+" ", asker+" ") {
					reply.want(t, 200)
					continue
				}
				reply.wantCode(t, 404, "not-found")
				a.do(call{"DELETE", "/answers/" + id, key, nil, nil}).wantCode(t, 404, "not-found")
			}
		}
		if !answered {
			a.drain()
		}
	}
}

func TestFormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.ask(acme.key, numberedID(1), "Who\u0000?").want(t, 204)
	processing := fmt.Sprintf(`{"questionId":%q,"question":"Who\u0000?","state":"processing"}`, numberedID(1))
	reply := a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, nil}).want(t, 200)
	if strings.TrimSpace(string(reply.body)) != processing || reply.Header.Get("Retry-After") != "2" || reply.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("processing: %s %v", reply.body, reply.Header)
	}
	list := a.do(call{"GET", "/answers", acme.key, nil, nil}).want(t, 200)
	if strings.TrimSpace(string(list.body)) != "["+processing+"]" || list.Header.Get("Cache-Control") != "no-store" || list.Header.Get("Link") != "" {
		t.Errorf("list: %s %v", list.body, list.Header)
	}
	a.drain()
	reply = a.do(call{"GET", "/answers/" + numberedID(1), acme.key, nil, nil}).want(t, 200)
	var got map[string]json.RawMessage
	var result map[string]json.RawMessage
	reply.json(t, &got)
	if err := json.Unmarshal(got["result"], &result); err != nil {
		t.Fatal(err)
	}
	if len(got) != 6 || len(result) != 2 || string(got["state"]) != `"complete"` || string(got["answer"]) != string(result["answer"]) || string(got["references"]) != "[]" || string(result["references"]) != "[]" {
		t.Errorf("complete: %s", reply.body)
	}
	if reply.Header.Get("Retry-After") != "" {
		t.Errorf("headers %v", reply.Header)
	}
}

// TestDeleteErasesTheQuestion from every stored item and queue message, whether
// it was answered or not.
func TestDeleteErasesTheQuestion(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://x.test/", "Plums", "Plums are blue. A plum is a fruit.")
	a.drain()
	a.ask(acme.pat, numberedID(1), "Are plums Zwetschgen?").want(t, 204)
	a.drain()
	a.ask(acme.pat, numberedID(2), "Are plums really Zwetschgen?").want(t, 204)
	for _, n := range []int{1, 2} {
		path := "/answers/" + numberedID(n)
		a.do(call{"DELETE", path, acme.pat, nil, nil}).want(t, 204)
		a.do(call{"DELETE", path, acme.pat, nil, nil}).wantCode(t, 404, "not-found")
		a.do(call{"GET", path, acme.pat, nil, nil}).wantCode(t, 404, "not-found")
	}
	if listed := a.members(call{"GET", "/answers", acme.key, nil, nil}, "question"); len(listed) > 0 {
		t.Errorf("listed %v", listed)
	}
	a.drain()
	a.do(call{"GET", "/answers/" + numberedID(2), acme.key, nil, nil}).wantCode(t, 404, "not-found")
	items := a.stored()
	if left := holding(items, "Zwetschgen", "pending/", "/due"); len(left) > 0 {
		t.Errorf("stored items are left:\n%s", strings.Join(left, "\n"))
	}
	marks := holding(items, numberedID(1), numberedID(2))
	if len(marks) != 2 || len(holding(marks, acme.admin.ID)) > 0 {
		t.Errorf("of a deleted question the id and the team stay, got:\n%s", strings.Join(marks, "\n"))
	}
}
