package xlsx

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"docent/shared/extract/readers/officetest"
	"docent/shared/extract/readers/ooxml"
)

// Each cell with a blank string would look through all of it.
func TestBlankStringsAreNotKept(t *testing.T) {
	t.Parallel()
	file := officetest.Xlsx(t, "", "", map[string]string{
		"xl/sharedStrings.xml": officetest.XML("sst", "<si><t>"+strings.Repeat(" ", 1000)+"</t></si><si><r><t>a</t></r><r><t> b</t></r></si><si/>")})
	pkg, err := ooxml.Open(t.Context(), bytes.NewReader(file), int64(len(file)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b := &workbook{pkg: pkg}
	if err := b.readStrings("xl/sharedStrings.xml"); err != nil || !slices.Equal(b.strings, []string{"", "a b", ""}) {
		t.Errorf("kept %q, %v", b.strings, err)
	}
}
