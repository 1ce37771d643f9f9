// Package symbols reads characters of fonts whose glyphs are not those of their codes: a tick or an arrow that Office
// puts in is a code of the font Wingdings.
package symbols

import (
	"strings"
	"unicode/utf8"
)

// Codes of such fonts are also written as characters from privateUse on, which is how Office and PDFs tell them from letters.
const privateUse = 0xf000

// greek and signs are the font Symbol: its characters from 0x21, and from 0xa0. A blank is a code without a character.
const (
	greek = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
	signs = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈… ⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑           ⟩∫"
)

// fonts are the characters of each font by code. Of the fonts with hundreds of pictures it has those that stand for words.
var fonts = map[string]map[rune]rune{
	"symbol": joined(codes(0x21, greek), codes(0xa0, signs)),
	"wingdings": joined(codes(0x6c, "●❍■□"), codes(0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"), codes(0xdf, "←→↑↓↖↗↙↘"), codes(0xef, "⇦⇨⇧⇩"), codes(0xfb, "✗✓☒☑"), map[rune]rune{
		0x28: '☎', 0x2a: '✉', 0x43: '👍', 0x44: '👎', 0x45: '☜', 0x46: '☞', 0x4a: '☺', 0x4c: '☹', 0x71: '❑', 0x72: '❒', 0x76: '❖', 0x78: '☒',
		0x9f: '•', 0xa7: '▪', 0xa8: '☐', 0xab: '★', 0xd8: '➢', 0xe8: '➔',
	}),
	"wingdings2": {0x4f: '✗', 0x50: '✓', 0x51: '☒', 0x52: '☑', 0x53: '☒', 0x54: '☒', 0x97: '●', 0xa3: '☐'},
	"webdings":   {0x61: '✓', 0x63: '□', 0x67: '■', 0x72: '✗'},
}

func codes(first rune, characters string) map[rune]rune {
	all := map[rune]rune{}
	for _, r := range characters {
		if r != ' ' {
			all[first] = r
		}
		first++
	}
	return all
}

func joined(all ...map[rune]rune) map[rune]rune {
	for _, more := range all[1:] {
		for code, r := range more {
			all[0][code] = r
		}
	}
	return all[0]
}

// family returns the name under which fonts has a font, such as "wingdings2" of "ABCDEF+Wingdings2-Regular".
func family(font string) string {
	if _, name, subset := strings.Cut(font, "+"); subset {
		font = name
	}
	if end := strings.IndexAny(font, "-,"); end >= 0 {
		font = font[:end]
	}
	return strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(font), " ", ""), "mt")
}

// IsFont reports whether the package knows a font.
func IsFont(font string) bool { return fonts[family(font)] != nil }

// Character returns what a font shows for a code, and false if that is not known.
func Character(font string, code rune) (rune, bool) {
	if code >= privateUse && code <= privateUse+0xff {
		code -= privateUse
	}
	r, ok := fonts[family(font)][code]
	return r, ok
}

// Text returns text with what a font shows for its characters. It leaves those that it does not know as they are, and all but those of
// private use if privateOnly is set.
func Text(text, font string, privateOnly bool) string {
	if font == "" || !IsFont(font) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if privateOnly && r < privateUse {
			return r
		}
		if shown, ok := Character(font, r); ok {
			return shown
		}
		return r
	}, text)
}

// Bullet returns the sign that the bullet of a list shows if it says something about the item: a tick, a cross or a box. It returns "" for
// other bullets, which only say that there is an item.
func Bullet(text, font string) string {
	text = strings.TrimSpace(Text(text, font, false))
	if utf8.RuneCountInString(text) == 1 && strings.ContainsAny(text, "✓✔✗✘☐☑☒❌✅❎") {
		return text
	}
	return ""
}
