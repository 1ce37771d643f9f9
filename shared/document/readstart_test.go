package document_test

import (
	"strings"
	"testing"

	"docent/shared/memory"
)

// TestTheStartOfABodyIsReadAlone: a reader who needs little of a long body reads and is charged for little more, unless the body
// begins with much shorter chunks than it has in the mean.
func TestTheStartOfABodyIsReadAlone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	prose := strings.Repeat("Expenses are paid back within a month. ", 8000)
	var sections strings.Builder
	for level := range 4 {
		sections.WriteString(strings.Repeat("#", level+2) + " " + strings.Repeat("x", 110) + "\n")
	}
	sections.WriteString(strings.Repeat("###### y\nz\n", 200))
	for name, tt := range map[string]struct {
		body        string
		start, most int // bytes
	}{
		"none":             {prose, 0, 0},
		"one byte":         {prose, 1, 20_000},
		"some":             {prose, 20_000, 60_000},
		"all but one byte": {prose, len(prose) - 1, len(prose)},
		"all":              {prose, len(prose), len(prose)},
		"more":             {prose, len(prose) + 1, len(prose)},
		"short chunks":     {sections.String() + prose, 2000, sections.Len() + len(prose)},
		"a short body":     {"Expenses.", 3, 9},
	} {
		id, _ := h.put(h.text(name, tt.body))
		room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Bytes: memory.NewPool(1<<30, 0), Small: 1 << 40}
		ctx := memory.WithWork(t.Context(), room.Work("reader"))
		d, err := h.ReadStart(ctx, teamID, id, everyone, tt.start)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := len(d.Body); got < min(tt.start, len(tt.body)) || got > tt.most || !strings.HasPrefix(tt.body, d.Body) {
			t.Errorf("%s: %d bytes of %d for %d, at most %d", name, got, len(tt.body), tt.start, tt.most)
		}
		if held := room.Bytes.Held(); len(tt.body) > 9 && held < int64(2*len(d.Body)) {
			t.Errorf("%s: %d bytes are charged for %d", name, held, len(d.Body))
		}
		d.Release(ctx)
		if held := room.Bytes.Held(); held != 0 {
			t.Errorf("%s: %d bytes are held in the end", name, held)
		}
	}
}

// TestABodyThatIsNotNeededIsNotRead also asks with the version that the reader would have.
func TestABodyThatIsNotNeededIsNotRead(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	body := strings.Repeat("Expenses are paid back within a month. ", 8000)
	id, version := h.put(h.text("long", body))
	for _, needed := range []bool{true, false} {
		d, err := h.GetBodyIf(t.Context(), teamID, id, everyone, func(v int64) bool {
			if v != version {
				t.Errorf("asked about version %d, want %d", v, version)
			}
			return needed
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Body == body; got != needed || !needed && d.Body != "" || d.Version != version || d.Title == "" {
			t.Errorf("needed %v: %d bytes of version %d", needed, len(d.Body), d.Version)
		}
	}
}
