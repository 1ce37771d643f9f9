package repository

import (
	"strings"
	"testing"
)

// TestAPointerOfGitLFSIsNoText: it is in place of a file that is elsewhere, such as a picture.
func TestAPointerOfGitLFSIsNoText(t *testing.T) {
	t.Parallel()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d7a", 16) + "\nsize 12345\n"
	for name, tt := range map[string]struct {
		text string
		read bool
	}{
		"a pointer":                 {pointer, false},
		"a pointer with extensions": {strings.Replace(pointer, "oid ", "ext-0-foo sha256:"+strings.Repeat("4d7a", 16)+"\noid ", 1), false},
		"a text about one":          {"A pointer:\n\n" + pointer, true},
		"its first line":            {"version https://git-lfs.github.com/spec/v1\n", true},
		"a long text":               {pointer + strings.Repeat("More of it. ", 100), true},
	} {
		for _, file := range []string{"logo.png", "guide.md"} {
			if i := Item("acme/api", "https://git.example/"+file, file, []byte(tt.text)); (i != nil) != tt.read {
				t.Errorf("%s in %s: %+v", name, file, i)
			}
		}
	}
}
