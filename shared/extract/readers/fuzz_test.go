package readers_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"docent/shared/extract"
	"docent/shared/extract/readers"
	"docent/shared/extract/readers/officetest"
)

// small bounds what fuzzed files may cost, so that a limit that does not hold is seen.
var small = extract.Limits{Text: 100_000, Pages: 20, Inflated: 4 << 20}

// check fails if reading the file panics, hangs, fails in a way that is no client's to read, or returns more than allowed.
func check(t *testing.T, mediaType string, file []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	doc, err := readers.Read(ctx, mediaType, bytes.NewReader(file), int64(len(file)), small)
	var e *extract.Error
	if err != nil && !errors.As(err, &e) || ctx.Err() != nil {
		t.Fatalf("%v", err)
	}
	size := 0
	for i, p := range doc.Pages {
		size += len(p.Markdown)
		if !utf8.ValidString(p.Markdown) || !utf8.ValidString(p.Title) || p.Number < 1 || i > 0 && p.Number <= doc.Pages[i-1].Number {
			t.Fatalf("page %+v", p)
		}
	}
	if size > small.Text+small.Pages || len(doc.Pages) > small.Pages {
		t.Fatalf("%d bytes on %d pages", size, len(doc.Pages))
	}
}

func FuzzDocx(f *testing.F) {
	f.Add(paragraph, `<w:style w:type="paragraph" w:styleId="a"><w:name w:val="heading 1"/><w:basedOn w:val="a"/></w:style>`,
		`<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1.%2"/></w:lvl>`+
			`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	f.Add(`<w:p><w:pPr><w:pStyle w:val="a"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:hyperlink r:id="web"><w:r><w:t>x</w:t></w:r>`+
		`</w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`, "", "")
	f.Add(`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="3"/><w:vMerge/></w:tcPr>`+paragraph+`</w:tc><w:tc><w:tbl><w:tr><w:tc/></w:tr></w:tbl></w:tc></w:tr></w:tbl>`, "", "")
	f.Add(`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "http://x"</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>y</w:t>`+
		`<w:fldChar w:fldCharType="end"/></w:r><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>`+paragraph+`</w:txbxContent></mc:Choice></mc:AlternateContent></w:r></w:p>`, "", "")
	f.Fuzz(func(t *testing.T, body, styles, numbering string) {
		check(t, extract.DOCX, officetest.Docx(t, body, map[string]string{
			"word/styles.xml": officetest.XML("w:styles", styles), "word/numbering.xml": officetest.XML("w:numbering", numbering),
			"word/footnotes.xml": officetest.XML("w:footnotes", `<w:footnote w:id="2">`+paragraph+`</w:footnote>`)}))
	})
}

func FuzzXlsx(f *testing.F) {
	f.Add(`<row r="1"><c r="A1" s="1"><v>45292.5</v></c><c r="C1" t="inlineStr"><is><t>x</t></is></c></row><row r="5"><c t="s"><v>0</v></c></row>`,
		`<mergeCells><mergeCell ref="A1:B9"/></mergeCells>`, `0.00" M";[Red]-0`)
	f.Add(`<row><c s="1"><v>-1e300</v></c><c s="1"><v>0.1</v></c></row>`, "", `[h]:mm:ss`)
	f.Add(`<row><c s="1"><v>2958465</v></c></row>`, "", `[$€-407]#,##0.00,,;(0)`)
	f.Add(`<row><c s="1"><v>59</v></c></row>`, "", `dd/mm/yyyy hh:mm AM/PM`)
	f.Fuzz(func(t *testing.T, rows, after, code string) {
		check(t, extract.XLSX, officetest.Xlsx(t, rows, after, map[string]string{
			"xl/sharedStrings.xml": officetest.XML("sst", "<si><t>shared</t></si>"),
			"xl/styles.xml": officetest.XML("styleSheet", `<numFmts><numFmt numFmtId="164" formatCode="`+escaped(code)+
				`"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>`)}))
	})
}

// escaped returns text for an attribute of XML.
func escaped(text string) string {
	var b bytes.Buffer
	for _, r := range text {
		switch {
		case r == '"' || r == '&' || r == '<':
			b.WriteString(map[rune]string{'"': "&quot;", '&': "&amp;", '<': "&lt;"}[r])
		case r >= ' ' && r != utf8.RuneError:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func FuzzPptx(f *testing.F) {
	f.Add(`<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:pPr lvl="9"/><a:r><a:rPr><a:hlinkClick r:id="x"/></a:rPr><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>`)
	f.Add(`<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc vMerge="1"><a:txBody><a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`)
	f.Fuzz(func(t *testing.T, slide string) {
		check(t, extract.PPTX, officetest.Pptx(t, []string{slide, slide}, map[string]string{
			"ppt/slides/_rels/slide1.xml.rels": officetest.Relations("n notesSlide slide2.xml")}))
	})
}

func FuzzRST(f *testing.F) {
	f.Add([]byte("\ufeffTitle\n=====\n\n* one\n\n.. note:: `a`_\n"))
	f.Add([]byte("a\xff\x00"))
	f.Fuzz(func(t *testing.T, file []byte) { check(t, extract.RST, file) })
}

// FuzzArchive changes bytes of whole files.
func FuzzArchive(f *testing.F) {
	f.Add(0, officetest.Docx(f, paragraph, nil))
	f.Add(1, officetest.Xlsx(f, "<row>"+cell("A1", "1")+"</row>", "", nil))
	f.Add(2, officetest.Pptx(f, []string{""}, nil))
	f.Add(0, compound("EncryptedPackage"))
	f.Add(1, manyParts(3))
	f.Fuzz(func(t *testing.T, kind int, file []byte) {
		check(t, []string{extract.DOCX, extract.XLSX, extract.PPTX}[uint(kind)%3], file)
	})
}
