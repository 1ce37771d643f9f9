package readers_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"
	"time"

	"docent/shared/extract"
	"docent/shared/extract/readers"
	"docent/shared/extract/readers/officetest"
)

// attack is a hostile file and the message for the client. Reading it allocates at most most MB in all its time.
type attack struct {
	name, mediaType string
	file            func(t testing.TB) []byte
	limits          extract.Limits
	want            string // page and reason; "" if the file can be read
	most            uint64
}

const paragraph = "<w:p><w:r><w:t>text</w:t></w:r></w:p>"

func docx(body string, more map[string]string) func(testing.TB) []byte {
	return func(t testing.TB) []byte { return officetest.Docx(t, body, more) }
}

func xlsx(rows, after string, more map[string]string) func(testing.TB) []byte {
	return func(t testing.TB) []byte { return officetest.Xlsx(t, rows, after, more) }
}

func rst(text string) func(testing.TB) []byte { return func(testing.TB) []byte { return []byte(text) } }

func cell(ref, value string) string { return `<c r="` + ref + `"><v>` + value + "</v></c>" }

// diagonal returns rows that have one cell each, in columns of their own.
func diagonal(n int) string {
	var b strings.Builder
	for i := range n {
		name := string([]byte{'A' + byte(i/676%26), 'A' + byte(i/26%26), 'A' + byte(i%26)})
		fmt.Fprintf(&b, `<row r="%d">%s%s</row>`, i+1, cell(fmt.Sprint("A", i+1), "1"), cell(fmt.Sprint(name, i+1), "1"))
	}
	return b.String()
}

// manyRelations returns n relations to addresses of so many bytes.
func manyRelations(n, size int) string {
	all, address := make([]string, n), " hyperlink https://docent.test/"+strings.Repeat("x", size-len("https://docent.test/"))
	for i := range all {
		all[i] = fmt.Sprint("r", i, address)
	}
	return officetest.Relations(all...)
}

// longNote has a footnote 2 of half a megabyte.
var longNote = map[string]string{
	"word/footnotes.xml": officetest.XML("w:footnotes", `<w:footnote w:id="2"><w:p><w:r><w:t>`+random(500<<10)+`</w:t></w:r></w:p></w:footnote>`)}

var attacks = []attack{
	{
		name: "a part that expands a thousand times", mediaType: extract.DOCX, most: 60,
		file: docx(strings.Repeat(" ", 40<<20), nil), want: "0: A part of the file expands to more than 400 times its size.",
	},
	{
		name: "slides that expand one part again and again", mediaType: extract.PPTX, most: 60,
		limits: extract.Limits{Inflated: 8 << 20},
		file: func(t testing.TB) []byte {
			var ids strings.Builder
			for i := range 100 {
				fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="slide1"/>`, i)
			}
			noise := officetest.XML("p:sld", "<!--"+random(1<<20)+"-->")
			return officetest.Pptx(t, []string{""}, map[string]string{
				"ppt/presentation.xml": officetest.XML("p:presentation", "<p:sldIdLst>"+ids.String()+"</p:sldIdLst>"), "ppt/slides/slide1.xml": noise,
			})
		},
		want: "8: The file expands to more than 8 MB.",
	},
	{
		name: "a part that is larger than the archive says", mediaType: extract.DOCX, most: 5,
		file: func(t testing.TB) []byte { return lyingZip(t) }, want: "0: The part word/document.xml is damaged.",
	},
	{
		name: "an archive of a million parts", mediaType: extract.XLSX, most: 120,
		file: func(testing.TB) []byte { return manyParts(300_000) }, want: "0: The file has more than 20000 parts.",
	},
	{
		name: "elements a hundred thousand deep", mediaType: extract.DOCX, most: 5,
		file: docx(strings.Repeat("<w:sdt><w:sdtContent>", 50_000), nil), want: "0: The part word/document.xml nests elements more than 300 deep.",
	},
	{
		name: "entities that contain each other", mediaType: extract.DOCX, most: 5,
		file: docx("", map[string]string{"word/document.xml": `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` +
			`<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`}),
		want: "0: The part word/document.xml declares a document type, which no Office file does.",
	},
	{
		name: "an entity that reads a file of the server", mediaType: extract.XLSX, most: 5,
		file: xlsx("", "", map[string]string{"xl/workbook.xml": `<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><workbook>&x;</workbook>`}),
		want: "0: The part xl/workbook.xml declares a document type, which no Office file does.",
	},
	{
		name: "an entity that nothing declares", mediaType: extract.DOCX, most: 5,
		file: docx("<w:p><w:r><w:t>&xxe;</w:t></w:r></w:p>", nil), want: "0: The part word/document.xml is damaged.",
	},
	{
		name: "a slide that is its own notes", mediaType: extract.PPTX, most: 5,
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{"<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"},
				map[string]string{"ppt/slides/_rels/slide1.xml.rels": officetest.Relations("n notesSlide slide1.xml", "m slide slide1.xml")})
		},
	},
	{
		name: "a document that is its own styles and notes", mediaType: extract.DOCX, most: 5,
		file: docx(paragraph, map[string]string{"word/_rels/document.xml.rels": officetest.Relations("s styles document.xml", "n numbering document.xml", "f footnotes document.xml")}),
	},
	{
		name: "a document at an address of the network", mediaType: extract.DOCX, most: 5,
		file: docx(paragraph, map[string]string{"_rels/.rels": officetest.Relations("rId1 officeDocument http://127.0.0.1:1/document.xml")}),
		want: "0: The file is not a Word document.",
	},
	{
		name: "a part outside the archive", mediaType: extract.DOCX, most: 5,
		file: docx(paragraph, map[string]string{"_rels/.rels": officetest.Relations("rId1 officeDocument ../../../../etc/passwd")}),
		want: "0: The file is not a Word document.",
	},
	{
		name: "one long note that a thousand marks repeat", mediaType: extract.DOCX, most: 60, limits: extract.Limits{Text: 1 << 20},
		file: docx("<w:p>"+strings.Repeat(`<w:r><w:footnoteReference w:id="2"/></w:r>`, 1000)+"</w:p>", map[string]string{
			"word/footnotes.xml": officetest.XML("w:footnotes", `<w:footnote w:id="2"><w:p><w:r><w:t>`+random(500<<10)+`</w:t></w:r></w:p></w:footnote>`)}),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "a text that is one word of many megabytes", mediaType: extract.DOCX, most: 150,
		file: docx("<w:p><w:r><w:t>"+random(18<<20)+"</w:t></w:r></w:p>", nil), want: "0: The part word/document.xml has a text of more than 16 MB.",
	},
	{
		name: "a thousand links to one address of a megabyte", mediaType: extract.DOCX, most: 100,
		file: docx("<w:p>"+strings.Repeat(`<w:hyperlink r:id="long"><w:r><w:t>a </w:t></w:r></w:hyperlink>`, 1000)+"</w:p>", map[string]string{
			"word/_rels/document.xml.rels": officetest.Relations("long hyperlink https://docent.test/" + strings.ToUpper(random(1<<20)))}),
	},
	{
		name: "one long note that the paragraphs of a cell repeat", mediaType: extract.DOCX, most: 60, limits: extract.Limits{Text: 1 << 20},
		file: docx("<w:tbl><w:tr><w:tc>"+strings.Repeat(`<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`, 1000)+"</w:tc></w:tr></w:tbl>", map[string]string{
			"word/footnotes.xml": officetest.XML("w:footnotes", `<w:footnote w:id="2"><w:p><w:r><w:t>`+random(500<<10)+`</w:t></w:r></w:p></w:footnote>`)}),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "a row that begins behind millions of columns", mediaType: extract.DOCX, most: 5,
		file: docx("<w:tbl><w:tr><w:trPr>"+strings.Repeat(`<w:gridBefore w:val="200"/>`, 100_000)+"</w:trPr></w:tr></w:tbl>", nil),
		want: "0: A table has more than 200 columns.",
	},
	{
		name: "a wide row above many rows of one cell", mediaType: extract.DOCX, most: 120,
		file: docx("<w:tbl><w:tr>"+strings.Repeat("<w:tc>"+paragraph+"</w:tc>", 200)+"</w:tr>"+strings.Repeat("<w:tr><w:tc>"+paragraph+"</w:tc></w:tr>", 30_000)+"</w:tbl>", nil),
		want: "0: The file has more than 10 MB of text.",
	},
	{
		name: "a wide row above many rows of one cell, on a slide", mediaType: extract.PPTX, most: 60,
		file: func(t testing.TB) []byte {
			cell := "<a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc>"
			return officetest.Pptx(t, []string{"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>" + strings.Repeat(cell, 1000) + "</a:tr>" +
				strings.Repeat("<a:tr>"+cell+"</a:tr>", 10_000) + "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"}, nil)
		},
		want: "1: The file has more than 10 MB of text.",
	},
	{
		name: "a list whose label is a megabyte of numbers", mediaType: extract.DOCX, most: 60,
		file: docx(strings.Repeat(`<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:p>`, 1000), map[string]string{
			"word/numbering.xml": officetest.XML("w:numbering", `<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="`+
				strings.Repeat("%1", 500_000)+`"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`)}),
	},
	{
		name: "slides at an address of a megabyte", mediaType: extract.PPTX, most: 60,
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{""}, map[string]string{
				"ppt/presentation.xml":            officetest.XML("p:presentation", "<p:sldIdLst>"+strings.Repeat(`<p:sldId id="1" r:id="long"/>`, 1000)+"</p:sldIdLst>"),
				"ppt/_rels/presentation.xml.rels": officetest.Relations("long slide " + strings.ToUpper(random(1<<20)))})
		},
	},
	{
		name: "more slides than there are, which lead nowhere", mediaType: extract.PPTX, most: 60,
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{""}, map[string]string{
				"ppt/presentation.xml": officetest.XML("p:presentation", "<p:sldIdLst>"+strings.Repeat(`<p:sldId id="1" r:id="x"/>`, 5001)+"</p:sldIdLst>")})
		},
		want: "0: The file has more than 5000 slides.",
	},
	{
		name: "a format of a hundred thousand letters", mediaType: extract.XLSX, most: 20,
		file: xlsx("<row>"+strings.Repeat(`<c s="0"><v>1</v></c>`, 100)+"</row>", "", map[string]string{
			"xl/styles.xml": officetest.XML("styleSheet", `<numFmts><numFmt numFmtId="200" formatCode="`+strings.Repeat("0&quot;x&quot;", 25_000)+`"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs>`)}),
	},
	{
		name: "a hundred thousand links in one paragraph", mediaType: extract.DOCX, most: 400,
		file: docx("<w:p>"+strings.Repeat(`<w:hyperlink r:id="web"><w:r><w:t>a </w:t></w:r></w:hyperlink>`, 100_000)+"</w:p>", nil),
	},
	{
		name: "relations of 48 MB", mediaType: extract.DOCX, most: 150,
		file: docx(paragraph, map[string]string{"word/_rels/document.xml.rels": manyRelations(12_000, 4_000)}),
		want: "0: The addresses of what the part word/document.xml points to have more than 32 MB.",
	},
	{
		name: "a table with cells over two billion columns", mediaType: extract.DOCX, most: 20,
		file: docx("<w:tbl><w:tr>"+strings.Repeat(`<w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr></w:tc>`, 1000)+"</w:tr></w:tbl>", nil),
		want: "0: A table has more than 200 columns.",
	},
	{
		name: "a million cells above the limit of text", mediaType: extract.XLSX, most: 700, limits: extract.Limits{Text: 1 << 20},
		file: xlsx(strings.Repeat("<row>"+strings.Repeat("<c><v>1</v></c>", 100)+"</row>", 10_000), "", nil),
		want: "1: The file has more than 1 MB of text.",
	},
	{
		name: "cells far apart, with millions of empty ones between", mediaType: extract.XLSX, most: 60,
		file: xlsx(diagonal(4000), "", nil), want: "1: The file has more than 10 MB of text.",
	},
	{
		name: "merged cells over every row, a hundred thousand times", mediaType: extract.XLSX, most: 300,
		file: xlsx(strings.Repeat("<row>"+cell("", "1")+"</row>", 2000), "<mergeCells>"+strings.Repeat(`<mergeCell ref="A1:A1048576"/>`, 100_000)+"</mergeCells>", nil),
	},
	{
		name: "a row behind the last", mediaType: extract.XLSX, most: 5,
		file: xlsx(`<row r="999999999">`+cell("A999999999", "1")+"</row>", "", nil),
		want: "1: The sheet has a row 999999999; the last that Excel has is 1048576.",
	},
	{
		name: "a column behind the last", mediaType: extract.XLSX, most: 5,
		file: xlsx("<row>"+cell("ZZZZ1", "1")+"</row>", "", nil), want: "1: The sheet has more than 16384 columns.",
	},
	{
		name: "a string that the workbook does not have", mediaType: extract.XLSX, most: 5,
		file: xlsx(`<row><c t="s"><v>7</v></c><c t="s"><v>-1</v></c><c t="s"><v>x</v></c></row>`, "", nil),
	},
	{
		name: "a password", mediaType: extract.DOCX, most: 10,
		file: func(testing.TB) []byte { return compound("EncryptedPackage") }, want: "0: The file is protected by a password.",
	},
	{
		name: "the binary format of old files", mediaType: extract.XLSX, most: 10,
		file: func(testing.TB) []byte { return compound("Workbook") },
		want: "0: The file has the binary format of Office before 2007. Save it in the current format.",
	},
	{
		name: "an element of two million attributes", mediaType: extract.DOCX, most: 60,
		file: docx("<w:p"+strings.Repeat(` a=""`, 2<<20)+"/>", nil), want: "0: The part word/document.xml has an element of more than 1000 attributes.",
	},
	{
		name: "elements inside each other that declare a million prefixes", mediaType: extract.DOCX, most: 20,
		file: docx(strings.Repeat("<w:sdt"+strings.Repeat(` xmlns:a=""`, 4000)+">", 290), nil),
		want: "0: The part word/document.xml has an element of more than 1000 attributes.",
	},
	{
		name: "a part that expands a thousand times, of which the archive says that it is large", mediaType: extract.DOCX, most: 60,
		file: func(t testing.TB) []byte {
			return largeOnPaper(docx(strings.Repeat(" ", 40<<20), nil)(t), "word/document.xml")
		},
		want: "0: A part of the file expands to more than 400 times its size.",
	},
	{
		name: "millions of shapes without text", mediaType: extract.PPTX, most: 500,
		file: func(t testing.TB) []byte { return officetest.Pptx(t, []string{strings.Repeat("<p:sp/>", 2<<20)}, nil) },
	},
	{
		name: "millions of rows without cells, on a slide", mediaType: extract.PPTX, most: 450,
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>" + strings.Repeat("<a:tr/>", 2<<20) +
				"</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"}, nil)
		},
	},
	{
		name: "tables of cells without text, on a slide", mediaType: extract.PPTX, most: 40, limits: extract.Limits{Text: 100_000},
		file: func(t testing.TB) []byte {
			row := "<a:tr>" + strings.Repeat("<a:tc/>", 500) + "</a:tr>"
			return officetest.Pptx(t, []string{strings.Repeat("<p:graphicFrame><a:graphic><a:graphicData><a:tbl>"+strings.Repeat(row, 50)+
				"</a:tbl></a:graphicData></a:graphic></p:graphicFrame>", 50)}, nil)
		},
		want: "1: The file has more than 0 MB of text.",
	},
	{
		name: "a million paragraphs of a letter, on a slide", mediaType: extract.PPTX, most: 700,
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{"<p:sp><p:txBody>" + strings.Repeat("<p><r><t>a</t></r></p>", 1<<20) + "</p:txBody></p:sp>"}, nil)
		},
		want: "1: The file has more than 10 MB of text.",
	},
	{
		name: "fractions and roots inside each other", mediaType: extract.DOCX, most: 150,
		file: func(t testing.TB) []byte {
			part := strings.Repeat("<m:f><m:num><m:rad><m:e>", 60) + "<m:t>" + strings.Repeat("a+", 2000) + "</m:t>" + strings.Repeat("</m:e></m:rad></m:num></m:f>", 60)
			return officetest.Docx(t, "<w:p>"+strings.Repeat("<m:oMath>"+part+"</m:oMath>", 1000)+"</w:p>", nil)
		},
	},
	{
		name: "a formula of many texts, on a slide", mediaType: extract.PPTX, most: 30, limits: extract.Limits{Text: 1 << 20},
		file: func(t testing.TB) []byte {
			return officetest.Pptx(t, []string{"<p:sp><p:txBody><a:p><m:oMath>" + strings.Repeat("<t>"+strings.Repeat("a", 1<<20)+"</t>", 14) + "</m:oMath></a:p></p:txBody></p:sp>"}, nil)
		},
		want: "1: The file has more than 1 MB of text.",
	},
	{
		name: "millions of rows without cells", mediaType: extract.DOCX, most: 450,
		file: docx("<w:tbl>"+strings.Repeat("<w:tr/>", 2<<20)+"</w:tbl>", nil),
	},
	{
		name: "tables inside each other, each of wide empty rows", mediaType: extract.DOCX, most: 120, limits: extract.Limits{Text: 2 << 20},
		file: docx(strings.Repeat("<w:tbl>"+strings.Repeat(`<w:tr><w:tc><w:tcPr><w:gridSpan w:val="200"/></w:tcPr></w:tc></w:tr>`, 4000)+"<w:tr><w:tc>", 90), nil),
		want: "0: The file has more than 2 MB of text.",
	},
	{
		name: "tables inside each other, each with a cell that repeats a long note", mediaType: extract.DOCX, most: 30, limits: extract.Limits{Text: 1 << 20},
		file: docx(strings.Repeat(`<w:tbl><w:tr><w:tc><w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p><w:p/>`, 90), longNote),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "text boxes inside each other, each with a long note", mediaType: extract.DOCX, most: 30, limits: extract.Limits{Text: 1 << 20},
		file: docx(strings.Repeat(`<w:p><w:r><w:footnoteReference w:id="2"/></w:r><w:txbxContent>`, 90), longNote),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "text boxes inside each other, each behind a paragraph with a long note", mediaType: extract.DOCX, most: 30, limits: extract.Limits{Text: 1 << 20},
		file: docx(strings.Repeat(`<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p><w:p><w:txbxContent>`, 90), longNote),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "one long note of a thousand paragraphs that run on", mediaType: extract.DOCX, most: 30, limits: extract.Limits{Text: 1 << 20},
		file: docx(strings.Repeat(`<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`, 1000), longNote),
		want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "a paragraph of millions of lines", mediaType: extract.DOCX, most: 20, limits: extract.Limits{Text: 100_000},
		file: docx("<w:p><w:r><w:t>a</w:t>"+strings.Repeat("<w:br/>", 2<<20)+"</w:r></w:p>", nil), want: "0: The file has more than 0 MB of text.",
	},
	{
		name: "a string of many long texts", mediaType: extract.XLSX, most: 450,
		file: xlsx("", "", map[string]string{"xl/sharedStrings.xml": officetest.XML("sst", "<si>"+strings.Repeat("<t>"+random(20<<10)+strings.Repeat("a", 2<<20)+"</t>", 100)+"</si>")}),
		want: "0: The workbook has more than 64 MB of text.",
	},
	{
		name: "fifty thousand formats of a kilobyte", mediaType: extract.XLSX, most: 180,
		file: func(t testing.TB) []byte {
			var codes, styles strings.Builder
			text := "&quot;" + strings.Repeat("x", 450) + "&quot;"
			for i := range 50_000 {
				fmt.Fprintf(&codes, `<numFmt numFmtId="%d" formatCode="0%s0%s&quot;%d&quot;"/>`, 200+i, text, text, i)
				fmt.Fprintf(&styles, `<xf numFmtId="%d"/>`, 200+i)
			}
			return officetest.Xlsx(t, "<row>"+cell("A1", "1")+"</row>", "", map[string]string{
				"xl/styles.xml": officetest.XML("styleSheet", "<numFmts>"+codes.String()+"</numFmts><cellXfs>"+styles.String()+"</cellXfs>")})
		},
	},
	{
		name: "a workbook that says that it is a document", mediaType: extract.DOCX, most: 5,
		file: xlsx("", "", nil), want: "0: The file is not a Word document.",
	},
	{
		name: "a document that says that it is slides", mediaType: extract.PPTX, most: 5,
		file: docx(paragraph, nil), want: "0: The file is not a PowerPoint presentation.",
	},
	{
		name: "text that says that it is a PDF", mediaType: extract.PDF, most: 5,
		file: func(testing.TB) []byte { return []byte("hello") }, want: "0: The file is not a PDF file.",
	},
	{
		name: "the largest reStructuredText, of rows with a letter", mediaType: extract.RST, most: 1000,
		file: rst(strings.Repeat("= ", 99) + "=\n" + strings.Repeat("a\n", extract.MaxRST/2-250) + strings.Repeat("= ", 99) + "="),
		want: "0: The file has more than 10 MB of text.",
	},
	{
		name: "the largest reStructuredText, of paragraphs with a letter", mediaType: extract.RST, most: 600,
		file: rst(strings.Repeat("a\n\n", extract.MaxRST/3)),
	},
	{
		name: "the largest reStructuredText, of quotes without an end", mediaType: extract.RST, most: 100,
		file: rst(strings.Repeat("`a ``b :r:`c |d [e <f ", extract.MaxRST/22)),
	},
	{
		name: "reStructuredText that becomes larger than the limit", mediaType: extract.RST, most: 50, limits: extract.Limits{Text: 1 << 20},
		file: rst("::\n\n  " + strings.Repeat("`", 400_000)), want: "0: The file has more than 1 MB of text.",
	},
	{
		name: "reStructuredText that is too large", mediaType: extract.RST, most: 5,
		file: rst(strings.Repeat("a", extract.MaxRST+1)), want: "0: The file is larger than 4 MB.",
	},
	{
		name: "reStructuredText in another encoding", mediaType: extract.RST, most: 5,
		file: rst("Caf\xe9\n====\n"), want: "0: The file is not text in UTF-8. Save it as UTF-8.",
	},
	{
		name: "a picture that says that it is reStructuredText", mediaType: extract.RST, most: 5,
		file: rst("GIF89a\x01\x00\x01\x00"), want: "0: The file is not text in UTF-8. Save it as UTF-8.",
	},
	{
		name: "empty reStructuredText", mediaType: extract.RST, most: 5,
		file: rst(""), want: "0: The file is empty.",
	},
	{
		name: "an empty file", mediaType: extract.PDF, most: 5,
		file: func(testing.TB) []byte { return nil }, want: "0: The file is empty.",
	},
}

// TestAttacks runs one attack after the other, so that what one allocates is counted to it.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			file := a.file(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readers.Read(context.Background(), a.mediaType, bytes.NewReader(file), int64(len(file)), a.limits)
			runtime.ReadMemStats(&after)
			if got := reason(err); got != a.want {
				t.Errorf("got %q, want %q", got, a.want)
			}
			mb := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d bytes, %d MB allocated", len(file), mb)
			if mb > a.most {
				t.Errorf("allocated %d MB, at most %d are allowed", mb, a.most)
			}
		})
	}
}

func TestTruncatedFilesAreErrors(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		extract.DOCX: officetest.Docx(t, paragraph, nil),
		extract.XLSX: officetest.Xlsx(t, "<row>"+cell("A1", "1")+"</row>", "", nil),
		extract.PPTX: officetest.Pptx(t, []string{""}, nil),
	}
	for mediaType, whole := range files {
		for n := 1; n < len(whole); n += 7 {
			_, err := readers.Read(context.Background(), mediaType, bytes.NewReader(whole[:n]), int64(n), extract.Limits{})
			if got := reason(err); !strings.HasPrefix(got, "0: The file is ") {
				t.Fatalf("%s cut after %d bytes: %q", mediaType, n, got)
			}
		}
	}
	// A part that breaks off is not one that ends.
	cut := officetest.Xlsx(t, "", "", map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData><row>" + cell("A1", "1")})
	_, err := readers.Read(context.Background(), extract.XLSX, bytes.NewReader(cut), int64(len(cut)), extract.Limits{})
	if got := reason(err); got != "1: The part xl/worksheets/sheet1.xml is damaged." {
		t.Errorf("sheet that breaks off: %q", got)
	}
}

func TestContextEndsTheReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for mediaType, file := range map[string][]byte{
		extract.DOCX: officetest.Docx(t, paragraph, nil),
		extract.XLSX: officetest.Xlsx(t, "<row>"+cell("A1", "1")+"</row>", "", nil),
		extract.PPTX: officetest.Pptx(t, []string{""}, nil),
		extract.RST:  []byte("Title\n=====\n"),
	} {
		_, err := readers.Read(ctx, mediaType, bytes.NewReader(file), int64(len(file)), extract.Limits{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", mediaType, err)
		}
	}
}

// Each paragraph looks for its style, for those that it is based on, and for the list that they name.
func TestLongNamesOfStylesAndListsTakeNoTime(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	style := func(id, basedOn string) string {
		return `<w:style w:type="paragraph" w:default="1" w:styleId="` + id + `"><w:basedOn w:val="` + basedOn + `"/><w:pPr><w:numPr><w:numId w:val="` + long +
			`"/></w:numPr></w:pPr></w:style>`
	}
	file := officetest.Docx(t, strings.Repeat("<w:p/>", 100_000)+paragraph, map[string]string{
		"word/styles.xml": officetest.XML("w:styles", style(long+"a", long+"b")+style(long+"b", long+"a")),
		"word/numbering.xml": officetest.XML("w:numbering", `<w:abstractNum w:abstractNumId="`+long+`"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>`+
			`<w:num w:numId="`+long+`"><w:abstractNumId w:val="`+long+`"/></w:num>`),
		"word/_rels/document.xml.rels": officetest.Relations("s styles styles.xml", "n numbering numbering.xml"),
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // it took minutes
	defer cancel()
	found, err := readers.Read(ctx, extract.DOCX, bytes.NewReader(file), int64(len(file)), extract.Limits{})
	if err != nil || len(found.Pages) != 1 || found.Pages[0].Markdown != "text\n" {
		t.Errorf("%v, %v", found, err)
	}
}

// reason returns the page and the sentence of an error for clients.
func reason(err error) string {
	var e *extract.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "not for clients: " + err.Error()
	}
	return fmt.Sprintf("%d: %s", e.Page, e.Reason)
}

// random returns letters that hardly compress, always the same.
func random(n int) string {
	b := make([]byte, n)
	state := uint32(1)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = 'a' + byte(state>>24)%26
	}
	return string(b)
}

// compound returns the start of a compound file that has an entry of the name.
func compound(name string) []byte {
	b := append([]byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}, make([]byte, 1024)...)
	for _, c := range []byte(name) {
		b = append(b, c, 0)
	}
	return b
}

// lyingZip returns a document whose archive says that its part has 10 bytes.
func lyingZip(t testing.TB) []byte {
	t.Helper()
	text := []byte(officetest.XML("w:document", "<w:body>"+paragraph+"</w:body>"))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, part := range map[string][]byte{"_rels/.rels": []byte(officetest.Relations("rId1 officeDocument word/document.xml")), "word/document.xml": text} {
		h := &zip.FileHeader{Name: name, Method: zip.Store, CompressedSize64: uint64(len(part)), UncompressedSize64: uint64(len(part)), CRC32: crc32.ChecksumIEEE(part)}
		if name == "word/document.xml" {
			h.UncompressedSize64 = 10
		}
		w, err := z.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// largeOnPaper returns the archive with a list that gives the part 2 GB.
func largeOnPaper(archive []byte, name string) []byte {
	entry := bytes.LastIndex(archive, []byte(name)) - 46
	binary.LittleEndian.PutUint32(archive[entry+20:], 2<<30)
	return archive
}

// manyParts returns an archive whose list names n parts, all the same one.
func manyParts(n int) []byte {
	var b bytes.Buffer
	b.WriteString("PK\x03\x04" + strings.Repeat("\x00", 26))
	start := b.Len()
	entry := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	binary.LittleEndian.PutUint16(entry[28:], 1)
	entry = append(entry, 'a')
	b.Write(bytes.Repeat(entry, n))
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint16(end[8:], uint16(n))
	binary.LittleEndian.PutUint16(end[10:], uint16(n))
	binary.LittleEndian.PutUint32(end[12:], uint32(b.Len()-start))
	binary.LittleEndian.PutUint32(end[16:], uint32(start))
	b.Write(end)
	return b.Bytes()
}
