package pdf

import (
	"context"
	"testing"

	"docent/shared/extract"
)

// high returns text in the size of exponents, at a height above the line.
func high(text string) string {
	return "/F 7 Tf 4 Ts (" + text + ") Tj 0 Ts /F 10 Tf "
}

func TestNumbersAboveTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"powers and the mark of a note", "(1.5 x 10) Tj " + high("-6") + "( N over 20 m) Tj " + high("2") + "(, in 1990) Tj " + high("12") + "(.) Tj", "1.5 x 10⁻⁶ N over 20 m², in 1990¹².\n"},
		{"letters", "(the 21) Tj " + high("st") + "( of March, e) Tj " + high("2x"), "the 21st of March, e2x\n"},
		{"a fraction", "(5) Tj " + high("1") + "(/2) Tj", "5¹/2\n"},
		{"a small number on the line", "(B) Tj /F 7 Tf (12) Tj /F 10 Tf ( is a vitamin) Tj", "B12 is a vitamin\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), file("BT /F 10 Tf 50 700 Td "+c.text+" ET"), extract.Limits{})
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("got %+v, %v, want %q", doc.Pages, err, c.want)
			}
		})
	}
}

func TestWordsThatStandAboveTheLineOfTheWordBefore(t *testing.T) {
	t.Parallel()
	word := func(text string, x, y, size float64) line {
		return line{text: text, size: size, box: box{x, y - 0.25*size, x + 5*float64(len(text)), y + 0.75*size}}
	}
	for want, next := range map[string]line{
		"1990¹": word("1", 70, 104, 7), "19901": word("1", 70, 100, 7), "1990 1": word("1", 73, 104, 7), "1990st": word("st", 70, 104, 7),
	} {
		if got := fragments([]line{word("1990", 50, 100, 10), next}); len(got) != 1 || got[0].text != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}
