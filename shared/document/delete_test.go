package document_test

import (
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
)

// TestARemovalDuringAnotherChange closes a document before each call of a removal in turn. The removal is then of a document
// that its caller may not read, or that is not the one of the If-Match.
func TestARemovalDuringAnotherChange(t *testing.T) {
	t.Parallel()
	stale := apierr.New(apierr.Stale, "stale", "The document has another version.")
	for name, tt := range map[string]struct {
		who  document.Who
		want error
	}{
		"of a person":    {document.Who{Reader: access.Person("ada", "ada@acme.test", nil)}, nil},
		"of one version": {everyone, stale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				h := newFixture(t)
				id, version := h.put(h.text("Handbook", "Text."))
				h.clock.Advance(time.Second)
				store := &interleaved{Store: h.Table, before: n, do: func() { h.update(id, ruled(nobody())) }}
				h.Table = store
				err := h.Delete(t.Context(), teamID, id, "r", tt.who, func(current int64) error {
					if tt.who.Reader.All() && current != version {
						return stale
					}
					return nil
				})
				if store.calls < n {
					if n < 4 {
						t.Errorf("only %d calls", n-1)
					}
					return
				}
				if d := h.read(id); err != tt.want || !d.Access.Equal(nobody()) { //nolint:errorlint // the very one
					t.Errorf("before call %d: %v, want %v; then %+v", n, err, tt.want, d.Entry)
				}
			}
		})
	}
}
