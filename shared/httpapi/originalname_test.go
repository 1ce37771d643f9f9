package httpapi

import (
	"testing"

	"docent/shared/document"
	"docent/shared/extract"
)

// TestAnOriginalKeepsTheExtensionOfItsName: an Office program does not open a file with macros that is named as one without.
func TestAnOriginalKeepsTheExtensionOfItsName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ uri, mediaType, want string }{
		{"https://wiki.example/a/Prices.XLSM", extract.XLSX, "Prices.xlsm"},
		{"file:///a/plan.docx", extract.DOCX, "plan.docx"},
		{"https://wiki.example/a/plan.pdf", extract.DOCX, "The plan.docx"},
		{"https://wiki.example/a/plan", extract.PPTX, "The plan.pptx"},
		{"https://wiki.example/a/plan.odt", "application/vnd.oasis.opendocument.text", "The plan"},
	} {
		var e document.Entry
		e.URI, e.MediaType, e.Title = tt.uri, tt.mediaType, "The plan"
		if got := fileName(e); got != tt.want {
			t.Errorf("%s of %s is saved as %q, want %q", tt.uri, tt.mediaType, got, tt.want)
		}
	}
}
