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

// TestAFileOfWindowsIsText: editors there begin a text with a byte order mark, before a heading too, or write UTF-16.
func TestAFileOfWindowsIsText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"a mark": "\ufeff# A\n", "UTF-16": "\xff\xfe#\x00 \x00A\x00\n\x00"} {
		if i := Item("acme/api", "https://git.example/a.md", "a.md", []byte(text)); i == nil || i.Title != "A" || i.Body != "# A\n" {
			t.Errorf("%s: %+v", name, i)
		}
	}
	if i := Item("acme/api", "https://git.example/a.md", "a.md", []byte("\ufeff \n")); i != nil {
		t.Errorf("a mark alone: %+v", i)
	}
}
