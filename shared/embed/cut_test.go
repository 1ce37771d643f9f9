package embed_test

import (
	"testing"

	"docent/shared/embed"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		size int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "longe"},
		{"größer", 3, "gr"},
		{"größer", 4, "grö"},
		{"👍🏽", 3, ""},
		{"   \n\t a word", 3, "a w"},
		{" a ", 1, "a"},
		{"", 5, ""},
	} {
		if got := embed.Cut(c.text, c.size); got != c.want {
			t.Errorf("Cut(%q, %d): %q, want %q", c.text, c.size, got, c.want)
		}
	}
}
