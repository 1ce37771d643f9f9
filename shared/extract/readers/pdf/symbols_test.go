package pdf

import (
	"context"
	"testing"

	"docent/shared/extract"
)

func TestCharactersOfSymbolFonts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, font, code, want string }{
		{"Symbol", "Symbol", "f0a3", "At most ≤ 5 and • 6\n"},
		{"Wingdings", "ABCDEF+Wingdings-Regular", "f0e0", "At most → 5 and • 6\n"},
		{"a font that is not known", "Other", "f0a3", "At most 5 and • 6\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := objects(onePage, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
				"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R/S 6 0 R>>>>>>",
				stream("", "BT /F 10 Tf 50 700 Td (At most ) Tj /S 10 Tf (a) Tj /F 10 Tf ( 5 and ) Tj /S 10 Tf (b) Tj /F 10 Tf ( 6) Tj ET"),
				"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
				"<</Type/Font/Subtype/Type1/BaseFont/"+c.font+"/FirstChar 97/LastChar 98/Widths[500 500]/ToUnicode 7 0 R>>",
				stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"+
					"1 begincodespacerange <00> <ff> endcodespacerange\n2 beginbfchar\n<61> <"+c.code+">\n<62> <f0b7>\nendbfchar\nendcmap end end"))
			doc, err := read(context.Background(), b, extract.Limits{})
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("got %+v, %v, want %q", doc.Pages, err, c.want)
			}
		})
	}
}
