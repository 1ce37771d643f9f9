package scim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/memory"
)

func bulkBody(operations ...string) string {
	return `{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[` + strings.Join(operations, ",") + `]}`
}

// bulk sends operations without failOnErrors, and returns the replies.
func (s *server) bulk(operations ...string) []map[string]any {
	s.Helper()
	r := s.must(200, "POST", "/Bulk", bulkBody(operations...))
	var replies []map[string]any
	for _, e := range r.body["Operations"].([]any) {
		replies = append(replies, e.(map[string]any))
	}
	return replies
}

// statuses returns the statuses of replies, in order.
func statuses(replies []map[string]any) string {
	var all []string
	for _, r := range replies {
		all = append(all, r["status"].(string))
	}
	return strings.Join(all, " ")
}

// TestBulkHasTheResultOfItsOrder: operations that run in parallel leave what they would leave one
// after the other (RFC 7644 section 3.7).
func TestBulkHasTheResultOfItsOrder(t *testing.T) {
	t.Parallel()
	const pairs = 8
	create := func(name string) string {
		return fmt.Sprintf(`{"method":"POST","path":"/Users","data":{"userName":%q}}`, name)
	}
	member := func(group, user string) string {
		return `{"method":"PATCH","path":"/Groups/` + group + `","data":` + message(`{"op":"add","path":"members","value":[{"value":"`+user+`"}]}`) + `}`
	}
	rename := func(user, data string) string {
		return `{"method":"PATCH","path":"/Users/` + user + `","data":` + message(data) + `}`
	}
	for name, c := range map[string]struct {
		pair func(s *server, i int) []string
		want string
	}{
		"a user is deleted and created again": {func(s *server, i int) []string {
			name := fmt.Sprint("again", i)
			return []string{`{"method":"DELETE","path":"/Users/` + s.user(name) + `"}`, create(name)}
		}, "204 201"},
		"a group is deleted and created again": {func(s *server, i int) []string {
			name := fmt.Sprint("group", i)
			return []string{`{"method":"DELETE","path":"/Groups/` + s.must(201, "POST", "/Groups", `{"displayName":"`+name+`"}`).string("id") + `"}`,
				`{"method":"POST","path":"/Groups","data":{"displayName":"` + name + `"}}`}
		}, "204 201"},
		"a user is renamed and the name given to another": {func(s *server, i int) []string {
			name := fmt.Sprint("old", i)
			return []string{`{"method":"PUT","path":"/Users/` + s.user(name) + `","data":{"userName":"new` + fmt.Sprint(i) + `"}}`, create(name)}
		}, "200 201"},
		"two users swap their names by a third": {func(s *server, i int) []string {
			left, right := fmt.Sprint("left", i), fmt.Sprint("right", i)
			first, second := s.user(left), s.user(right)
			return []string{rename(first, fmt.Sprintf(`{"op":"replace","path":"userName","value":"third%d"}`, i)),
				rename(second, `{"op":"replace","value":{"USERNAME":"`+left+`"}}`),
				rename(first, `{"op":"replace","value":{"urn:ietf:params:scim:schemas:core:2.0:User":{"userName":"`+right+`"}}}`)}
		}, "200 200 200"},
		"a user is renamed by PATCH and the name given by PUT": {func(s *server, i int) []string {
			name := fmt.Sprint("freed", i)
			return []string{rename(s.user(name), fmt.Sprintf(`{"op":"replace","path":"userName","value":"moved%d"}`, i)),
				`{"method":"PUT","path":"/Users/` + s.user(fmt.Sprint("taker", i)) + `","data":{"userName":"` + name + `"}}`}
		}, "200 200"},
		"a name is given twice": {func(_ *server, i int) []string {
			return []string{create(fmt.Sprint("twice", i)), create(fmt.Sprint("TWICE", i))}
		}, "201 409"},
		"a user joins a group and is deleted": {func(s *server, i int) []string {
			user := s.user(fmt.Sprint("leaver", i))
			group := s.must(201, "POST", "/Groups", fmt.Sprintf(`{"displayName":"joined%d"}`, i)).string("id")
			return []string{member(group, user), `{"method":"DELETE","path":"/Users/` + user + `"}`}
		}, "204 204"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			var operations, want []string
			for i := range pairs {
				operations = append(operations, c.pair(s, i)...)
				want = append(want, c.want)
			}
			if got := statuses(s.bulk(operations...)); got != strings.Join(want, " ") {
				t.Errorf("%s, want %s", got, strings.Join(want, " "))
			}
		})
	}
}

// TestBulkOrderBreaksNoReference: a reference to a later operation of the same name or endpoint is
// no cycle.
func TestBulkOrderBreaksNoReference(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	user := s.user("x")
	got := s.bulk(
		`{"method":"PUT","path":"/Users/`+user+`","data":{"userName":"x","`+enterprise+`":{"manager":"bulkId:boss"}}}`,
		`{"method":"POST","path":"/Users","bulkId":"worker","data":{"userName":"same","`+enterprise+`":{"manager":"bulkId:boss"}}}`,
		`{"method":"POST","path":"/Users","bulkId":"boss","data":{"userName":"Same"}}`)
	if statuses(got) != "200 409 201" {
		t.Errorf("%v", got)
	}
}

// TestBulkLocatesWhatFailed: the location of an operation that fails names the resource, not the reference to it.
func TestBulkLocatesWhatFailed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.bulk(`{"method":"POST","path":"/Users","bulkId":"a","data":{"userName":"ada"}}`,
		`{"method":"PUT","path":"/Users/bulkId:a","version":"W/\"99\"","data":{"userName":"ada"}}`)
	if made, failed := got[0]["location"], got[1]["location"]; statuses(got) != "201 412" || failed != made {
		t.Errorf("%v, want the location %v", got[1], made)
	}
}

// TestBulkRefusesAnEmptyVersion, as an empty If-Match is: the change would not be protected.
func TestBulkRefusesAnEmptyVersion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("ada")
	got := s.bulk(`{"method":"PUT","path":"/Users/`+id+`","version":"","data":{"userName":"ada"}}`, `{"method":"DELETE","path":"/Users/`+id+`","version":" "}`,
		`{"method":"DELETE","path":"/Users/`+id+`","version":null}`)
	if statuses(got) != "400 400 204" || !strings.Contains(fmt.Sprint(got[0]), "version is empty") {
		t.Errorf("%v", got)
	}
}

// TestBulkNeedsAMethod: one that Bulk does not have is 405, with or without data.
func TestBulkNeedsAMethod(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.bulk(`{"path":"/Users","data":{}}`, `{"method":"GET","path":"/Users"}`, `{"method":"MOVE","path":"/Users"}`, `{"method":"POST","path":"/Users"}`)
	if statuses(got) != "400 405 405 400" || !strings.Contains(fmt.Sprint(got[0]), "needs a method") {
		t.Errorf("%v", got)
	}
}

// TestBulkKnowsAResourceInEverySpelling: changes of one resource keep their order, however their paths are written.
func TestBulkKnowsAResourceInEverySpelling(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.user("ada")
	for round := range 10 {
		var operations []string
		for n := range 40 {
			path := []string{"/Users/", "Users/", "/users/"}[n%3] + id
			operations = append(operations, fmt.Sprintf(`{"method":"PATCH","path":%q,"data":%s}`, path, message(fmt.Sprintf(`{"op":"replace","path":"title","value":"%d of %d"}`, n, round))))
		}
		s.bulk(operations...)
		if got, want := s.must(200, "GET", "/Users/"+id, "").string("title"), fmt.Sprintf("39 of %d", round); got != want {
			t.Fatalf("the last title is %q, want %q", got, want)
		}
	}
}

// TestBulkNeedsTheMemoryOfItsOperationsOnlyWhileTheyRun: two requests that kept what all of their operations had read would
// wait for each other until both fail.
func TestBulkNeedsTheMemoryOfItsOperationsOnlyWhileTheyRun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var creates []string
	for n := range 50 {
		creates = append(creates, fmt.Sprintf(`{"method":"POST","path":"/Users","data":{"userName":"u%d"}}`, n))
	}
	var members []string
	for _, r := range s.bulk(creates...) {
		location := r["location"].(string)
		members = append(members, fmt.Sprintf(`{"value":%q}`, location[strings.LastIndexByte(location, '/')+1:]))
	}
	var groups []string
	for n := range 20 {
		groups = append(groups, fmt.Sprintf(`{"method":"POST","path":"/Groups","data":{"displayName":"g%d","members":[%s]}}`, n, strings.Join(members, ",")))
	}
	const cost, read = 1000, 50 * 250 * 1000 // about what an operation reads, times cost
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(10*read, 0), Patience: 10 * time.Second}
	other := room.Bytes.Lease("other")
	defer other.End()
	if err := other.Try(6 * read); err != nil {
		t.Fatal(err)
	}
	work := room.Work("a")
	defer work.End()
	r := s.within(memory.WithReads(memory.WithWork(t.Context(), work), cost), "POST", "/Bulk", bulkBody(groups...))
	var replies []map[string]any
	for _, e := range r.body["Operations"].([]any) {
		replies = append(replies, e.(map[string]any))
	}
	if got := statuses(replies); slices.ContainsFunc(strings.Fields(got), func(status string) bool { return status != "201" }) {
		t.Errorf("statuses %s", got)
	}
}

// TestBulkThatWaitsHoldsNoMemory: it would keep it from the requests for which it waits.
func TestBulkThatWaitsHoldsNoMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(1<<20, 0), Patience: 10 * time.Second}
		other := room.Writes.Lease("other")
		if err := other.Try(1); err != nil {
			t.Fatal(err)
		}
		work := room.Work("a")
		defer work.End()
		replied := make(chan reply, 1)
		go func() {
			replied <- s.within(memory.WithWork(t.Context(), work), "POST", "/Bulk", bulkBody(`{"method":"POST","path":"/Users","data":{"userName":"u"}}`))
		}()
		synctest.Wait()
		if got := room.Bytes.Held(); got != 0 {
			t.Errorf("%d bytes are held", got)
		}
		other.End()
		if r := <-replied; r.StatusCode != 200 {
			t.Errorf("status %d", r.StatusCode)
		}
	})
}
