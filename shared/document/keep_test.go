package document_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/document"
	"docent/shared/filter"
)

// kept returns what changes the fields of a document and keeps its content.
func (h *fixture) kept(name string) document.Input {
	in := h.text(name, "")
	in.KeepContent, in.Metadata = true, filter.Metadata{"product": filter.Text("api")}
	return in
}

// kinds are the documents whose content can be kept: how each is put, and its body.
func (h *fixture) kinds() map[string]struct {
	in   document.Input
	body string
} {
	long := strings.Repeat("A long text about canteens. ", 5000) // more chunks than are copied at a time
	return map[string]struct {
		in   document.Input
		body string
	}{
		"a short text": {h.text("Handbook", "A short text."), "A short text."},
		"a long text":  {h.text("Handbook", long), long},
		"a file":       {h.file("Handbook", "One page.\n\nAnother page."), "One page.\n\nAnother page.\n\n"},
	}
}

func TestFieldsChangeWithoutTheContent(t *testing.T) {
	t.Parallel()
	for name := range (&fixture{t: t}).kinds() {
		for _, read := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " that is indexed", false: " that waits"}[read], func(t *testing.T) {
				t.Parallel()
				h := newFixture(t)
				w, index := h.worker()
				x := h.extractor()
				kind := h.kinds()[name]
				id, first := h.put(kind.in)
				if read {
					h.tidy(w, x)
				}
				before := h.read(id)
				h.clock.Advance(time.Second)
				_, second := h.put(h.kept("Handbook"))
				h.tidy(w, x)
				d := h.read(id)
				if d.Body != kind.body || d.Metadata.JSON() != `{"product":"api"}` || d.MediaType != kind.in.MediaType || second <= first || d.Indexing.State != document.Indexed {
					t.Fatalf("%q, %+v", d.Body, d.Entry)
				}
				if h.chunks(id, before.Version) != 0 && before.Version != d.Version {
					t.Error("the chunks of the version before are left")
				}
				var pages []int
				for _, c := range index.published[len(index.published)-1].Chunks {
					for _, p := range c.Passages {
						pages = append(pages, p.Page)
					}
				}
				if kind.in.File != nil && (!slices.Equal(pages, []int{1, 3}) || !slices.Equal(h.objects(), []string{before.Original.Blob})) {
					t.Errorf("pages %v, objects %v", pages, h.objects())
				}
				if _, third := h.put(h.kept("Handbook")); third != d.Version {
					t.Errorf("the same fields make version %d of %d", third, d.Version)
				}
				if err := h.Delete(t.Context(), teamID, id, "r", everyone, anyVersion); err != nil {
					t.Fatal(err)
				}
				h.tidy(w, x)
				if len(h.objects()) != 0 || h.chunks(id, d.Version) != 0 {
					t.Errorf("left behind: %v, %d chunks", h.objects(), h.chunks(id, d.Version))
				}
			})
		}
	}
}

func TestContentThatDoesNotExistIsNotKept(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if _, _, err := h.Put(t.Context(), teamID, h.kept("Handbook")); !errors.Is(err, document.ErrNoContent) {
		t.Errorf("%v", err)
	}
	if kinds, _ := h.pending(); kinds != "" {
		t.Errorf("pending: %s", kinds)
	}
}

// TestAFileThatCannotBeReadIsNotReadAgainForNothing: only a change begins to read it again.
func TestAFileThatCannotBeReadIsNotReadAgainForNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	id, _ := h.put(h.file("Handbook", " "))
	h.tidy(w, x)
	for n, want := range []string{"extracting", "failed"} {
		h.put(h.kept("Handbook"))
		if got := h.read(id).Indexing.State; string(got) != want {
			t.Errorf("put %d: %s", n+1, got)
		}
		h.tidy(w, x)
	}
}

// failing returns a fixture with an indexed document whose next calls of the table fail by the plan, the
// document's id, and a function that ends the failures and does the work that is left.
func failing(t *testing.T, put func(*fixture) document.Input) (h *fixture, plan *faulttest.Plan, id string, mend func()) {
	h = newFixture(t)
	w, _ := h.worker()
	x := h.extractor()
	id, _ = h.put(put(h))
	h.tidy(w, x)
	h.clock.Advance(time.Second)
	plan = &faulttest.Plan{}
	plain := h.Table
	h.Table = faulttest.Table{Store: plain, Plan: plan}
	return h, plan, id, func() { h.Table = plain; h.tidy(w, x) }
}

// TestKeepingContentSurvivesEveryFailure lets every call of the store fail. The content stays, whatever happens.
func TestKeepingContentSurvivesEveryFailure(t *testing.T) {
	t.Parallel()
	for name := range (&fixture{t: t}).kinds() {
		prepare := func(t *testing.T) (*fixture, *faulttest.Plan, string, func()) {
			return failing(t, func(h *fixture) document.Input { return h.kinds()[name].in })
		}
		h, plan, _, _ := prepare(t)
		plan.Watch()
		h.put(h.kept("Handbook"))
		for at, call := range plan.Seen() {
			for _, mode := range faulttest.ModesOf(call) {
				t.Run(name+" "+call, func(t *testing.T) {
					t.Parallel()
					h, plan, id, repair := prepare(t)
					version := h.read(id).Version
					plan.Arm(mode, at+1)
					_, _, err := h.Put(t.Context(), teamID, h.kept("Handbook"))
					plan.Disarm()
					repair()
					d := h.read(id)
					if err == nil && d.Version == version || d.Body != h.kinds()[name].body || d.Indexing.State != document.Indexed {
						t.Errorf("after %v: version %d of %d, %q", err, d.Version, version, d.Body)
					}
					h.put(h.kept("Handbook"))
					repair()
					if d := h.read(id); d.Metadata.JSON() != `{"product":"api"}` || d.Body != h.kinds()[name].body {
						t.Errorf("put again: %+v", d.Entry)
					}
					if d.Original != nil && !slices.Equal(h.objects(), []string{d.Original.Blob}) {
						t.Errorf("objects %v", h.objects())
					}
				})
			}
		}
	}
}
