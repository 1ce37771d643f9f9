package symbols_test

import (
	"testing"

	"docent/shared/extract/readers/symbols"
)

func TestCharactersOfFonts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		font       string
		code, want rune
	}{
		{"Symbol", 0x21, '!'}, {"Symbol", 0x44, 'Δ'}, {"Symbol", 0xf06d, 'μ'}, {"Symbol", 0x7e, '∼'}, {"Symbol", 0xf0a3, '≤'}, {"Symbol", 0xf0b0, '°'}, {"Symbol", 0xb3, '≥'},
		{"Symbol", 0xce, '∈'}, {"Symbol", 0xe5, '∑'}, {"Symbol", 0xf1, '⟩'}, {"Symbol", 0xf2, '∫'}, {"Symbol", 0x60, 0}, {"Symbol", 0xe6, 0}, {"Symbol", 0x2192, 0},
		{"ABCDEF+SymbolMT", 0xf061, 'α'}, {"Symbola", 0xf061, 0}, {"Wingdings", 0xf0e0, '→'}, {"ABCDEF+Wingdings-Regular", 0xf0fc, '✓'}, {"wingdings", 0x4a, '☺'},
		{"Wingdings", 0x81, '①'}, {"Wingdings", 0x95, '❿'}, {"Wingdings", 0xfe, '☑'}, {"Wingdings 2", 0x52, '☑'}, {"Wingdings2", 0xf0a3, '☐'}, {"Webdings", 0x61, '✓'},
		{"Arial", 0x61, 0}, {"", 0xf0fc, 0},
	} {
		if got, ok := symbols.Character(c.font, c.code); got != c.want || ok != (c.want != 0) {
			t.Errorf("Character(%q, %#x) = %q, %v; want %q", c.font, c.code, got, ok, c.want)
		}
	}
}

func TestTextOfFonts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, font  string
		privateOnly bool
		want        string
	}{
		{"\uf0fc done", "Wingdings", true, "✓ done"},
		{"\u00fc", "Wingdings", false, "✓"},
		{"\u00fc", "Wingdings", true, "\u00fc"},
		{"\uf001 \uf0fc", "Wingdings", false, "\uf001 ✓"},
		{"\uf0fc", "Arial", false, "\uf0fc"},
	} {
		if got := symbols.Text(c.text, c.font, c.privateOnly); got != c.want {
			t.Errorf("Text(%q, %q, %v) = %q, want %q", c.text, c.font, c.privateOnly, got, c.want)
		}
	}
}
