package fold_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"docent/shared/fold"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Ada", "aDA"}, {"STRASSE", "strasse"}, {"Κόσμος", "ΚΌΣΜΟΣ"}, {"K", "\u212a"}, {"ı", "i"}, {"İ", "i"},
		{"straße", "strasse"}, {"ſ", "S"}, {"Ⱥ", "ⱥ"}, {"a", "b"}, {"", "a"},
	} {
		if same := fold.Text(pair[0]) == fold.Text(pair[1]); same != strings.EqualFold(pair[0], pair[1]) {
			t.Errorf("%q and %q fold alike: %v, and EqualFold differs", pair[0], pair[1], same)
		}
	}
	if got := fold.Text("ADA@Example.COM"); got != "ada@example.com" {
		t.Errorf("a name is stored as %q: users that are stored already would not be found", got)
	}
	classes := map[string]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		folded := fold.Text(string(r))
		if len(folded) > len(string(r)) {
			t.Fatalf("%U grows from %d to %d bytes", r, len(string(r)), len(folded))
		}
		first, ok := classes[folded]
		if !ok {
			classes[folded], first = r, r
		}
		if !strings.EqualFold(string(first), string(r)) {
			t.Fatalf("%U folds like %U", r, first)
		}
		if next := unicode.SimpleFold(r); fold.Text(string(next)) != folded {
			t.Fatalf("%U does not fold like %U", r, next)
		}
	}
}

func TestSpellingsOfOneNameHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, composed string
		forms          int
	}{
		{"Ada", "ada", 1}, {"Rene\u0301", "ren\u00c9", 2}, {"REN\u00e9", "ren\u00c9", 2}, {"\u212bngstro\u0308m", "\u00c5ngstr\u00d6m", 3},
		{"\uac00", "\uac00", 2}, {"\u0928\u093c", "\u0929", 2}, {"stra\u00dfe", "stra\u00dfe", 1}, {"", "", 1},
	} {
		if got := fold.Composed(c.text); got != c.composed {
			t.Errorf("%+q is composed as %+q, want %+q", c.text, got, c.composed)
		}
		forms := fold.Forms(c.text)
		if len(forms) != c.forms || forms[0] != fold.Text(c.text) || !slices.Contains(forms, c.composed) {
			t.Errorf("forms of %+q: %+q", c.text, forms)
		}
	}
}
