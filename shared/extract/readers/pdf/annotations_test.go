package pdf

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"docent/shared/extract"
)

// annotated returns a PDF of a page with an annotation whose appearance writes the text "Ada".
func annotated(content, annotation string) []byte {
	const appearance = "BT /F 10 Tf 2 4 Td (Ada) Tj ET"
	object := fmt.Sprintf("90 0 obj\n<</Type/XObject/Subtype/Form/BBox[0 0 200 16]/Resources<</Font<</F 3 0 R>>>>/Length %d>>stream\n%s\nendstream\nendobj\n"+
		"91 0 obj\n<</Type/Annot/Rect[90 696 290 712]/P 5 0 R%s>>\nendobj\n", len(appearance), appearance, annotation)
	b := string(file(content))
	b = strings.Replace(b, "/Type/Page/Parent", "/Type/Page/Annots[91 0 R]/Parent", 1)
	// PDFium finds the objects by itself, for the list of their places is wrong now.
	return []byte(strings.Replace(b, "%PDF-1.7\n", "%PDF-1.7\n"+object, 1))
}

func TestAnnotationsThatAPageShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, annotation, want string }{
		{"a field that is filled in", "/Subtype/Widget/FT/Tx/T(name)/V(Ada)/F 4/AP<</N 90 0 R>>", "Name: Ada\n"},
		{"a text on the page", "/Subtype/FreeText/Contents(Ada)/DA(/F 10 Tf)/F 4/AP<</N 90 0 R>>", "Name: Ada\n"},
		{"a hidden field", "/Subtype/Widget/FT/Tx/T(name)/V(Ada)/F 2/AP<</N 90 0 R>>", "Name:\n"},
		{"a window with a comment", "/Subtype/Popup/Contents(Ada)/AP<</N 90 0 R>>", "Name:\n"},
		{"a link", "/Subtype/Link/F 4/A<</S/URI/URI(https://example.com/Ada)>>", "Name:\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(context.Background(), annotated(at("F", 10, 50, 700, "Name:"), c.annotation), extract.Limits{})
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("Read = %+v, %v; want a page with %q", doc, err, c.want)
			}
		})
	}
}

func TestAPageOfWhichOnlyAFieldHasText(t *testing.T) {
	t.Parallel()
	doc, err := read(context.Background(), annotated("", "/Subtype/Widget/FT/Tx/T(name)/V(Ada)/F 4/AP<</N 90 0 R>>"), extract.Limits{})
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != "Ada\n" || len(doc.Notes) != 0 {
		t.Errorf("Read = %+v, %v", doc, err)
	}
}

func TestATextThatDrawingLosesIsKept(t *testing.T) {
	t.Parallel()
	chars := func(s string) (all []char) {
		for _, r := range s {
			all = append(all, char{r: r})
		}
		return all
	}
	for _, c := range []struct {
		all, some string
		want      bool
	}{{"ab ba", "abba", true}, {"abc", "a bc", true}, {"ab", "aab", false}, {"xyz", "abc", false}, {"", "", true}} {
		if got := contains(chars(c.all), chars(c.some)); got != c.want {
			t.Errorf("contains(%q, %q) = %v", c.all, c.some, got)
		}
	}
}
