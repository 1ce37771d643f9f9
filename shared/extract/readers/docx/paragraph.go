package docx

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"docent/shared/extract/readers/formula"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
	"docent/shared/extract/readers/symbols"
	"docent/shared/raised"
)

// paragraph is a paragraph as it was read.
type paragraph struct {
	text  string
	style string
	level *int // of its own outline, if it has one
	list  listRef
	boxes []string // Markdown of its text boxes
	notes []string // Markdown of its footnotes and endnotes
	// runsOn: the next paragraph continues it, because a tracked change deleted its end, or because it is a drop cap.
	runsOn bool
}

// size returns the bytes of p.
func (p paragraph) size() int {
	n := len(p.text)
	for _, text := range append(p.boxes[:len(p.boxes):len(p.boxes)], p.notes...) {
		n += len(text)
	}
	return n
}

// inline collects the text of one paragraph.
type inline struct {
	*reader
	d    *ooxml.Decoder
	p    paragraph
	text []byte
	// struckTo is where text that is struck through ends, behind its mark; 0: nothing may continue it.
	struckTo int
	// hidden: the style of the paragraph hides its text.
	hidden bool
	// Fields: their code is between begin and separate, their shown text between separate and end.
	fields []field
}

type field struct {
	code   []byte // a strings.Builder must not be copied, and append copies the outer fields when an inner one begins
	from   int    // where the shown text begins
	result bool
	shows  string // of a form, if the shown text is empty
}

func (r *reader) paragraph(d *ooxml.Decoder) (paragraph, error) {
	held := r.held
	defer func() { r.held = held }()
	in := &inline{reader: r, d: d, hidden: r.styles.hides("", false)}
	err := in.children()
	in.p.text = string(in.text)
	return in.p, err
}

// children reads the elements in the current one. What it does not know it takes for a frame around others.
func (in *inline) children() error {
	sawChoice := false
	return in.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			return in.properties()
		case "del", "moveFrom", "delText", "sdtPr", "sdtEndPr", "tcPr", "docPr", "cNvPr", "ctrlPr", "rPrChange", "bodyPr",
			"annotationRef", "footnoteRef", "endnoteRef", "object", "ruby":
			return in.skipped(e)
		case "r":
			return in.run()
		case "hyperlink":
			return in.link(e)
		case "AlternateContent":
			sawChoice = false
		case "Choice":
			sawChoice = true
		case "Fallback":
			if sawChoice {
				return nil
			}
		case "txbxContent":
			return in.box()
		case "blip", "imagedata":
			in.pictures++
			return nil
		case "t":
			return in.characters("", false)
		case "oMath", "oMathPara":
			return in.formula()
		}
		return in.children()
	})
}

func (in *inline) formula() error {
	text, err := formula.Text(in.d, in.hold)
	if !in.inCode() && !in.hidden {
		in.text = append(in.text, text...)
	}
	return err
}

// skipped handles elements of which little or nothing is read.
func (in *inline) skipped(e xml.StartElement) error {
	if e.Name.Local != "ruby" {
		return nil
	}
	// Only the base text, not how it is pronounced.
	return in.d.Each(func(e xml.StartElement) error {
		if e.Name.Local == "rubyBase" {
			return in.children()
		}
		return nil
	})
}

func (in *inline) properties() error {
	return in.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			in.p.style = ooxml.Attr(e, "val")
			in.hidden = in.styles.hides(in.p.style, false)
		case "framePr":
			drop := ooxml.Attr(e, "dropCap")
			in.p.runsOn = in.p.runsOn || drop == "drop" || drop == "margin"
		case "rPr": // of the mark at its end
			return in.d.Each(func(e xml.StartElement) error {
				in.p.runsOn = in.p.runsOn || e.Name.Local == "del" || e.Name.Local == "moveFrom"
				return nil
			})
		case "outlineLvl":
			level := outline(e)
			in.p.level = &level
		case "numPr":
			var err error
			in.p.list, err = readListRef(in.d)
			return err
		}
		return nil
	})
}

// run reads a run: text of one look.
func (in *inline) run() error {
	hidden, struck, above := in.hidden, false, false
	font, from := "", len(in.text)
	err := in.d.Each(func(e xml.StartElement) error {
		if e.Name.Local == "rPr" {
			return in.d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "rFonts":
					font = ooxml.Attr(e, "hAnsi")
				case "strike", "dstrike":
					struck = struck || ooxml.On(ooxml.Attr(e, "val"))
				case "vertAlign":
					above = ooxml.Attr(e, "val") == "superscript"
				}
				if e.Name.Local == "rStyle" {
					hidden = in.styles.hides(ooxml.Attr(e, "val"), hidden)
				}
				if e.Name.Local == "vanish" || e.Name.Local == "webHidden" && len(in.fields) > 0 {
					hidden = ooxml.On(ooxml.Attr(e, "val"))
				}
				return nil
			})
		}
		if hidden && e.Name.Local != "fldChar" && e.Name.Local != "instrText" {
			return nil
		}
		switch e.Name.Local {
		case "t":
			return in.characters(font, above)
		case "sym":
			return in.symbol(e)
		case "tab", "ptab":
			in.text = append(in.text, ' ')
			return in.hold(1)
		case "br", "cr":
			in.text = append(in.text, '\n')
			return in.hold(1)
		case "noBreakHyphen":
			in.text = append(in.text, '-')
		case "footnoteReference":
			return in.note(in.footnotes[ooxml.Attr(e, "id")])
		case "endnoteReference":
			return in.note(in.endnotes[ooxml.Attr(e, "id")])
		case "fldChar":
			struck = false // what is before may become a link
			shows, err := in.formField()
			if err != nil {
				return err
			}
			return in.fieldMark(ooxml.Attr(e, "fldCharType"), shows, hidden)
		case "instrText":
			return in.fieldCode()
		case "delText", "delInstrText", "softHyphen", "annotationRef", "footnoteRef", "endnoteRef", "object":
		case "blip", "imagedata":
			in.pictures++
		case "ruby":
			return in.skipped(e)
		case "AlternateContent":
			return in.alternatives()
		default:
			return in.children()
		}
		return nil
	})
	if struck {
		in.strike(from)
	}
	return err
}

const struckMark = "~~"

// strike marks the text from a position on as struck through, together with what was struck through before it, because Word divides
// words into runs. Marks hold on one line only.
func (in *inline) strike(from int) {
	text := string(in.text[from:])
	shown := strings.TrimSpace(text)
	if shown == "" || strings.Contains(shown, "\n") || strings.HasPrefix(shown, struckMark) {
		return
	}
	size := len(in.text)
	before, after, _ := strings.Cut(text, shown)
	if from == in.struckTo && from > 0 {
		in.text = append(in.text[:from-len(struckMark)], before...)
	} else {
		in.text = append(append(in.text[:from], before...), struckMark...)
	}
	in.text = append(append(in.text, shown...), struckMark...)
	in.struckTo = len(in.text)
	in.text = append(in.text, after...)
	in.held += len(in.text) - size
}

// alternatives reads the first of several forms of the same thing.
func (in *inline) alternatives() error {
	read := false
	return in.d.Each(func(xml.StartElement) error {
		if read {
			return nil
		}
		read = true
		return in.children()
	})
}

// characters reads text that is shown in a font, which is empty for that of the document, and may stand above the line.
func (in *inline) characters(font string, above bool) error {
	text, err := in.d.Text()
	if above {
		text = raised.Text(text)
	}
	if !in.inCode() {
		before := len(in.text)
		in.text = append(in.text, symbols.Text(text, font, false)...)
		err = cmp.Or(err, in.hold(len(in.text)-before))
	}
	return err
}

// inCode reports whether what is read is in the code of a field.
func (in *inline) inCode() bool {
	return slices.ContainsFunc(in.fields, func(f field) bool { return !f.result })
}

// symbol adds a character that is written as a font and a code, such as a tick or an arrow.
func (in *inline) symbol(e xml.StartElement) error {
	code, err := strconv.ParseUint(ooxml.Attr(e, "char"), 16, 16)
	if err != nil || in.inCode() {
		return nil
	}
	if r, ok := symbols.Character(ooxml.Attr(e, "font"), rune(code)); ok {
		in.text = utf8.AppendRune(in.text, r)
		return in.hold(utf8.RuneLen(r))
	}
	return nil
}

// note adds a mark to the text, and the note to what follows the paragraph.
func (in *inline) note(text string) error {
	if text == "" {
		return nil
	}
	in.shown++
	mark := "[^" + strconv.Itoa(in.shown) + "]"
	in.text = append(in.text, mark...)
	in.p.notes = append(in.p.notes, mark+": "+text)
	return in.hold(len(mark) + len(text))
}

// box reads a text box.
func (in *inline) box() error {
	text, err := in.within(func(out *markdown.Writer) error { return in.blocks(in.d, out) })
	if text = strings.TrimSpace(text); text == "" || err != nil {
		return err
	}
	in.p.boxes = append(in.p.boxes, text)
	return in.hold(len(text))
}

func (in *inline) link(e xml.StartElement) error {
	from := len(in.text)
	in.struckTo = 0
	if err := in.children(); err != nil {
		return err
	}
	in.struckTo = 0
	r := in.relations[ooxml.RelationID(e, "id")]
	if r.External {
		in.linked(from, r.Target)
	}
	return nil
}

// linked makes a link of the text from a position on.
func (in *inline) linked(from int, address string) {
	before := len(in.text)
	in.text = append(in.text[:from], markdown.Link(string(in.text[from:]), address)...)
	in.held += len(in.text) - before
}

func (in *inline) fieldMark(kind, shows string, hidden bool) error {
	in.struckTo = 0
	switch kind {
	case "begin":
		if hidden {
			shows = ""
		}
		if len(in.fields) < 50 {
			in.fields = append(in.fields, field{shows: shows})
		}
	case "separate":
		if n := len(in.fields); n > 0 {
			in.fields[n-1].result, in.fields[n-1].from = true, len(in.text)
		}
	case "end":
		n := len(in.fields)
		if n == 0 {
			return nil
		}
		f := in.fields[n-1]
		code := strings.Fields(string(f.code))
		in.fields = in.fields[:n-1]
		if f.shows != "" && !in.inCode() && (!f.result || len(bytes.TrimSpace(in.text[f.from:])) == 0) {
			in.text = append(in.text, f.shows...)
			return in.hold(len(f.shows))
		}
		if f.result && len(code) > 1 && code[0] == "HYPERLINK" && code[1] != `\l` {
			in.linked(f.from, strings.Trim(code[1], `"`))
		}
	}
	return nil
}

// maxFieldCode bounds the bytes of a field's code that are read, once more for its last text.
const maxFieldCode = 4096

func (in *inline) fieldCode() error {
	text, err := in.d.Text()
	if n := len(in.fields); n > 0 && len(in.fields[n-1].code) < maxFieldCode {
		in.fields[n-1].code = append(in.fields[n-1].code, text[:min(len(text), maxFieldCode)]...)
	}
	return err
}
