package scim_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/memory"
	"docent/shared/scim"
	"docent/shared/table"
	"docent/shared/team"
)

// another returns the same server in another process.
func (s *server) another() *server {
	other := *s
	teams := &team.Service{Table: s.Table, Now: s.Now, NewID: s.NewID}
	other.Service = &scim.Service{Table: s.Table, Teams: teams, Now: s.Now, NewID: s.NewID, BaseURL: base}
	other.Handler = other.guarded()
	return &other
}

// processes returns servers over the store of s, patient enough that a slow machine refuses
// nothing.
func (s *server) processes(n int) []*server {
	out := make([]*server, n)
	for i := range out {
		out[i] = s.another()
		out[i].SetChangeTime(5 * time.Minute)
	}
	return out
}

// pluralNames are multi-valued attributes of a user.
var pluralNames = []string{"emails", "phoneNumbers", "ims", "photos", "entitlements", "roles", "x509Certificates"}

// TestEveryChangeOfOneResourceLands: 16 clients change one user and one group by PATCHes that
// each add a value or a member; in one process, and in several, which only the conditions of
// the writes coordinate.
func TestEveryChangeOfOneResourceLands(t *testing.T) {
	t.Parallel()
	const clients = 16
	onBothEngines(t, func(t *testing.T, s *server) {
		changes, apart := 17, []int{1, 4, clients}
		if strings.HasSuffix(t.Name(), "dynamo") {
			changes, apart = 1, []int{1, 4} // each is several requests, and the server takes one at a time
		}
		ids := s.people(clients * changes)
		for _, processes := range apart {
			user, group := s.user(fmt.Sprint("u", processes)), s.group(fmt.Sprint("g", processes))
			servers := s.processes(processes)
			var all sync.WaitGroup
			for client := range clients {
				own := servers[client%processes]
				all.Go(func() {
					for i := range changes {
						n := client*changes + i
						value := fmt.Sprintf(`{"op":"add","path":"%s","value":[{"value":"v%d"}]}`, pluralNames[n%len(pluralNames)], n)
						if r := own.do("PATCH", "/Users/"+user, message(value)); r.StatusCode != http.StatusOK {
							t.Errorf("%d processes, user: %d %s", processes, r.StatusCode, r.text)
						}
						if r := own.do("PATCH", "/Groups/"+group, message(`{"op":"add","path":"members","value":[{"value":"`+ids[n]+`"}]}`)); r.StatusCode != http.StatusNoContent {
							t.Errorf("%d processes, group: %d %s", processes, r.StatusCode, r.text)
						}
					}
				})
			}
			all.Wait()
			text := s.must(200, "GET", "/Users/"+user, "").text
			for n := range ids {
				if !strings.Contains(text, fmt.Sprintf(`"v%d"`, n)) {
					t.Errorf("%d processes: value %d of the user is lost", processes, n)
				}
			}
			if got := s.in(group); len(got) != len(ids) {
				t.Errorf("%d processes: %d members of %d", processes, len(got), len(ids))
			}
		}
	})
}

// TestIfMatchIsNotTriedAgain: of several changes of one version one succeeds, and the others
// get 412, in one process and in several.
func TestIfMatchIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, s *server) {
		for _, processes := range []int{1, 8} {
			for path, status := range map[string]int{"/Users/" + s.user(fmt.Sprint("u", processes)): 200, "/Groups/" + s.group(fmt.Sprint("g", processes)): 204} {
				servers := s.processes(processes)
				tag := s.must(200, "GET", path, "").Header.Get("ETag")
				var landed, refused atomic.Int64
				var all sync.WaitGroup
				for i := range 8 {
					all.Go(func() {
						r := servers[i%processes].do("PATCH", path, message(fmt.Sprintf(`{"op":"replace","path":"externalId","value":"%d"}`, i)), "If-Match", tag)
						switch r.StatusCode {
						case status:
							landed.Add(1)
						case http.StatusPreconditionFailed:
							refused.Add(1)
						}
					})
				}
				all.Wait()
				if landed.Load() != 1 || refused.Load() != 7 {
					t.Errorf("%d processes, %s: %d landed, %d got 412", processes, path, landed.Load(), refused.Load())
				}
			}
		}
	})
}

// TestAChangeThatOthersHoldUpIsRefusedInTime: it is neither lost nor waits forever.
func TestAChangeThatOthersHoldUpIsRefusedInTime(t *testing.T) {
	t.Parallel()
	s, w := newWatched(t)
	s.SetChangeTime(20 * time.Millisecond)
	id := s.user("u")
	n := 0
	patch := func() reply {
		n++
		return s.do("PATCH", "/Users/"+id, message(fmt.Sprintf(`{"op":"add","path":"title","value":"t%d"}`, n)))
	}
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.set(func([]table.Op) (bool, error) {
		once.Do(func() { close(held); <-release })
		return false, nil
	})
	done := make(chan reply)
	go func() {
		done <- s.do("PATCH", "/Users/"+id, message(`{"op":"add","path":"title","value":"first"}`))
	}()
	<-held
	if r := patch(); r.StatusCode != 503 || r.Header.Get("Retry-After") != "1" {
		t.Errorf("behind a change that does not end: %d %s", r.StatusCode, r.text)
	}
	close(release)
	if r := <-done; r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	w.set(func([]table.Op) (bool, error) { return true, table.ErrConflict })
	if r := patch(); r.StatusCode != 503 {
		t.Errorf("a store that always conflicts: %d %s", r.StatusCode, r.text)
	}
	w.set(nil)
	s.has("/Users/"+id, `"title":"first"`)
	if r := patch(); r.StatusCode != 200 || s.WaitingChanges() != 0 {
		t.Errorf("%d %s, %d wait", r.StatusCode, r.text, s.WaitingChanges())
	}
}

// halting is a store whose Writes conflict while it halts.
type halting struct {
	table.Store
	halts atomic.Bool
}

func (h *halting) Write(ctx context.Context, ops ...table.Op) error {
	if h.halts.Load() {
		return table.ErrConflict
	}
	return h.Store.Write(ctx, ops...)
}

// TestAChangeThatIsTriedAgainTakesNoPlace: two changes of groups that a killed process has left half-done would otherwise hold up
// every other request of their team.
func TestAChangeThatIsTriedAgainTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &halting{}
		s := newServerOn(t, func(real table.Store) table.Store { store.Store = real; return store })
		id := s.group("g")
		room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1, 0), Free: 1 << 20, Small: 1 << 20, Patience: time.Minute}
		work := room.Work("a")
		defer work.End()
		if err := work.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.halts.Store(true)
		status := make(chan int, 1)
		go func() {
			status <- s.within(memory.WithWork(t.Context(), work), "PATCH", "/Groups/"+id, message(`{"op":"replace","path":"displayName","value":"h"}`)).StatusCode
		}()
		synctest.Wait()
		if held := room.Places.Held(); held != 0 {
			t.Errorf("%d places are held", held)
		}
		store.halts.Store(false)
		if got := <-status; got != 204 {
			t.Errorf("status %d", got)
		}
		if held := room.Places.Held(); held != 1 {
			t.Errorf("%d places are held in the end", held)
		}
	})
}

// TestChangesThatWaitTakeNoTurn: the change for which another one waits may need the turn.
func TestChangesThatWaitTakeNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &halting{}
		s := newServerOn(t, func(real table.Store) table.Store { store.Store = real; return store })
		id := s.group("g")
		room := &memory.Room{Places: memory.NewPool(2, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1<<20, 0), Patience: time.Second}
		store.halts.Store(true)
		statuses := make(chan int, 2)
		for range 2 { // one is tried again, and the other waits for it
			go func() {
				work := room.Work("a")
				defer work.End()
				if err := work.Begin(t.Context()); err != nil {
					t.Error(err)
				}
				statuses <- s.within(memory.WithWork(t.Context(), work), "PATCH", "/Groups/"+id, message(`{"op":"replace","path":"displayName","value":"h"}`)).StatusCode
			}()
		}
		synctest.Wait()
		if held := room.Turns.Held(); held != 0 {
			t.Errorf("%d turns are held", held)
		}
		store.halts.Store(false)
		for range 2 {
			if got := <-statuses; got != 204 {
				t.Errorf("status %d", got)
			}
		}
	})
}
