package document_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/table"
)

func TestDeletingADocument(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	in := h.text("Handbook", "Body.")
	id, first := h.put(in)
	stale := apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "Stale.")
	for _, c := range []struct {
		name, team, id string
		who            document.Who
		match          func(int64) error
		code           string
	}{
		{"another version than expected", teamID, id, everyone, func(v int64) error {
			if v != first {
				t.Errorf("version %d, want %d", v, first)
			}
			return stale
		}, apierr.CodePreconditionFailed},
		{"by a key that may not use its collection", teamID, id, only(), anyVersion, apierr.CodeSourceNotAllowed},
		{"of another team", uuid.NewString(), id, everyone, anyVersion, ""},
		{"an unknown id", teamID, uuid.NewString(), everyone, anyVersion, ""},
		{"not an id", teamID, "../x", everyone, anyVersion, ""},
	} {
		err := h.Delete(t.Context(), c.team, c.id, "", c.who, c.match)
		if c.code == "" && err != nil || c.code != "" && !apierr.IsCode(err, c.code) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if h.read(id).Version != first || len(h.sent.Bodies) != 1 {
		t.Fatalf("it was changed, %d messages", len(h.sent.Bodies))
	}
	for range 2 { // the second time it is no error
		if err := h.Delete(t.Context(), teamID, id, "r2", everyone, anyVersion); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if titles, _ := h.listed(document.Filter{}, table.Window{Limit: 10}); titles != "" {
		t.Errorf("listed %q", titles)
	}
	if w := h.message(len(h.sent.Bodies) - 1); len(h.sent.Bodies) != 2 || w.Kind != "remove-document" || w.RequestID != "r2" || w.Old.Version != first {
		t.Errorf("%d messages, the last for %+v", len(h.sent.Bodies), w)
	}
	h.clock.Advance(time.Hour)
	if _, second := h.put(in); second <= first || !h.read(id).CreatedAt.Equal(h.clock.Now()) {
		t.Errorf("put again it has version %d after %d, created %s", second, first, h.read(id).CreatedAt)
	}
}

func TestReadingWhatOneMay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, _ := h.put(h.text("Handbook", "Body."))
	cases := []struct {
		name, team, id string
		who            document.Who
		code           string
	}{
		{"its own", teamID, id, everyone, ""},
		{"a collection that the key may not use", teamID, id, only(), apierr.CodeSourceNotAllowed},
		{"another team", uuid.NewString(), id, everyone, apierr.CodeNotFound},
		{"an unknown id", teamID, uuid.NewString(), everyone, apierr.CodeNotFound},
		{"not an id", teamID, "../x", everyone, apierr.CodeNotFound},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := h.Get(t.Context(), c.team, c.id, c.who)
			if c.code == "" && err != nil || c.code != "" && !apierr.IsCode(err, c.code) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestListsAreNewestFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		in := h.text(name, "Body.")
		if i%2 == 1 {
			in.CollectionID = h.guide
		}
		h.put(in)
		h.clock.Advance(time.Second)
	}
	h.put(h.text("a", "A change keeps its place."))
	h.put(h.item("issue", "No document.", time.Time{}))
	all := table.Window{Limit: 10}
	cases := []struct {
		name   string
		filter document.Filter
		window table.Window
		want   string
	}{
		{"all", document.Filter{}, all, "e d c b a"},
		{"a page", document.Filter{}, table.Window{Limit: 2}, "e d"},
		{"a collection", document.Filter{CollectionID: h.guide}, all, "d b"},
		{"an unknown collection", document.Filter{CollectionID: uuid.NewString()}, all, ""},
		{"not an id", document.Filter{CollectionID: "../x"}, all, ""},
		{"a connected source", document.Filter{CollectionID: h.issue}, all, ""},
		{"a restricted key", document.Filter{Who: only(h.wiki)}, all, "e c a"},
		{"a page of a restricted key", document.Filter{Who: only(h.wiki)}, table.Window{Limit: 2}, "e c"},
		{"a key for nothing", document.Filter{Who: only()}, all, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := h.listed(c.filter, c.window); got != c.want {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
	if _, err := h.List(t.Context(), teamID, document.Filter{CollectionID: h.guide, Who: only(h.wiki)}, all); !apierr.IsCode(err, apierr.CodeSourceNotAllowed) {
		t.Errorf("a collection that the key may not use: %v", err)
	}
	if err := h.collections.Delete(t.Context(), teamID, h.wiki, "", access.Everything(), anyVersion); err != nil {
		t.Fatal(err)
	}
	if got, _ := h.listed(document.Filter{}, all); got != "d b" {
		t.Errorf("after the deletion of a collection: %q", got)
	}
}

func TestPagesOfAListMeet(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		h.put(h.text(name, "Body."))
		h.clock.Advance(time.Second)
	}
	pages := []string{"e d", "c b", "a"}
	w := table.Window{Limit: 2}
	var list table.Slice[document.Entry]
	for i, want := range pages {
		var got string
		if got, list = h.listed(document.Filter{}, w); got != want || list.Next != (i < 2) || list.Prev != (i > 0) {
			t.Errorf("page %d shows %q, next %t, prev %t", i+1, got, list.Next, list.Prev)
		}
		w.After = list.Last
	}
	if got, _ := h.listed(document.Filter{}, table.Window{Limit: 2, Before: list.First}); got != "c b" {
		t.Errorf("back from the last page: %q", got)
	}
}
