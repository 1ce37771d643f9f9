package audit_test

import (
	"slices"
	"testing"

	"docent/shared/audit"
)

func TestChangesNamesEveryFieldThatDiffers(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name  string   `json:"name"`
		Icon  string   `json:"icon,omitempty"`
		Words []string `json:"words"`
	}
	type fields struct {
		inner
		Open bool `json:"open"`
	}
	before := fields{inner{"a", "", []string{"x"}}, false}
	if got := audit.Changes(before, before); got != nil {
		t.Errorf("no change: %v", got)
	}
	var names []string
	for _, c := range audit.Changes(before, fields{inner{"b", "i", []string{"x", "y"}}, true}) {
		names = append(names, c.Field)
	}
	if want := []string{"name", "icon", "words", "open"}; !slices.Equal(names, want) {
		t.Errorf("changes of %q, want %q", names, want)
	}
}
