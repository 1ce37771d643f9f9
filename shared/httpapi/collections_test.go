package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/shared/team"
)

func TestACollectionHasExactlyItsFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	reply := a.do(call{"POST", "/collections", acme.key, map[string]string{"name": "wiki", "description": "d"}, nil}).want(t, 201)
	id := reply.text(t, "id")
	if want := fmt.Sprintf(`{"id":%q,"name":"wiki","description":"d"}`, id); strings.TrimSpace(string(reply.body)) != want {
		t.Errorf("created %s, want %s", reply.body, want)
	}
	if got := reply.Header.Get("Location"); got != baseURL+"/collections/"+id {
		t.Errorf("Location %q", got)
	}
	if reply.Header.Get("ETag") == "" || reply.Header.Get("Link") != "" {
		t.Errorf("headers %v", reply.Header)
	}
	got := a.do(call{"GET", "/collections/" + id, acme.key, nil, nil}).want(t, 200)
	if string(got.body) != string(reply.body) || got.Header.Get("ETag") != reply.Header.Get("ETag") {
		t.Errorf("read %s %v", got.body, got.Header)
	}
}

func TestPatchKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const icon = "https://x.test/i.png"
	id := a.do(call{"POST", "/collections", acme.key, map[string]string{"name": "n", "description": "d", "iconUrl": icon}, nil}).want(t, 201).text(t, "id")
	tag := "*"
	for _, tt := range []struct {
		name, patch string
		want        string // after the id
		changes     bool
	}{
		{"nothing", `{}`, `"name":"n","description":"d","iconUrl":"https://x.test/i.png"}`, false},
		{"the same", `{"name":"n"}`, `"name":"n","description":"d","iconUrl":"https://x.test/i.png"}`, false},
		{"name", `{"name":"m"}`, `"name":"m","description":"d","iconUrl":"https://x.test/i.png"}`, true},
		{"description", `{"description":"e"}`, `"name":"m","description":"e","iconUrl":"https://x.test/i.png"}`, true},
		{"icon", `{"iconUrl":"http://x.test/j"}`, `"name":"m","description":"e","iconUrl":"http://x.test/j"}`, true},
		{"no icon", `{"iconUrl":null}`, `"name":"m","description":"e"}`, true},
		{"no icon again", `{"iconUrl": null }`, `"name":"m","description":"e"}`, false},
		{"all", `{"iconUrl":"http://x.test/k","name":"🦉","description":"f"}`, `"name":"🦉","description":"f","iconUrl":"http://x.test/k"}`, true},
	} {
		reply := a.do(call{"PATCH", "/collections/" + id, acme.key, tt.patch, map[string]string{"If-Match": tag}}).want(t, 200)
		if got := strings.TrimSpace(string(reply.body)); got != `{"id":"`+id+`",`+tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
		read := a.do(call{"GET", "/collections/" + id, acme.key, nil, nil}).want(t, 200)
		if string(read.body) != string(reply.body) || read.Header.Get("ETag") != reply.Header.Get("ETag") {
			t.Errorf("%s: then read %s", tt.name, read.body)
		}
		if next := reply.Header.Get("ETag"); tag != "*" && (next != tag) != tt.changes {
			t.Errorf("%s: ETag %s after %s", tt.name, next, tag)
		}
		tag = reply.Header.Get("ETag")
	}
}

func TestPatchNamesTheMemberOfTheWrongType(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := a.newCollection(acme.key, "wiki")
	for body, want := range map[string]string{
		`{"defaultAccess":"x"}`:               `{"pointer":"/defaultAccess","detail":"must be an object"}`,
		`{"defaultAccess":{"users":true}}`:    `{"pointer":"/defaultAccess/users","detail":"must be an array"}`,
		`{"defaultAccess":{"groups":[true]}}`: `{"pointer":"/defaultAccess/groups","detail":"must be a string"}`,
	} {
		if r := a.refused(call{"PATCH", "/collections/" + id, acme.key, body, nil}, 400, "invalid-request"); !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %s", body, r.body)
		}
	}
}

func TestPreconditionsOfCollections(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := a.newCollection(acme.key, "wiki")
	path := "/collections/" + id
	old := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200).Header.Get("ETag")
	tag := a.do(call{"PATCH", path, acme.key, `{"name":"new"}`, nil}).want(t, 200).Header.Get("ETag")
	for match, status := range map[string]int{old: 412, `"x"`: 412, "W/" + tag: 412, marker: 412, strings.Trim(tag, `"`): 412,
		old + ", " + tag: 200, tag: 200, "*": 200} {
		header := map[string]string{"If-Match": match}
		if status != 412 {
			a.do(call{"PATCH", path, acme.key, `{}`, header}).want(t, status)
			continue
		}
		a.refused(call{"PATCH", path, acme.key, `{"name":"` + marker + `"}`, header}, 412, "precondition-failed")
		a.refused(call{"DELETE", path, acme.key, nil, header}, 412, "precondition-failed")
	}
	for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, old: 200, `"x"`: 200, "": 200} {
		for _, method := range []string{"GET", "HEAD"} {
			reply := a.do(call{method, path, acme.key, nil, map[string]string{"If-None-Match": match}}).want(t, status)
			if reply.Header.Get("ETag") != tag {
				t.Errorf("%s If-None-Match %s: ETag %q", method, match, reply.Header.Get("ETag"))
			}
			if empty := len(reply.body) == 0; empty != (status == 304 || method == "HEAD") {
				t.Errorf("%s If-None-Match %s: body %q", method, match, reply.body)
			}
		}
	}
	a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-Match": tag}}).want(t, 204)
	a.do(call{"DELETE", path, acme.key, nil, map[string]string{"If-Match": tag}}).want(t, 204)
	a.refused(call{"PATCH", path, acme.key, `{}`, map[string]string{"If-Match": tag}}, 404, "not-found")
	a.refused(call{"GET", path, acme.key, nil, nil}, 404, "not-found")
}

func TestHeadAnswersAsGetWithoutABody(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id := a.newCollection(acme.key, "wiki")
	a.newCollection(acme.key, "blog")
	document := a.putDocument(acme.key, id, "https://x.test/", "t", "b")
	a.ask(acme.key, numberedID(1), "q").want(t, 204)
	for _, path := range []string{"/collections?limit=1", "/collections/" + id, "/documents", "/documents/" + document, "/answers", "/answers/" + numberedID(1)} {
		get := a.do(call{"GET", path, acme.key, nil, nil}).want(t, 200)
		head := a.do(call{"HEAD", path, acme.key, nil, nil}).want(t, 200)
		if len(head.body) > 0 {
			t.Errorf("HEAD %s: body %q", path, head.body)
		}
		for _, name := range []string{"Content-Type", "ETag", "Link", "Cache-Control", "Retry-After"} {
			if head.Header.Get(name) != get.Header.Get(name) {
				t.Errorf("HEAD %s: %s %q, GET %q", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	rival := a.newTenant("rival")
	_, second := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "second"})
	post := func(key, idempotency, name string) response {
		header := map[string]string{"Idempotency-Key": idempotency}
		if idempotency == "" {
			header = nil
		}
		return a.do(call{"POST", "/collections", key, map[string]string{"name": name, "description": "d"}, header})
	}
	first := post(acme.key, "k 1", "wiki").want(t, 201)
	a.do(call{"PATCH", "/collections/" + first.text(t, "id"), acme.key, `{"name":"later"}`, nil}).want(t, 200)
	replayed := post(acme.key, "k 1", "wiki").want(t, 201)
	if string(replayed.body) != string(first.body) || replayed.Header.Get("Location") != first.Header.Get("Location") || replayed.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("replayed %s, first %s", replayed.body, first.body)
	}
	a.refused(call{"POST", "/collections", acme.key, map[string]string{"name": marker, "description": "d"}, map[string]string{"Idempotency-Key": "k 1"}}, 409, "idempotency-conflict")
	ids := map[string]bool{first.text(t, "id"): true}
	for name, reply := range map[string]response{
		"another API key": post(second, "k 1", "wiki"), "another team": post(rival.key, "k 1", "wiki"),
		"another idempotency key": post(acme.key, "K 1", "wiki"), "none": post(acme.key, "", "wiki"),
	} {
		if id := reply.want(t, 201).text(t, "id"); ids[id] {
			t.Errorf("%s: replayed", name)
		} else {
			ids[id] = true
		}
	}
	a.clock.Advance(24*time.Hour - time.Second)
	if post(acme.key, "k 1", "wiki").want(t, 201).text(t, "id") != first.text(t, "id") {
		t.Error("not replayed within 24 hours")
	}
	a.clock.Advance(time.Second)
	if post(acme.key, "k 1", "another").want(t, 201).text(t, "id") == first.text(t, "id") {
		t.Error("replayed after 24 hours")
	}
	post(acme.key, strings.Repeat("~", 255), "wiki").want(t, 201)
	for _, bad := range []string{strings.Repeat("~", 256), "é", "a\tb", "a\x7fb"} {
		a.refused(call{"POST", "/collections", acme.key, map[string]string{"name": "n", "description": "d"}, map[string]string{"Idempotency-Key": bad}}, 400, "invalid-request")
	}
}

// TestIdempotencyKeyInARace: many parallel posts with one key make one collection.
func TestIdempotencyKeyInARace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	replies := a.atOnce(20, func(int) call {
		return call{"POST", "/collections", acme.key, `{"name":"n","description":"d"}`, map[string]string{"Idempotency-Key": "k"}}
	})
	for _, reply := range replies {
		if reply.want(t, 201).text(t, "id") != replies[0].text(t, "id") {
			t.Fatal("two collections of one Idempotency-Key")
		}
	}
	if n := len(a.members(call{"GET", "/collections", acme.key, nil, nil}, "id")); n != 1 {
		t.Errorf("%d collections", n)
	}
}

func TestTheTwentySixthCollection(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	created := 0
	for _, reply := range a.atOnce(40, func(n int) call {
		return call{"POST", "/collections", acme.key, map[string]string{"name": fmt.Sprint(n), "description": "d"}, nil}
	}) {
		switch reply.StatusCode {
		case http.StatusCreated:
			created++
		default:
			reply.wantCode(t, 409, "collection-limit")
		}
	}
	ids := a.members(call{"GET", "/collections", acme.key, nil, nil}, "id")
	if created != 25 || len(ids) != 25 {
		t.Fatalf("%d created, %d listed", created, len(ids))
	}
	post := call{"POST", "/collections", acme.key, map[string]string{"name": "n", "description": "d"}, map[string]string{"Idempotency-Key": "k"}}
	a.refused(post, 409, "collection-limit")
	// Deleting a collection makes room for one, and deleting it twice makes no more room.
	for range 2 {
		a.do(call{"DELETE", "/collections/" + ids[0], acme.key, nil, nil}).want(t, 204)
	}
	id := a.do(post).want(t, 201).text(t, "id")
	if a.do(post).want(t, 201).text(t, "id") != id {
		t.Error("not replayed at the limit")
	}
	post.header = nil
	a.refused(post, 409, "collection-limit")
}

// atOnce makes n calls in parallel.
func (a *api) atOnce(n int, of func(n int) call) []response {
	replies := make([]response, n)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			replies[i] = a.do(of(i))
		})
	}
	start.Done()
	done.Wait()
	return replies
}
