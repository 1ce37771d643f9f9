package xlsx_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/officetest"
	"docent/shared/extract/readers/xlsx"
)

const (
	sharedStrings = `<si><t>City</t></si><si><r><t>Ro</t></r><r><t>me</t></r><rPh><t>ro-mu</t></rPh></si><si><t>  </t></si>` +
		`<si><r><t>Area m</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r></si>`
)

var (
	styles = `<numFmts><numFmt numFmtId="164" formatCode="#,##0.00\ [$€-407]"/><numFmt numFmtId="165" formatCode="dd/mm/yyyy\ hh:mm"/>` +
		`<numFmt numFmtId="166" formatCode="&quot;d&quot;0"/><numFmt numFmtId="167" formatCode="0.0,,&quot; M&quot;"/><numFmt numFmtId="168" formatCode="000"/><numFmt numFmtId="169" formatCode="` + longCode + `"/></numFmts>` +
		`<fonts><font><name val="Arial"/></font><font><sz val="11"/><name val="Wingdings"/></font><font><strike/></font></fonts><cellXfs>` +
		`<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/>` +
		`<xf numFmtId="46"/><xf numFmtId="166"/><xf numFmtId="44"/><xf numFmtId="167"/><xf numFmtId="168"/><xf numFmtId="169"/><xf numFmtId="0" fontId="1"/><xf numFmtId="8" fontId="2"/></cellXfs>`
)

var longCode = strings.Repeat("0&quot;x&quot;", 300)

func row(number, cells string) string { return `<row r="` + number + `">` + cells + "</row>" }

func n(ref, style, value string) string {
	return `<c r="` + ref + `" s="` + style + `"><v>` + value + "</v></c>"
}

func s(ref, text string) string {
	return `<c r="` + ref + `" t="inlineStr"><is><t>` + text + "</t></is></c>"
}

func read(file []byte, limits extract.Limits) (extract.Document, error) {
	return xlsx.Read(context.Background(), bytes.NewReader(file), int64(len(file)), limits)
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rows, after, want string }{
		{"shared strings without how they are pronounced, with what stands above the line, and numbers",
			row("1", `<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>3</v></c>`) + row("2", n("A2", "0", "0.30000000000000004")+n("B2", "0", "1e10")), "",
			"| City | Rome | Area m² |\n| --- | --- | --- |\n| 0.3 | 10000000000 | |\n"},
		{"dates, times and spans of time",
			row("1", s("A1", "day")+s("B1", "at")+s("C1", "both")+s("D1", "span")) +
				row("2", n("A2", "1", "45292")+n("B2", "5", "0.75")+n("C2", "4", "45292.5")+n("D2", "6", "1.5")) +
				row("3", n("A3", "1", "59")+n("B3", "1", "61")+n("C3", "1", "-1")+n("D3", "1", "99999999")), "",
			"| day | at | both | span |\n| --- | --- | --- | --- |\n| 2024-01-01 | 18:00 | 2024-01-01 12:00 | 36:00:00 |\n| 1900-02-28 | 1900-03-01 | -1 | 99999999 |\n"},
		{"percentages, currencies, literal letters and millions",
			row("1", n("A1", "2", "0.1234")+n("B1", "3", "-1234.5")+n("C1", "7", "5")+n("D1", "8", "1234.5")+n("E1", "9", "2500000")+n("F1", "10", "-7")), "",
			"| 12.34% | -1,234.50 € | d5 | $1,234.50 | 2.5 M | -007 |\n| --- | --- | --- | --- | --- | --- |\n"},
		{"formulas have the values that they had",
			row("1", `<c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>"a"</f><v>text</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#N/A</v></c>`), "",
			"| 2 | text | TRUE | #N/A |\n| --- | --- | --- | --- |\n"},
		{"codes of characters that XML cannot hold",
			row("1", s("A1", "one_x000D_\ntwo")+s("B1", "_x005F_x000D_ _x00e9_ _xD83D_ my_xabc_")+`<c r="C1" t="str"><v>a_x0009_b</v></c>`), "",
			"| one two | _x000D_ é my_xabc_ | a b |\n| --- | --- | --- |\n"},
		{"merged cells are repeated in each row",
			row("1", s("A1", "Region")+s("B1", "City")) + row("2", s("A2", "North")+s("B2", "Oslo")) + row("3", s("B3", "Bergen")) + row("4", s("A4", "South")+s("B4", "Rome")),
			`<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="bad"/></mergeCells>`,
			"| Region | City |\n| --- | --- |\n| North | Oslo |\n| North | Bergen |\n| South | Rome |\n"},
		{"merged cells of several rows and columns, in any order, and one that begins in a merged one",
			row("1", s("A1", "a")+s("B1", "b")+s("C1", "c")+s("D1", "d")) + row("2", s("B2", "e")+s("D2", "f")) + row("3", s("D3", "g")) + row("4", s("A4", "h")+s("D4", "i")),
			`<mergeCells><mergeCell ref="C1:C4"/><mergeCell ref="B2:B3"/><mergeCell ref="A1:A3"/><mergeCell ref="A2:A9"/><mergeCell ref="E1:E4"/></mergeCells>`,
			"| a | b | c | d |\n| --- | --- | --- | --- |\n| a | e | c | f |\n| a | e | c | g |\n| h | | c | i |\n"},
		{"rows whose cells are further left, and further right",
			row("1", s("C1", "a")+s("D1", "b")) + row("2", s("A2", "c")+s("B2", "d")) + row("3", s("E3", "e")+n("F3", "0", "1")) + row("5", n("F5", "0", "2")+s("A5", "f")), "",
			"| | | a | b | | |\n| --- | --- | --- | --- | --- | --- |\n| c | d | | | | |\n| | | | | e | 1 |\n| f | | | | | 2 |\n"},
		{"a format that is too long for one, and blank strings",
			row("1", `<c r="A1" t="s"><v>2</v></c>`+n("B1", "11", "5")+n("C1", "0", "6")), "",
			"| 5 | 6 |\n| --- | --- |\n"},
		{"ticks of symbol fonts, and texts of which only a part may have one",
			row("1", s("A1", "Free")+`<c r="B1" s="12" t="inlineStr"><is><t>ü</t></is></c><c r="C1" s="12" t="str"><v>û</v></c>`) +
				row("2", s("A2", "Über")+`<c r="B2" s="12" t="inlineStr"><is><r><t>only </t></r><r><rPr><rFont val="Wingdings"/></rPr><t>à</t></r><r><t>à b</t></r></is></c>`+
					n("C2", "12", "5")), "",
			"| Free | ✓ | ✗ |\n| --- | --- | --- |\n| Über | only →à b | 5 |\n"},
		{"what is struck through: a number, a text, a part of one, and a value that is not",
			row("1", n("A1", "13", "50")+`<c r="B1" s="13" t="inlineStr"><is><t>old</t></is></c>`) +
				row("2", `<c r="A2" t="inlineStr"><is><r><rPr><strike/></rPr><t>5</t></r><r><rPr><b/><strike val="1"/></rPr><t>0 </t></r><r><rPr><strike val="0"/></rPr><t>40</t></r></is></c>`+n("B2", "8", "40")), "",
			"| ~~$50.00~~ | ~~old~~ |\n| --- | --- |\n| ~~50~~ 40 | $40.00 |\n"},
		{"a title above a table, and a second table below it",
			row("1", s("B1", "Costs of 2024")) + row("3", s("B3", "a")+s("C3", "b")) + row("4", n("B4", "0", "1")+n("C4", "0", "2")) +
				row("6", n("B6", "0", "3")+n("C6", "0", "4")) + row("8", s("F8", "c")+s("G8", "d")) + row("9", s("F9", "e")+s("G9", "f")), "",
			"Costs of 2024\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\n| c | d |\n| --- | --- |\n| e | f |\n"},
		{"rows and cells out of order, and without names",
			row("2", s("B2", "d")+s("A2", "c")) + row("1", s("A1", "a")+s("B1", "b")) + `<row>` + "</row>", "",
			"| a | b |\n| --- | --- |\n| c | d |\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(officetest.Xlsx(t, c.rows, c.after, map[string]string{
				"xl/sharedStrings.xml": officetest.XML("sst", sharedStrings), "xl/styles.xml": officetest.XML("styleSheet", styles),
			}), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := "# Costs\n\n" + c.want
			if len(doc.Pages) != 1 || doc.Pages[0].Title != "Costs" || doc.Pages[0].Markdown != want {
				t.Errorf("got %+v, want %s", doc.Pages, want)
			}
		})
	}
}

func TestHiddenSheetIsLeftOutAndSaid(t *testing.T) {
	t.Parallel()
	doc, err := read(officetest.Xlsx(t, row("1", s("A1", "secret")), "", map[string]string{
		"xl/workbook.xml": officetest.XML("workbook", `<sheets><sheet name="Old" state="veryHidden" r:id="a"/><sheet name="Chart" r:id="x"/></sheets>`),
	}), extract.Limits{})
	if err != nil || len(doc.Pages) != 0 || strings.Join(doc.Notes, "") != "The sheet Old is hidden and was left out." {
		t.Errorf("%+v, %v", doc, err)
	}
}

func TestYearsCountFrom1904WhereTheWorkbookSaysSo(t *testing.T) {
	t.Parallel()
	doc, err := read(officetest.Xlsx(t, row("1", n("A1", "1", "0")), "", map[string]string{
		"xl/workbook.xml": officetest.XML("workbook", `<workbookPr date1904="1"/><sheets><sheet name="S" r:id="a"/></sheets>`),
		"xl/styles.xml":   officetest.XML("styleSheet", styles),
	}), extract.Limits{})
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != "# S\n\n1904-01-01\n" {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestSeveralListsOfStrings, which no program writes: the first one is read, each time.
func TestSeveralListsOfStrings(t *testing.T) {
	t.Parallel()
	file := officetest.Xlsx(t, row("1", `<c r="A1" t="s"><v>0</v></c>`), "", map[string]string{
		"xl/_rels/workbook.xml.rels": officetest.Relations("a worksheet worksheets/sheet1.xml", "c sharedStrings second.xml", "b sharedStrings first.xml"),
		"xl/first.xml":               officetest.XML("sst", "<si><t>first</t></si>"),
		"xl/second.xml":              officetest.XML("sst", "<si><t>second</t></si>"),
	})
	for range 20 { // the order of a map differs each time
		doc, err := read(file, extract.Limits{})
		if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != "# Costs\n\nfirst\n" {
			t.Fatalf("%+v, %v", doc, err)
		}
	}
}

// TestHiddenRowsAndColumns are left out if somebody has hidden them: other programs differ, and hidden sheets are left out too. What a
// filter or a folded group hides is data of which a part is in view.
func TestHiddenRowsAndColumns(t *testing.T) {
	t.Parallel()
	hide := func(row, more string) string { return strings.Replace(row, "<row ", `<row hidden="1" `+more, 1) }
	rows := row("1", s("A1", "City")+s("B1", "Pay")+s("C1", "Year")) + hide(row("2", s("A2", "Rome")+n("B2", "0", "1")+n("C2", "0", "2")), "") +
		row("3", s("A3", "Oslo")+n("B3", "0", "3")+n("C3", "0", "4"))
	const (
		all     = "| City | Pay | Year |\n| --- | --- | --- |\n| Rome | 1 | 2 |\n| Oslo | 3 | 4 |\n"
		noRow   = "| City | Pay | Year |\n| --- | --- | --- |\n| Oslo | 3 | 4 |\n"
		columns = `<cols><col min="1" max="1"/><col min="2" max="2" hidden="1"/></cols>`
	)
	filter := `<autoFilter ref="A1:C3"><filterColumn colId="0"/></autoFilter>`
	for _, c := range []struct {
		name, before, rows, after, table, want string
		leftOut                                bool
	}{
		{"a row", "", rows, "", "", noRow, true},
		{"a row, and arrows of a filter that hides nothing", "", rows, `<autoFilter ref="A1:C3"/>`, "", noRow, true},
		{"a row and a column", columns, rows, "", "", "| City | Year |\n| --- | --- |\n| Oslo | 4 |\n", true},
		{"a row that a filter hides", "", rows, filter, "", all, false},
		{"a row that another kind of filter hides", `<sheetPr filterMode="1"/>`, rows, "", "", all, false},
		{"a row that the filter of a table hides", "", rows, `<tableParts><tablePart r:id="t"/></tableParts>`, filter, all, false},
		{"a row in a table without a filter", "", rows, `<tableParts><tablePart r:id="t"/></tableParts>`, "<tableColumns/>", noRow, true},
		{"a row and a column of folded groups", `<cols><col min="2" max="2" hidden="1" outlineLevel="1"/></cols>`, strings.Replace(rows, `hidden="1"`, `hidden="1" outlineLevel="1"`, 1),
			"", "", all, false},
		{"columns without text", `<cols><col min="4" max="16384" hidden="true"/></cols>`, row("1", s("A1", "a")+s("B1", "b")), "", "", "| a | b |\n| --- | --- |\n", false},
		{"a merged cell that begins in a hidden column and row", columns + "", hide(row("1", s("B1", "Title")), "") + row("2", s("A2", "a")+s("D2", "b")) + row("3", s("A3", "c")+s("D3", "d")),
			`<mergeCells><mergeCell ref="B1:C3"/><mergeCell ref="ZZZZ1:ZZZZ2"/></mergeCells>`, "", "| a | Title | b |\n| --- | --- | --- |\n| c | Title | d |\n", true},
		{"all", `<cols><col min="1" max="99999"/><col min="1" max="9" hidden="1"/></cols>`, rows, "", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(officetest.Xlsx(t, "", "", map[string]string{
				"xl/worksheets/sheet1.xml":            officetest.XML("worksheet", c.before+"<sheetData>"+c.rows+"</sheetData>"+c.after),
				"xl/worksheets/_rels/sheet1.xml.rels": officetest.Relations("t table ../tables/table1.xml"),
				"xl/tables/table1.xml":                officetest.XML("table", c.table),
			}), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := "", c.want
			for _, p := range doc.Pages {
				got += strings.TrimPrefix(p.Markdown, "# Costs\n\n")
			}
			if leftOut := strings.Join(doc.Notes, "") == "Hidden rows or columns of the sheet Costs were left out."; got != want || leftOut != c.leftOut {
				t.Errorf("got %s and %q, want %s", got, doc.Notes, want)
			}
		})
	}
}
