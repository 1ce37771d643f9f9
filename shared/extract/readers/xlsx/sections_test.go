package xlsx_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/officetest"
)

func TestSectionsOfAFormat(t *testing.T) {
	t.Parallel()
	const accounting = `_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-`
	for _, c := range []struct{ code, value, want string }{
		{`#,##0.00_);(#,##0.00)`, "1234.5", "1,234.50"},
		{`#,##0.00_);(#,##0.00)`, "-1234.5", "(1,234.50)"},
		{`#,##0.00_);(#,##0.00)`, "0", "0.00"},
		{`_($* #,##0_);_($* \(#,##0\);_($* "-"_);_(@_)`, "-1234", "$(1,234)"},
		{`_($* #,##0_);_($* \(#,##0\);_($* "-"_);_(@_)`, "0", "$-"},
		{accounting, "1234.5", "1,234.50 €"},
		{accounting, "-1234.5", "-1,234.50 €"},
		{accounting, "0", "- €"},
		{accounting, "text", "text"},
		{`#,##0;[Red]#,##0`, "-5", "-5"}, // only a color would say that it is negative
		{`0;[Red]-0`, "-5", "-5"},
		{`"+"0;"−"0;"±"0`, "-5", "−5"},
		{`"+"0;"−"0;"±"0`, "0", "±0"},
		{`0.0%;[Red]\(0.0%\)`, "-0.125", "(12.5%)"},
		{`General" kg"`, "5.5", "5.5 kg"},
		{`General;[Red]\-General`, "-5.5", "-5.5"},
		{`"yes";"error";"no"`, "1", "yes"},
		{`"yes";"error";"no"`, "-1", "error"},
		{`"yes";"error";"no"`, "0", "no"},
		{`0;-0;;@`, "0", ""},
		{`;;;`, "5", ""},
		{`;;;`, "-5", ""},
		{`;;;`, "hidden", ""},
		{`0;0;0;"unknown"`, "x", "unknown"},
		{`@" (draft)"`, "Plan", "Plan (draft)"},
		{`@`, "-5", "-5"},
		{`[$-409]yyyy\-mm\-dd;@`, "45292", "2024-01-01"},
		{`[$-409]yyyy\-mm\-dd;@`, "later", "later"},
		{`[>=1000000]0.0,,"M";[>=1000]0.0,"K";0`, "2500000", "2.5M"},
		{`[>=1000000]0.0,,"M";[>=1000]0.0,"K";0`, "2500", "2.5K"},
		{`[>=1000000]0.0,,"M";[>=1000]0.0,"K";0`, "-25", "-25"},
		{`[=1]0" day";0" days"`, "1", "1 day"},
		{`[=1]0" day";0" days"`, "-2", "-2 days"},
		{`[<0]"below";0`, "-2", "below"},
		{`[>5]0;[<-5]0`, "2", "2"}, // none of the sections
		{`[<-10]0" C"`, "-11", "-11 C"},
		{`[<0]\(0\);0`, "-11", "(11)"},
		{`"a;b"0;\;0`, "-5", ";5"},
		{`#,###`, "0", ""},
		{`0.##`, "5", "5"},
		{`0.##`, "5.126", "5.13"},
		{`#,##0.0#`, "-1234.5", "-1,234.5"},
		{`0.##%`, "0.5", "50%"},
		{`$000,000,000`, "314159", "$000,314,159"},
		{`0.00000000000000000###`, "1", "1.000000000000000"},
		{`000\-00\-0000`, "12345678", "012-34-5678"},
		{`00000\-0000`, "941050011", "94105-0011"},
		{`[<=9999999]###\-####;\(###\)\ ###\-####`, "5551234", "555-1234"},
		{`[<=9999999]###\-####;\(###\)\ ###\-####`, "4155551234", "(415) 555-1234"},
		{`[<=9999999]###\-####;\(###\)\ ###\-####`, "34155551234", "(3415) 555-1234"},
		{`00"–"00" (old)"`, "-123", "-01–23 (old)"},
		{`0\-0,000`, "12345", "12,345-"}, // no Excel format has both
		{`# ?/?;-# ?/?`, "-0.5", "-1/2"},
		{`# ?/?`, "5.25", "5 1/4"},
		{`# ?/?`, "0.333333333333333", "1/3"},
		{`# ?/?`, "2.99", "3"},
		{`# ?/?`, "0", "0"},
		{`# ?/?`, "-1.75", "-1 3/4"},
		{`?/?`, "1.75", "7/4"},
		{`# ??/??`, "3.14159265", "3 1/7"},
		{`# ???/???`, "3.14159265", "3 16/113"},
		{`# ?/2`, "1.5", "1 1/2"},
		{`# ??/16`, "0.5", "8/16"},
		{`# ??/100`, "0.3", "30/100"},
		{`# ?/?" in"`, "0.75", "3/4 in"},
		{`# ????/????`, "0.5", "0.5"}, // not a format of Excel
		{`?/0`, "0.5", "1/2"},
		{`?/`, "0.5", "0.5"},
		{`0;0;0;0;0`, "1", "1"},
		{`0`, "2.5", "3"}, // halves are rounded up, and 15 digits count
		{`0`, "-2.5", "-3"},
		{`0.00`, "0.125", "0.13"},
		{`0.00`, "1.005", "1.01"},
		{`0.00`, "1.00499999999999", "1.00"},
		{`0%`, "0.285", "29%"},
		{`0.0,`, "1250", "1.3"},
		{`#,##0.0`, "999.95", "1,000.0"},
		{`0.000`, "0.0000000000001", "0.000"},
		{`[`, "1", "1"},
		{`"`, "1", "1"},
	} {
		t.Run(c.code+" of "+c.value, func(t *testing.T) {
			t.Parallel()
			var code strings.Builder
			_ = xml.EscapeText(&code, []byte(c.code))
			cell := n("A1", "1", c.value)
			if strings.ContainsAny(c.value, "adehilntx") {
				cell = strings.Replace(s("A1", c.value), " t=", ` s="1" t=`, 1)
			}
			doc, err := read(officetest.Xlsx(t, row("1", cell+s("B1", "|")), "", map[string]string{
				"xl/styles.xml": officetest.XML("styleSheet", `<numFmts><numFmt numFmtId="164" formatCode="`+code.String()+`"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>`),
			}), extract.Limits{})
			want := "# Costs\n\n| " + c.want + " | \\| |\n| --- | --- |\n"
			if c.want == "" {
				want = "# Costs\n\n|\n" // of one cell
			}
			if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
				t.Errorf("%+v, %v, want %q", doc.Pages, err, want)
			}
		})
	}
}

func TestFractionsThatExcelDoesNotWriteDown(t *testing.T) {
	t.Parallel()
	doc, err := read(officetest.Xlsx(t, row("1", n("A1", "1", "0.25")+n("B1", "2", "0.52")), "", map[string]string{
		"xl/styles.xml": officetest.XML("styleSheet", `<cellXfs><xf numFmtId="0"/><xf numFmtId="12"/><xf numFmtId="13"/></cellXfs>`),
	}), extract.Limits{})
	if err != nil || len(doc.Pages) != 1 || !strings.Contains(doc.Pages[0].Markdown, "| 1/4 | 13/25 |") {
		t.Errorf("%+v, %v", doc.Pages, err)
	}
}
