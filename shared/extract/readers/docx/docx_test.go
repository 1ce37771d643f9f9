package docx_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/docx"
	"docent/shared/extract/readers/officetest"
)

// styles has headings as a German Word writes them, a style based on one, and a style of a list.
const styles = `
	<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
	<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
	<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
	<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
	<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift2"/></w:style>
	<w:style w:type="paragraph" w:styleId="Punkt"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
	<w:style w:type="paragraph" w:styleId="V1"><w:name w:val="toc 1"/></w:style>
	<w:style w:type="character" w:default="1" w:styleId="Zeichen"><w:name w:val="Default Paragraph Font"/></w:style>
	<w:style w:type="character" w:styleId="Geheim"><w:name w:val="Geheim"/><w:rPr><w:vanish/></w:rPr></w:style>
	<w:style w:type="paragraph" w:styleId="Intern"><w:name w:val="Intern"/><w:rPr><w:vanish/></w:rPr></w:style>
	<w:style w:type="paragraph" w:styleId="Intern2"><w:name w:val="Intern 2"/><w:basedOn w:val="Intern"/></w:style>
	<w:style w:type="paragraph" w:styleId="Kreis1"><w:name w:val="a"/><w:basedOn w:val="Kreis2"/></w:style>
	<w:style w:type="paragraph" w:styleId="Kreis2"><w:name w:val="b"/><w:basedOn w:val="Kreis1"/></w:style>`

const numbering = `
	<w:abstractNum w:abstractNumId="0">
		<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl>
		<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
	<w:abstractNum w:abstractNumId="1">
		<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
		<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
		<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%3)"/></w:lvl></w:abstractNum>
	<w:abstractNum w:abstractNumId="2">
		<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Article %1."/></w:lvl>
		<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimalZero"/><w:isLgl/><w:lvlText w:val="Section %1.%2"/></w:lvl></w:abstractNum>
	<w:abstractNum w:abstractNumId="3">
		<w:lvl w:ilvl="0"><mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001, 002, 003, ..."/></mc:Choice><mc:Fallback>
			<w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent><w:lvlText w:val="REQ-%1"/></w:lvl>
		<w:lvl w:ilvl="1"><mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="α, β, γ, ..."/></mc:Choice><mc:Fallback>
			<w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent><w:lvlText w:val="%2."/></w:lvl></w:abstractNum>
	<w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num>
	<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
	<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
	<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>
	<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>`

const footnotes = `<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>
	<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/><w:t>The note.</w:t></w:r></w:p></w:footnote>`

// deletedEnd is what a paragraph begins with whose end a tracked change deleted.
const deletedEnd = `<w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>`

func struck(text string) string {
	return "<w:r><w:rPr><w:strike/></w:rPr><w:t>" + text + "</w:t></w:r>"
}

func above(text string) string {
	return `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>` + text + "</w:t></w:r>"
}

func p(properties, text string) string {
	return "<w:p><w:pPr>" + properties + "</w:pPr>" + run(text) + "</w:p>"
}

func run(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }

// mark and code are parts of a field.
func mark(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }

func code(text string) string { return `<w:r><w:instrText>` + text + `</w:instrText></w:r>` }

func item(list, level, text string) string {
	return p(`<w:numPr><w:ilvl w:val="`+level+`"/><w:numId w:val="`+list+`"/></w:numPr>`, text)
}

func tc(properties, text string) string {
	return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + p("", text) + "</w:tc>"
}

func read(t *testing.T, file []byte, limits extract.Limits) (extract.Document, error) {
	t.Helper()
	return docx.Read(context.Background(), bytes.NewReader(file), int64(len(file)), limits)
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"headings by the names of styles, whose ids are translated",
			p(`<w:pStyle w:val="Titel"/>`, "Report") + p(`<w:pStyle w:val="berschrift1"/>`, "One") + p(`<w:pStyle w:val="Kapitel"/>`, "Two"),
			"# Report\n\n# One\n\n## Two\n"},
		{"a heading by its own outline level", p(`<w:outlineLvl w:val="2"/>`, "Three"), "### Three\n"},
		{"a paragraph that its outline level takes out of the headings",
			p(`<w:pStyle w:val="berschrift1"/><w:outlineLvl w:val="9"/>`, "Text"), "Text\n"},
		{"styles based on each other in a circle", p(`<w:pStyle w:val="Kreis1"/>`, "Round"), "Round\n"},
		{"a line of the table of contents", p(`<w:pStyle w:val="V1"/>`, "One 1") + p("", "Text"), "Text\n"},
		{"bullets by style and inside each other",
			p(`<w:pStyle w:val="Punkt"/>`, "a") + item("1", "1", "b") + item("1", "0", "c"), "- a\n    - b\n- c\n"},
		{"numbers, and the labels that Markdown has none for",
			item("2", "0", "a") + item("2", "1", "b") + item("2", "2", "c") + item("2", "0", "d") + item("2", "1", "e"),
			"1. a\n    - 1.1 b\n        - (i) c\n2. d\n    - 2.1 e\n"},
		{"a list that starts at another number", item("3", "0", "a") + item("3", "0", "b"), "7. a\n8. b\n"},
		{"a level of a contract that shows the number above it as a number", item("4", "0", "a") + item("4", "0", "b") + item("4", "1", "c"),
			"- Article I. a\n- Article II. b\n    - Section 2.01 c\n"},
		{"a custom format of numbers", item("5", "0", "a") + item("5", "0", "b") + item("5", "1", "c"), "- REQ-001 a\n- REQ-002 b\n    1. c\n"},
		{"an empty paragraph has its number", item("3", "0", "a") + item("3", "0", "") + item("3", "0", "b"), "7. a\n9. b\n"},
		{"a column of numbers without text", "<w:tbl><w:tr><w:tc>" + item("2", "0", "") + "</w:tc>" + tc("", "x") + "</w:tr><w:tr><w:tc>" + item("2", "0", "") + "</w:tc>" +
			tc("", "y") + "</w:tr></w:tbl>", "| 1. | x |\n| --- | --- |\n| 2. | y |\n"},
		{"a numbered heading", p(`<w:pStyle w:val="berschrift1"/><w:numPr><w:numId w:val="2"/></w:numPr>`, "Scope"), "# 1. Scope\n"},
		{"a deleted run, an inserted one and a moved one",
			"<w:p>" + run("a ") + "<w:del>" + run("gone ") + "</w:del><w:ins>" + run("new ") + "</w:ins><w:moveFrom>" + run("old place ") +
				"</w:moveFrom><w:moveTo>" + run("new place") + "</w:moveTo></w:p>", "a new new place\n"},
		{"a paragraph whose end was deleted, with the next one, and a deleted item without its number",
			"<w:p>" + deletedEnd + run("the con") + `</w:p><w:bookmarkEnd w:id="1"/>` + p("", "tract") + item("2", "0", "a") +
				strings.Replace(item("2", "0", ""), "<w:pPr>", deletedEnd[:len(deletedEnd)-len("</w:pPr>")], 1) + item("2", "0", "b"), "the contract\n\n1. a\n2. b\n"},
		{"a deleted end before a table, and at the end of the text",
			"<w:p>" + deletedEnd + run("above") + "</w:p><w:tbl><w:tr>" + tc("", "a") + tc("", "b") + "</w:tr></w:tbl><w:p>" + deletedEnd + run("last") + "</w:p>",
			"above\n\n| a | b |\n| --- | --- |\n\nlast\n"},
		{"a drop cap", p(`<w:framePr w:dropCap="drop" w:lines="3"/>`, "O") + p("", "nce upon"), "Once upon\n"},
		{"text that a style hides, and what is shown in it",
			p(`<w:pStyle w:val="Intern"/>`, "secret") + "<w:p>" + run("a") + `<w:r><w:rPr><w:rStyle w:val="Geheim"/></w:rPr><w:t>secret</w:t></w:r></w:p>` +
				`<w:p><w:pPr><w:pStyle w:val="Intern2"/></w:pPr><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>b</w:t></w:r></w:p>`, "a\n\nb\n"},
		{"hidden text", "<w:p>" + run("a") + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>", "a\n"},
		{"text that is struck through, in several runs, and in a link",
			"<w:p>" + run("The fee is ") + struck("5") + struck("0 ") + run("80, ") + struck(" ") + struck("net") + struck(" today") + `<w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t>, see</w:t></w:r>` +
				`<w:hyperlink r:id="web">` + struck(" the ") + struck("page") + "</w:hyperlink>" + struck("end") + "</w:p>" +
				"<w:p>" + struck("a</w:t><w:br/><w:t>b") + "</w:p><w:p>" + mark("begin") + code(`HYPERLINK "https://docent.test/f"`) + mark("separate") + struck("field") +
				strings.Replace(mark("end"), "<w:r>", "<w:r><w:rPr><w:strike/></w:rPr>", 1) + struck("x") + "</w:p>",
			"The fee is ~~50~~ 80, ~~net today~~, see [~~the~~ ~~page~~](https://docent.test/page)~~end~~\n\na\\\nb\n\n[~~field~~](https://docent.test/f)~~x~~\n"},
		{"ticks, boxes and arrows of symbol fonts",
			`<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:t> yes </w:t><w:sym w:font="Wingdings" w:char="F0A8"/><w:t> no, File </w:t>` +
				`<w:sym w:font="Wingdings" w:char="F0E0"/><w:t> Open at </w:t><w:sym w:font="Symbol" w:char="F0A3"/><w:t> 5</w:t><w:sym w:font="Wingdings 2" w:char="F050"/>` +
				`<w:sym w:font="Other" w:char="F050"/><w:sym w:font="Symbol" w:char="x"/></w:r>` +
				`<w:r><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr><w:t> m &#xF061;</w:t></w:r></w:p>`,
			"☑ yes ☐ no, File → Open at ≤ 5✓ μ α\n"},
		{"numbers above and below the line", "<w:p>" + run("10") + above("-6") + run(" N, 21") + above("st") + run(" in 1990") + above("1") +
			`<w:r><w:rPr><w:vertAlign w:val="baseline"/></w:rPr><w:t>, H</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="subscript"/></w:rPr><w:t>2</w:t></w:r></w:p>`,
			"10⁻⁶ N, 21st in 1990¹, H2\n"},
		{"formulas", "<w:p>" + run("x ") + "<m:oMathPara><m:oMath><m:r><m:t>=</m:t></m:r><m:f><m:fPr><m:ctrlPr/></m:fPr><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>" +
			"</m:oMath></m:oMathPara></w:p>", "x =1/2\n"},
		{"a link", `<w:p><w:hyperlink r:id="web">` + run("the page") + "</w:hyperlink>" + run(" says") + "</w:p>",
			"[the page](https://docent.test/page) says\n"},
		{"a link by a field",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://docent.test/f"</w:instrText></w:r>` +
				`<w:r><w:fldChar w:fldCharType="separate"/></w:r>` + run("field") + `<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`,
			"[field](https://docent.test/f)\n"},
		{"a field within the code of another",
			"<w:p>" + run("Page ") + mark("begin") + code("= ") + mark("begin") + code("PAGE") + mark("end") + code("+ 1") + mark("separate") + run("8") + mark("end") + "</w:p>",
			"Page 8\n"},
		{"the value of a field within the code of another, which is not shown",
			"<w:p>" + run("Dear ") + mark("begin") + code(`IF `) + mark("begin") + code("MERGEFIELD sex") + mark("separate") + run("f") + mark("end") + code(`= "f" "Ms" "Mr"`) +
				mark("separate") + run("Ms ") + mark("begin") + code("MERGEFIELD name") + mark("separate") + run("Lovelace") + mark("end") + mark("end") + run(",") + "</w:p>",
			"Dear Ms Lovelace,\n"},
		{"a footnote after its paragraph", "<w:p>" + run("Text") + `<w:r><w:footnoteReference w:id="2"/></w:r>` + run(" on") + "</w:p>",
			"Text[^1] on\n\n[^1]: The note.\n"},
		{"a text box, which is written twice in the file",
			"<w:p>" + run("before") + `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>` + p("", "boxed") +
				`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + p("", "boxed") +
				`</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`, "before\n\nboxed\n"},
		{"a table with cells over rows and columns, and a deleted row",
			"<w:tbl><w:tr>" + tc("", "City") + tc(`<w:gridSpan w:val="2"/>`, "Year") + "</w:tr><w:tr>" +
				tc(`<w:vMerge w:val="restart"/>`, "Rome") + tc("", "1|2") + tc("", "3") + "</w:tr><w:tr>" + tc("<w:vMerge/>", "") + tc("", "4") + tc("", "5") +
				"</w:tr><w:tr><w:trPr><w:del/></w:trPr>" + tc("", "x") + tc("", "y") + tc("", "z") + "</w:tr></w:tbl>",
			"| City | Year | |\n| --- | --- | --- |\n| Rome | 1\\|2 | 3 |\n| Rome | 4 | 5 |\n"},
		{"a table with a deleted column",
			"<w:tbl><w:tr>" + tc("", "a") + tc("<w:cellDel/>", "x") + tc("", "b") + "</w:tr><w:tr>" + tc("", "1") + tc("<w:cellDel/>", "y") + tc("", "2") + "</w:tr>" +
				"<w:tr>" + tc("<w:cellDel/>", "z") + "</w:tr></w:tbl>",
			"| a | b |\n| --- | --- |\n| 1 | 2 |\n"},
		{"a table of one column, which only places text", "<w:tbl><w:tr>" + tc("", "a") + "</w:tr></w:tbl>", "a\n"},
		{"a content control", "<w:sdt><w:sdtPr/><w:sdtContent>" + p("", "held") + "</w:sdtContent></w:sdt>", "held\n"},
		{"text that Markdown would take for a mark", p("", "# no heading") + p("", "1. no list") + p("", "- no item"),
			"\\# no heading\n\n1\\. no list\n\n\\- no item\n"},
		{"fields of a form of old: a choice, boxes, a text, and a choice that is shown as text too",
			"<w:p>" + run("Dept ") + form(`<w:ddList><w:result w:val="1"/><w:listEntry w:val="Sales"/><w:listEntry w:val="Legal"/></w:ddList>`, "") +
				run(" yes ") + form(`<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>`, "") + run(" no ") + form(`<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>`, "") +
				run(" maybe ") + form(`<w:checkBox><w:default w:val="1"/></w:checkBox>`, "") + run(" by ") + form("<w:textInput/>", "Ada") + "</w:p>" +
				"<w:p>" + form(`<w:ddList><w:listEntry w:val="Sales"/></w:ddList>`, "Sales") + form(`<w:ddList><w:result w:val="7"/></w:ddList>`, "") + "</w:p>",
			"Dept Legal yes ☒ no ☐ maybe ☒ by Ada\n\nSales\n"},
		{"entities of XML", p("", "a &lt;b&gt; &#8364;"), "a <b> €\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(t, officetest.Docx(t, c.body, map[string]string{
				"word/styles.xml":    officetest.XML("w:styles", styles),
				"word/numbering.xml": officetest.XML("w:numbering", numbering),
				"word/footnotes.xml": officetest.XML("w:footnotes", footnotes),
			}), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Pages) != 1 || doc.Pages[0].Number != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("got %+v, want %q", doc.Pages, c.want)
			}
		})
	}
}

func TestDocumentWithoutTextSaysSo(t *testing.T) {
	t.Parallel()
	doc, err := read(t, officetest.Docx(t, `<w:p><w:r><w:drawing><a:blip r:embed="x"/></w:drawing></w:r></w:p>`, nil), extract.Limits{})
	if err != nil || len(doc.Pages) != 0 || len(doc.Notes) != 1 || doc.Notes[0] != "The document has pictures and no text." {
		t.Errorf("got %+v, %v", doc, err)
	}
}

// TestNotesAreReadAlike in each reading of a file: they have styles and lists, which are other parts.
func TestNotesAreReadAlike(t *testing.T) {
	t.Parallel()
	note := func(id, content string) string { return `<w:footnote w:id="` + id + `">` + content + "</w:footnote>" }
	file := officetest.Docx(t, "<w:p>"+run("Text")+`<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`+item("2", "0", "second"), map[string]string{
		"word/styles.xml":    officetest.XML("w:styles", styles),
		"word/numbering.xml": officetest.XML("w:numbering", numbering),
		"word/footnotes.xml": officetest.XML("w:footnotes", note("2", p("", "shown")+p(`<w:pStyle w:val="Intern"/>`, "secret")+item("2", "0", "first"))),
	})
	const want = "Text[^1]\n\n[^1]: shown 1. first\n\n2. second\n"
	for range 20 { // the order of a map differs each time
		doc, err := read(t, file, extract.Limits{})
		if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
			t.Fatalf("got %+v, %v, want %q", doc.Pages, err, want)
		}
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	doc, err := read(t, officetest.Docx(t, p("", "x"), map[string]string{
		"_rels/.rels":       officetest.Relations("rId1 officeDocument word/document.xml", "rId2 core-properties docProps/core.xml"),
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title> Annual  report </dc:title></cp:coreProperties>`,
	}), extract.Limits{})
	if err != nil || doc.Title != "Annual report" {
		t.Errorf("title %q, %v", doc.Title, err)
	}
}

// form returns a field of a form: its data and its result.
func form(data, result string) string {
	mark := func(kind, data string) string {
		return `<w:r><w:fldChar w:fldCharType="` + kind + `">` + data + "</w:fldChar></w:r>"
	}
	return mark("begin", "<w:ffData>"+data+"</w:ffData>") + "<w:r><w:instrText>FORM</w:instrText></w:r>" + mark("separate", "") + run(result) + mark("end", "")
}

// TestAListMayHaveTheLevelsOfAStyle: templates of companies define their numbers once, as a style of lists.
func TestAListMayHaveTheLevelsOfAStyle(t *testing.T) {
	t.Parallel()
	const levels = `<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl>` +
		`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>`
	const numbering = `<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Corp"/></w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="Corp"/>` + levels + `</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Missing"/>` + levels + `</w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>`
	heading := func(level, text string) string {
		return strings.Replace(item("1", level, text), "<w:pPr>", `<w:pPr><w:outlineLvl w:val="`+level+`"/>`, 1)
	}
	doc, err := read(t, officetest.Docx(t, heading("0", "Start")+heading("1", "Scope")+heading("0", "Rollback")+heading("1", "Undo")+item("2", "1", "step")+item("3", "0", "other"),
		map[string]string{"word/numbering.xml": officetest.XML("w:numbering", numbering)}), extract.Limits{})
	const want = "# 1 Start\n\n## 1.1 Scope\n\n# 2 Rollback\n\n## 2.1 Undo\n\n    - 2.2 step\n1. other\n"
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
		t.Errorf("got %+v, %v, want %q", doc.Pages, err, want)
	}
}

// TestBulletsThatSaySomething: what a cross stands before is not to be done.
func TestBulletsThatSaySomething(t *testing.T) {
	t.Parallel()
	numbering, body := "", ""
	for n, bullet := range []string{`<w:lvlText w:val="&#xF0FC;"/><w:rPr><w:rFonts w:hAnsi="Wingdings"/></w:rPr>`, `<w:lvlText w:val="✗"/>`, `<w:lvlText w:val="&#xF0A7;"/><w:rPr><w:rFonts w:hAnsi="Wingdings"/></w:rPr>`, `<w:lvlText w:val="o"/>`} {
		id := strconv.Itoa(n + 1)
		numbering += `<w:abstractNum w:abstractNumId="` + id + `"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>` + bullet + `</w:lvl></w:abstractNum>` +
			`<w:num w:numId="` + id + `"><w:abstractNumId w:val="` + id + `"/></w:num>`
		body += item(id, "0", "item "+id)
	}
	doc, err := read(t, officetest.Docx(t, body, map[string]string{"word/numbering.xml": officetest.XML("w:numbering", numbering)}), extract.Limits{})
	const want = "- ✓ item 1\n- ✗ item 2\n- item 3\n- item 4\n"
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
		t.Errorf("got %+v, %v, want %q", doc.Pages, err, want)
	}
}

// TestNumbersGoOnWhereTheListSaysSo: the clauses of a contract are counted through its parts.
func TestNumbersGoOnWhereTheListSaysSo(t *testing.T) {
	t.Parallel()
	level := func(n, more, text string) string {
		return `<w:lvl w:ilvl="` + n + `"><w:start w:val="1"/><w:numFmt w:val="decimal"/>` + more + `<w:lvlText w:val="` + text + `"/></w:lvl>`
	}
	numbering := `<w:abstractNum w:abstractNumId="0">` + level("0", "", "Part %1") + level("1", `<w:lvlRestart w:val="0"/>`, "Clause %2") + level("2", `<w:lvlRestart w:val="1"/>`, "Point %3") +
		`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`
	body := item("1", "0", "a") + item("1", "1", "b") + item("1", "2", "c") + item("1", "1", "d") + item("1", "2", "e") + item("1", "0", "f") + item("1", "1", "g") + item("1", "2", "h")
	doc, err := read(t, officetest.Docx(t, body, map[string]string{"word/numbering.xml": officetest.XML("w:numbering", numbering)}), extract.Limits{})
	const want = "- Part 1 a\n    - Clause 1 b\n        - Point 1 c\n    - Clause 2 d\n        - Point 2 e\n" +
		"- Part 2 f\n    - Clause 3 g\n        - Point 1 h\n"
	if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Markdown != want {
		t.Errorf("got %+v, %v, want %q", doc.Pages, err, want)
	}
}
