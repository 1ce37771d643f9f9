package page_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"docent/cmd/docent/internal/page"
	"docent/shared/extract"
)

func TestFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/Handbook.pdf": extract.PDF, "Handbook.DOCX": extract.DOCX, "Handbook.xlsx": extract.XLSX, "Handbook.pptx": extract.PPTX} {
		data := []byte("\xff\x00bytes")
		p, err := page.Read(name, data)
		if err != nil || p.MediaType != want || p.Title != "Handbook" || p.Body != base64.StdEncoding.EncodeToString(data) || !page.Known(name) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if p := page.Uploaded("a.rst"); p.MediaType != "" {
		t.Errorf("reStructuredText is converted here, but %+v would be uploaded", p)
	}
	if _, err := page.Read("large.pdf", make([]byte, page.MaxInline+1)); err == nil || !strings.Contains(err.Error(), "over the limit of 4 MB") {
		t.Errorf("a large file: %v", err)
	}
	for _, name := range []string{"empty.pdf", "empty.docx"} {
		if _, err := page.Read(name, nil); err == nil || err.Error() != "it is empty" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
