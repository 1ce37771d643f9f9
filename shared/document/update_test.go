package document_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/app/faulttest"
	"docent/shared/document"
	"docent/shared/filter"
)

// nobody is a rule that opens to no person.
func nobody() *access.Rule { return &access.Rule{Users: []access.Entry{}, Groups: []access.Entry{}} }

// labelled returns a change of the metadata alone.
func labelled(product string) document.Change {
	return document.Change{Match: anyVersion, Who: everyone, RequestID: "r2",
		Fields: func(f *document.Fields) { f.Metadata = filter.Metadata{"product": filter.Text(product)} }}
}

// ruled returns a change of the rule alone; nil takes it away.
func ruled(rule *access.Rule) document.Change {
	return document.Change{Match: anyVersion, Who: everyone, Fields: func(*document.Fields) {}, SetsAccess: true, Access: rule}
}

// update changes a document.
func (h *fixture) update(id string, c document.Change) document.Document {
	h.t.Helper()
	d, err := h.Update(h.t.Context(), teamID, id, c)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func TestUpdateKeepsTheContentAndWhatItIsNotAbout(t *testing.T) {
	t.Parallel()
	for name := range (&fixture{t: t}).kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, index := h.worker()
			x := h.extractor()
			kind := h.kinds()[name]
			id, _ := h.put(kind.in)
			h.tidy(w, x)
			before := h.read(id)
			h.clock.Advance(time.Second)
			version := before.Version
			for step, tt := range []struct {
				change          document.Change
				title, metadata string
				rule            *access.Rule
			}{
				{ruled(nobody()), "Handbook", `null`, nobody()},
				{labelled("api"), "Handbook", `{"product":"api"}`, nobody()},
				{document.Change{Match: anyVersion, Who: everyone, Fields: func(f *document.Fields) {
					f.Title, f.URI, f.CollectionID, f.MediaType = "Manual", wikiURI("other"), h.guide, "text/plain"
				}}, "Manual", `{"product":"api"}`, nobody()},
				{ruled(nil), "Manual", `{"product":"api"}`, nil},
			} {
				for again := range 2 {
					changed := h.update(id, tt.change)
					h.tidy(w, x)
					d := h.read(id)
					if d.Body != kind.body || d.Title != tt.title || d.URI != before.URI || d.CollectionID != h.wiki || d.MediaType != before.MediaType ||
						d.Metadata.JSON() != tt.metadata || !d.Access.Equal(tt.rule) || !d.CreatedAt.Equal(before.CreatedAt) || d.Indexing.State != document.Indexed {
						t.Errorf("step %d: %.20q, %+v, %+v", step, d.Body, d.Entry, d.Indexing)
					}
					if changed.Version != d.Version || changed.Body != "" || (d.Version == version) != (again == 1) {
						t.Errorf("step %d: replied version %d, stored %d, before %d", step, changed.Version, d.Version, version)
					}
					version = d.Version
				}
				if last := index.published[len(index.published)-1]; last.Version != version || last.Title != tt.title || !last.Access.Equal(tt.rule) {
					t.Errorf("step %d: version %d is indexed as %d, %s", step, version, last.Version, last.Title)
				}
			}
		})
	}
}

func TestUpdateOfWhatMayNotBeChanged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	closed := h.text("closed", "b")
	closed.Access = nobody()
	hidden, _ := h.put(closed)
	open, version := h.put(h.text("open", "b"))
	item, _ := h.put(h.item("item", "b", time.Time{}))
	gone := h.collect(teamID, "gone")
	lost := h.text("lost", "b")
	lost.CollectionID = gone
	orphan, _ := h.put(lost)
	if err := h.collections.Delete(t.Context(), teamID, gone, "r", everyone.Reader, anyVersion); err != nil {
		t.Fatal(err)
	}
	person := document.Who{Reader: access.Person("u1", "ada", nil)}
	stale := func(v int64) error {
		if v != version {
			return nil
		}
		return apierr.New(apierr.Stale, apierr.CodePreconditionFailed, "stale")
	}
	for _, tt := range []struct {
		name, id string
		who      document.Who
		match    func(int64) error
		code     string
	}{
		{"unknown", "0190d2a0-0000-7000-8000-000000000001", everyone, anyVersion, apierr.CodeNotFound},
		{"no id", "../x", everyone, anyVersion, apierr.CodeNotFound},
		{"hidden", hidden, person, anyVersion, apierr.CodeNotFound},
		{"hidden, by a key of another source", hidden, document.Who{Reader: person.Reader, Sources: []string{h.guide}}, anyVersion, apierr.CodeNotFound},
		{"an item", item, everyone, anyVersion, apierr.CodeNotFound},
		{"of a deleted collection", orphan, everyone, anyVersion, apierr.CodeNotFound},
		{"of a source of other keys", open, only(h.guide), anyVersion, apierr.CodeSourceNotAllowed},
		{"another version", open, everyone, stale, apierr.CodePreconditionFailed},
	} {
		c := labelled("api")
		c.Who, c.Match = tt.who, tt.match
		if _, err := h.Update(t.Context(), teamID, tt.id, c); !apierr.IsCode(err, tt.code) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, id := range []string{hidden, open, item} {
		if d := h.read(id); d.Metadata != nil {
			t.Errorf("%s was changed", d.Title)
		}
	}
}

// TestUpdateDuringAnotherWriteLosesNothing writes the document in other ways, before each call of a change in turn.
func TestUpdateDuringAnotherWriteLosesNothing(t *testing.T) {
	t.Parallel()
	keeping := func(h *fixture, body string) document.Input {
		in := h.text("Handbook", body)
		in.Metadata, in.KeepAccess = filter.Metadata{"product": filter.Text("new")}, true
		return in
	}
	for name, tt := range map[string]struct {
		other func(h *fixture, id, body string)
		body  func(before, other string) string // afterwards
		want  string                            // the metadata afterwards
	}{
		"a put":          {func(h *fixture, _, body string) { h.put(keeping(h, body)) }, func(_, other string) string { return other }, `{"product":"new"}`},
		"another change": {func(h *fixture, id, _ string) { h.update(id, labelled("new")) }, func(before, _ string) string { return before }, `{"product":"new"}`},
		"a removal": {func(h *fixture, id, _ string) {
			if err := h.Delete(h.t.Context(), teamID, id, "r", everyone, anyVersion); err != nil {
				h.t.Fatal(err)
			}
		}, nil, ""},
	} {
		long := strings.Repeat("A long text. ", 300)
		for _, bodies := range [][2]string{{"short", "also short"}, {"short", long}, {long, "short"}, {long, strings.Repeat("A longer text. ", 600)}} {
			t.Run(fmt.Sprintf("%s, %d to %d bytes", name, len(bodies[0]), len(bodies[1])), func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					h := newFixture(t)
					var versions atomic.Uint32
					h.Random = func() uint16 { return uint16(versions.Add(1)) }
					w, _ := h.worker()
					id, _ := h.put(h.text("Handbook", bodies[0]))
					h.tidy(w, h.extractor())
					h.clock.Advance(time.Second)
					plain := h.Table
					store := &interleaved{Store: plain, before: n, do: func() { tt.other(h, id, bodies[1]) }}
					h.Table = store
					_, err := h.Update(t.Context(), teamID, id, ruled(nobody()))
					h.Table = plain
					if store.calls < n {
						if n < 4 {
							t.Errorf("only %d calls", n-1)
						}
						return
					}
					h.tidy(w, h.extractor())
					if tt.body == nil {
						if _, gone := h.Get(t.Context(), teamID, id, everyone); !apierr.IsCode(gone, apierr.CodeNotFound) || err != nil && !apierr.IsCode(err, apierr.CodeNotFound) {
							t.Errorf("before call %d: %v, then %v", n, err, gone)
						}
						continue
					}
					d := h.read(id)
					if err != nil || !d.Access.Equal(nobody()) || d.Metadata.JSON() != tt.want || d.Body != tt.body(bodies[0], bodies[1]) || d.Indexing.State != document.Indexed {
						t.Errorf("before call %d: %v, %+v, %.20q", n, err, d.Entry, d.Body)
					}
				}
			})
		}
	}
}

// TestUpdateSurvivesEveryFailure lets every call of the store fail. The content stays, and the change is made or not.
func TestUpdateSurvivesEveryFailure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A long text. ", 600)
	for name, put := range map[string]func(h *fixture) document.Input{
		"a text in chunks": func(h *fixture) document.Input { return h.text("Handbook", long) },
		"a file":           func(h *fixture) document.Input { return h.file("Handbook", "One page.\n\nAnother page.") },
	} {
		prepare := func(t *testing.T) (*fixture, *faulttest.Plan, string, func()) { return failing(t, put) }
		h, plan, id, _ := prepare(t)
		plan.Watch()
		h.update(id, ruled(nobody()))
		for at, call := range plan.Seen() {
			for _, mode := range faulttest.ModesOf(call) {
				t.Run(fmt.Sprintf("%s, %d %s %s", name, at, call, mode), func(t *testing.T) {
					t.Parallel()
					h, plan, id, repair := prepare(t)
					before := h.read(id)
					plan.Arm(mode, at+1)
					_, err := h.Update(t.Context(), teamID, id, ruled(nobody()))
					plan.Disarm()
					repair()
					d := h.read(id)
					if d.Access.Equal(nobody()) == (d.Version == before.Version) || err == nil && d.Version == before.Version || d.Body != before.Body || d.Indexing.State != document.Indexed {
						t.Errorf("after %v: version %d of %d, %+v", err, d.Version, before.Version, d.Entry)
					}
					h.update(id, ruled(nobody()))
					repair()
					if d := h.read(id); !d.Access.Equal(nobody()) || d.Body != before.Body || d.Original != nil && !slices.Equal(h.objects(), []string{d.Original.Blob}) {
						t.Errorf("sent again: %+v, objects %v", d.Entry, h.objects())
					}
				})
			}
		}
	}
}
