package scim_test

import (
	"testing"

	"docent/shared/scim"
)

func TestNamesTag(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{`W/"3"`: true, `"3"`: true, "*": true, `W/"1", W/"3"`: true, ` "1" , "3"`: true, `W/"33"`: false, "3": false, "": false} {
		if got := scim.NamesTag(field, `W/"3"`); got != want {
			t.Errorf("%s: %v", field, got)
		}
	}
}
