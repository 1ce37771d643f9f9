package pdf

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"docent/shared/extract"
)

// hebrew returns a PDF with this content, as it looks on the page. Its small letters are Hebrew ones.
func hebrew(content string) []byte {
	var codes strings.Builder
	for i := range 26 {
		fmt.Fprintf(&codes, "<%02x> <%04x>\n", 'a'+i, 0x5d0+i)
	}
	return objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>", stream("", content),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 6 0 R>>",
		stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"+
			"1 begincodespacerange <00> <ff> endcodespacerange\n26 beginbfchar\n"+codes.String()+"endbfchar\nendcmap end end"))
}

// logical replaces small letters by those of hebrew.
func logical(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 0x5d0
		}
		return r
	}, text)
}

func TestTextFromRightToLeftIsInTheOrderOfReading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, looks, want string }{
		{"words and marks", ".hgfe ,dc ba", "ab cd, efgh."},
		{"brackets", "\\(hgf\\) :cb ba", "ab bc: (fgh)"},
		{"numbers", "1.2.2024 ba 50% dc", "cd 50% ab 1.2.2024"},
		{"words of another direction, and a number after one", "fe API 12 DB dcba", "abcd API 12 DB ef"},
		{"a mark between directions", "dc - API ba", "ab API - cd"},
		{"a line that is mostly of another direction, on a page from right to left", "fe API SERVER 12 dc ba\nqponmlkjihgfedcba", "ab cd API SERVER 12 ef abcdefghijklmnopq"},
		{"words from right to left in a line of the other direction", "THE WORDS dc 5 ba ARE HEBREW WORDS", "THE WORDS ab 5 cd ARE HEBREW WORDS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), hebrew(column(50, 700, strings.Split(c.looks, "\n")...)), extract.Limits{})
			if want := logical(c.want) + "\n"; err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
				t.Errorf("got %+v, %v, want %q", doc.Pages, err, want)
			}
		})
	}
}

func TestColumnsFromRightToLeft(t *testing.T) {
	t.Parallel()
	content := column(50, 700, "dc ba dc ba dc ba dc ba 5", "dc ba dc ba dc ba dc ba 6", "dc ba dc ba dc ba dc ba 7", "dc ba dc ba dc ba dc ba 8") +
		column(320, 700, "fe ba fe ba fe ba fe ba 1", "fe ba fe ba fe ba fe ba 2", "fe ba fe ba fe ba fe ba 3", "fe ba fe ba fe ba fe ba 4")
	doc, err := read(context.Background(), hebrew(content), extract.Limits{})
	var want strings.Builder
	for n := range 8 {
		word := []string{"ef", "cd"}[n/4]
		fmt.Fprintf(&want, "%d%s", n+1, strings.Repeat(" ab "+word, 4)+[]string{" ", " ", " ", "\n\n", " ", " ", " ", "\n"}[n])
	}
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != logical(want.String()) {
		t.Errorf("got %+v, %v, want %q", doc.Pages, err, logical(want.String()))
	}
}
