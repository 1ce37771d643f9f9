package walk_test

import (
	"strings"
	"testing"

	"docent/cmd/docent/internal/walk"
)

func TestABaseURIHasNoBlank(t *testing.T) {
	t.Parallel()
	if _, err := walk.Find(t.Context(), []string{t.TempDir()}, "https://a b/"); err == nil || !strings.Contains(err.Error(), "contains a blank; percent-encode it") {
		t.Error(err)
	}
}
