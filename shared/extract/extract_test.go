package extract_test

import (
	"testing"

	"docent/shared/extract"
)

func TestMediaTypeOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.pdf": extract.PDF, "Report.v2.DOCX": extract.DOCX, "x/y.xlsx": extract.XLSX, "talk.pptx": extract.PPTX, "a.docm": extract.DOCX, "Prices.XLSM": extract.XLSX, "a.potx": extract.PPTX, "a.RST": extract.RST,
		"a.doc": "", "pdf": "", "": "", "a.pdf.exe": "",
	} {
		got, ok := extract.MediaTypeOf(name)
		if got != want || ok != (want != "") || extract.Supported(got) != ok {
			t.Errorf("%q: %q, %t", name, got, ok)
		}
	}
}
