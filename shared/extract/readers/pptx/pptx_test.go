package pptx_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers/officetest"
	"docent/shared/extract/readers/pptx"
)

// shape returns a shape that is a placeholder of the kind, or none for "none".
func shape(kind string, paragraphs ...string) string {
	holder := `<p:ph type="` + kind + `"/>`
	if kind == "none" {
		holder = ""
	}
	return "<p:sp><p:nvSpPr><p:nvPr>" + holder + "</p:nvPr></p:nvSpPr><p:txBody>" + strings.Join(paragraphs, "") + "</p:txBody></p:sp>"
}

// hide returns a shape that the selection pane hides.
func hide(shape string) string {
	return strings.Replace(shape, "<p:nvSpPr>", `<p:nvSpPr><p:cNvPr hidden="1"/>`, 1)
}

func p(properties, text string) string {
	return "<a:p><a:pPr " + properties + "</a:pPr><a:r><a:t>" + text + "</a:t></a:r></a:p>"
}

func read(file []byte) (extract.Document, error) {
	return pptx.Read(context.Background(), bytes.NewReader(file), int64(len(file)), extract.Limits{})
}

func tc(attributes, text string) string {
	return "<a:tc " + attributes + "><a:txBody>" + p(">", text) + "</a:txBody></a:tc>"
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, slide, want string }{
		{"the title is first, and bullets have levels",
			shape("body", p(">", "one"), p(`lvl="1">`, "two"), p("><a:buNone/>", "no bullet")) + shape("ctrTitle", p(">", "Plan")),
			"# Plan\n\n- one\n    - two\n\nno bullet\n"},
		{"a text box, with bullets only where it says so",
			shape("none", p(">", "text"), p("><a:buChar/>", "point"), p("><a:buAutoNum/>", "first"), p("><a:buAutoNum/>", "second")),
			"text\n\n- point\n1. first\n2. second\n"},
		{"bullets that say something",
			shape("none", p(`><a:buFont typeface="Wingdings"/><a:buChar char="ü"/>`, "lock it"), p(`><a:buFont typeface="Wingdings"/><a:buChar char="û"/>`, "share it"),
				p(`><a:buFont typeface="Wingdings"/><a:buChar char="§"/>`, "square"), p(`><a:buChar char="☐"/>`, "box")),
			"- ✓ lock it\n- ✗ share it\n- square\n- ☐ box\n"},
		{"numbers begin again below another number, after other text, and where the slide says so",
			shape("none", p("><a:buAutoNum/>", "a"), p(`lvl="1"><a:buAutoNum/>`, "b"), p(`lvl="1"><a:buAutoNum/>`, "c"), p("><a:buAutoNum/>", "d"),
				p(`lvl="1"><a:buAutoNum/>`, "e"), p(">", "text"), p(`><a:buAutoNum startAt="5"/>`, "f"), p(`><a:buAutoNum startAt="5"/>`, "g")),
			"1. a\n    1. b\n    2. c\n2. d\n    1. e\n\ntext\n\n5. f\n6. g\n"},
		{"numbers are letters or Roman where the slide says so",
			shape("none", p(`><a:buAutoNum type="alphaLcParenR"/>`, "a"), p(`><a:buAutoNum type="alphaLcParenR"/>`, "b"), p(`lvl="1"><a:buAutoNum type="romanLcPeriod"/>`, "c"),
				p(">", "text"), p(`><a:buAutoNum type="alphaUcPeriod" startAt="27"/>`, "d"), p(">", "text"), p(`><a:buAutoNum type="romanUcParenBoth" startAt="14"/>`, "e"),
				p(">", "text"), p(`><a:buAutoNum type="romanUcPeriod" startAt="99999999"/>`, "f"), p(">", "text"), p(`><a:buAutoNum type="arabicParenR"/>`, "g")),
			"- a) a\n- b) b\n    - i. c\n\ntext\n\n- AA. d\n\ntext\n\n- (XIV) e\n\ntext\n\n99999999. f\n\ntext\n\n1. g\n"},
		{"hidden shapes, groups and tables are left out, but not a hidden title, which still names the slide",
			hide(shape("title", p(">", "Plan"))) + hide(shape("none", p(">", "secret"))) + shape("none", p(">", "x")) +
				`<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden="true"/></p:nvGrpSpPr>` + shape("none", p(">", "secret")) + "</p:grpSp>" +
				`<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr hidden="1"/></p:nvGraphicFramePr><a:graphic><a:graphicData><a:tbl><a:tr>` + tc("", "secret") + tc("", "b") +
				"</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
			"# Plan\n\nx\n"},
		{"number of the slide, date and footer are left out", shape("sldNum", p(">", "3")) + shape("ftr", p(">", "Acme")) + shape("none", p(">", "x")), "x\n"},
		{"arrows and ticks of symbol fonts, and letters of another font next to them",
			shape("none", `<a:p><a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>&#xF0E0; à la carte</a:t></a:r><a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>ü</a:t></a:r></a:p>`),
			"→ à la carte✓\n"},
		{"a power, what is below the line, and a formula",
			shape("none", `<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r><a:rPr baseline="0"/><a:t> H</a:t></a:r><a:r><a:rPr baseline="-25000"/><a:t>2</a:t></a:r>`+
				`<mc:AlternateContent><mc:Choice Requires="a14"><a14:m><m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m></mc:Choice></mc:AlternateContent></a:p>`),
			"10⁶ H2r³\n"},
		{"what is struck through, in runs that follow each other",
			shape("none", `<a:p><a:r><a:t>Price </a:t></a:r><a:r><a:rPr strike="sngStrike"/><a:t>5</a:t></a:r><a:r><a:rPr b="1" strike="dblStrike"/><a:t>0 </a:t></a:r><a:r><a:rPr strike="noStrike"/><a:t>40</a:t></a:r></a:p>`),
			"Price ~~50~~ 40\n"},
		{"shapes in groups", "<p:grpSp><p:grpSp>" + shape("none", p(">", "deep")) + "</p:grpSp></p:grpSp>", "deep\n"},
		{"a table with cells over rows",
			"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>" + tc("", "a") + tc("", "b") + "</a:tr><a:tr>" + tc("", "c") + tc("", "d") +
				"</a:tr><a:tr>" + tc(`vMerge="1"`, "") + tc("", "e") + "</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
			"| a | b |\n| --- | --- |\n| c | d |\n| c | e |\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := read(officetest.Pptx(t, []string{c.slide}, nil))
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Pages) != 1 || doc.Pages[0].Markdown != c.want {
				t.Errorf("got %+v, want %s", doc.Pages, c.want)
			}
		})
	}
}

func TestSlidesAreInTheOrderOfThePresentation(t *testing.T) {
	t.Parallel()
	doc, err := read(officetest.Pptx(t, []string{shape("title", p(">", "first")), "<p:pic/>", shape("title", p(">", "third"))}, map[string]string{
		"ppt/slides/_rels/slide1.xml.rels":    officetest.Relations("n notesSlide ../notesSlides/notesSlide1.xml"),
		"ppt/notesSlides/notesSlide1.xml":     officetest.XML("p:notes", "<p:cSld><p:spTree>"+shape("body", p(">", "Say this."))+"</p:spTree></p:cSld>"),
		"ppt/notesSlides/_rels/unrelated.xml": "not XML",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Pages) != 2 || doc.Pages[0].Title != "first" || doc.Pages[0].Number != 1 || doc.Pages[1].Number != 3 ||
		doc.Pages[1].Markdown != "# third\n\n## Speaker notes\n\nSay this.\n" || strings.Join(doc.Notes, "") != "Slide 2 is a picture without text." {
		t.Errorf("%+v", doc)
	}
}

func TestHiddenSlideIsLeftOutAndSaid(t *testing.T) {
	t.Parallel()
	hidden := strings.Replace(officetest.XML("p:sld", "<p:cSld><p:spTree>"+shape("none", p(">", "x"))+"</p:spTree></p:cSld>"), "<p:sld ", `<p:sld show="0" `, 1)
	doc, err := read(officetest.Pptx(t, []string{""}, map[string]string{"ppt/slides/slide1.xml": hidden}))
	if err != nil || len(doc.Pages) != 0 || strings.Join(doc.Notes, "") != "Slide 1 is hidden and was left out." {
		t.Errorf("%+v, %v", doc, err)
	}
}
