package team_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"docent/shared/fold"
	"docent/shared/table"
	"docent/shared/team"
)

// TestSelectUsersSeesEveryUserOnce: over several pages read in parallel, also while users are
// added.
func TestSelectUsersSeesEveryUserOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	filler := strings.Repeat("x", 8<<10)
	want := []string{o.admin.ID}
	add := func(from, to int) {
		for i := range to - from {
			want = append(want, o.profile(t, fmt.Sprintf(`{"userName":"u%04d","title":"%s"}`, from+i, filler)).ID)
		}
	}
	whole := func(r team.UserRecord) (string, bool, error) {
		title := ""
		err := r.Attributes(func(name, value []byte) {
			if string(name) == "title" {
				title = string(value)
			}
		})
		if r.ID != o.admin.ID && (title != `"`+filler+`"` || r.Version != 1 || r.CreatedAt.IsZero() || !r.ModifiedAt.Equal(r.CreatedAt)) {
			t.Errorf("%+v", r)
		}
		return r.ID, true, err
	}
	for _, users := range []int{0, 100, 700} { // none, one page, and seven
		add(len(want)-1, users)
		ctx, meter := table.WithMeter(t.Context())
		got, err := team.SelectUsers(ctx, o.Service, o.team.ID, whole)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d of %d users, %v", len(got), len(want), err)
		}
		if calls := meter.Read().Calls; calls > 2+8 {
			t.Errorf("%d users take %d calls", users, calls)
		}
	}
	var writer sync.WaitGroup
	before := len(want)
	writer.Go(func() { add(before-1, before+50) })
	got, err := team.SelectUsers(t.Context(), o.Service, o.team.ID, whole)
	writer.Wait()
	if err != nil || len(got) < before || !slices.Equal(got[:before], want[:before]) || !slices.IsSorted(got) || len(slices.Compact(got)) != len(got) {
		t.Fatalf("while users come: %d of %d, %v", len(got), before, err)
	}
	if none, err := team.SelectUsers(t.Context(), o.Service, o.team.ID, func(team.UserRecord) (int, bool, error) { return 0, false, nil }); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	fault := errors.New("no more")
	if _, err := team.SelectUsers(t.Context(), o.Service, o.team.ID, func(r team.UserRecord) (int, bool, error) {
		if r.ID == want[before-1] {
			return 0, false, fault
		}
		return 0, true, nil
	}); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
}

func TestUserNames(t *testing.T) {
	t.Parallel()
	o := open(t)
	p, q := o.profile(t, `{"userName":"Zoë"}`), o.profile(t, `{"userName":"abe"}`)
	want := []team.UserName{{ID: o.admin.ID, Folded: "ada@example.com"}, {ID: p.ID, Folded: fold.Text("ZOË")}, {ID: q.ID, Folded: "abe"}}
	if got, err := o.UserNames(t.Context(), o.team.ID); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzEachMember: it finds the members of an object that encoding/json finds; for anything else
// it returns an error or stays within the text.
func FuzzEachMember(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, ` { "a" : "x\"}" , "b":[{"c":"]"},2] ,"d":null,"e":-1.5e3}`, `{"a":{"b":{}}}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1]`, `{"a":"`, `{"a":1}x`, `{"a":[}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]string{}
		repeated := false
		err := team.EachMember([]byte(text), func(name, value []byte) {
			_, there := got[string(name)]
			repeated = repeated || there
			got[string(name)] = string(value)
		})
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if repeated || strings.Contains(text, `\`) || !utf8.ValidString(text) {
			return // encoding/json changes such names
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%q: %v", text, got)
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Fatalf("%q: %s is %q, want %q", text, name, got[name], value)
			}
		}
	})
}
