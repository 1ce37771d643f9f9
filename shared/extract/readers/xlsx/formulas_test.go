package xlsx_test

import (
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/officetest"
)

// TestFormulasThatWereNotCalculated: openpyxl writes no values of formulas, XlsxWriter writes 0 for each. Neither is what the cell shows.
func TestFormulasThatWereNotCalculated(t *testing.T) {
	t.Parallel()
	f := func(ref, attributes, value string) string {
		return `<c r="` + ref + `"` + attributes + `><f>SUM(A1:A9)</f>` + value + `</c>`
	}
	const note = "Formulas of the sheet Costs have no values. To calculate them, open the file in a spreadsheet program, and save it."
	for name, c := range map[string]struct{ workbook, cells, want, note string }{
		"no value":                     {"", f("B2", "", "<v></v>"), "| Sum | |", note},
		"no value of a truth":          {"", f("B2", ` t="b"`, ""), "| Sum | |", note},
		"an empty text":                {"", f("B2", ` t="str"`, "<v></v>"), "| Sum | |", ""},
		"zeros, to be calculated":      {`<calcPr fullCalcOnLoad="1"/>`, f("B2", "", "<v>0</v>") + f("C2", ` s="1"`, "<v>0</v>"), "| Sum | |", note},
		"zeros":                        {`<calcPr fullCalcOnLoad="0"/>`, f("B2", "", "<v>0</v>"), "| Sum | 0 |", ""},
		"a zero next to another value": {`<calcPr fullCalcOnLoad="1"/>`, f("B2", "", "<v>0</v>") + f("C2", "", "<v>5</v>"), "| Sum | 0 | 5 |", ""},
		"a zero that is no formula":    {`<calcPr fullCalcOnLoad="1"/>`, n("B2", "0", "0"), "| Sum | 0 |", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(officetest.Xlsx(t, row("1", s("A1", "Item")+s("B1", "Price"))+row("2", s("A2", "Sum")+c.cells), "", map[string]string{
				"xl/workbook.xml": officetest.XML("workbook", `<sheets><sheet name="Costs" r:id="a"/></sheets>`+c.workbook),
			}), extract.Limits{})
			if err != nil || len(doc.Pages) != 1 || !strings.HasSuffix(doc.Pages[0].Markdown, "\n"+c.want+"\n") || strings.Join(doc.Notes, "") != c.note {
				t.Errorf("%+v, %v, want %s", doc, err, c.want)
			}
		})
	}
}
