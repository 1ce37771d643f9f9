package docx

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
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

// inline collects the text of one paragraph.
type inline struct {
	*reader
	d    *ooxml.Decoder
	p    paragraph
	text []byte
	held int // bytes of boxes and notes
	// hidden: the style of the paragraph hides its text.
	hidden bool
	// Fields: their code is between begin and separate, their shown text between separate and end.
	fields []field
}

type field struct {
	code   []byte // a strings.Builder must not be copied, and append copies the outer fields when an inner one begins
	from   int    // where the shown text begins
	result bool
}

func (r *reader) paragraph(d *ooxml.Decoder) (paragraph, error) {
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
			return in.characters()
		}
		return in.children()
	})
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
	hidden := in.hidden
	return in.d.Each(func(e xml.StartElement) error {
		if e.Name.Local == "rPr" {
			return in.d.Each(func(e xml.StartElement) error {
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
			return in.characters()
		case "tab", "ptab":
			in.text = append(in.text, ' ')
		case "br", "cr":
			in.text = append(in.text, '\n')
		case "noBreakHyphen":
			in.text = append(in.text, '-')
		case "footnoteReference":
			return in.note(in.footnotes[ooxml.Attr(e, "id")])
		case "endnoteReference":
			return in.note(in.endnotes[ooxml.Attr(e, "id")])
		case "fldChar":
			in.fieldMark(ooxml.Attr(e, "fldCharType"))
		case "instrText":
			return in.fieldCode()
		case "delText", "delInstrText", "softHyphen", "annotationRef", "footnoteRef", "endnoteRef", "object", "sym":
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

func (in *inline) characters() error {
	text, err := in.d.Text()
	if !slices.ContainsFunc(in.fields, func(f field) bool { return !f.result }) { // else it is in the code of one
		in.text = append(in.text, text...)
	}
	if err == nil {
		err = in.fits(len(in.text))
	}
	return err
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
	in.held += len(mark) + len(text)
	return in.fits(in.held)
}

// fits returns an error if that many bytes of the paragraph are more than the file may have.
func (in *inline) fits(size int) error {
	if size > in.out.Budget.Left {
		return in.out.Budget.Spend(size)
	}
	return nil
}

// box reads a text box.
func (in *inline) box() error {
	out := &markdown.Writer{Budget: markdown.NewBudget(in.out.Budget.Left)}
	if err := in.blocks(in.d, out); err != nil {
		return err
	}
	if text := strings.TrimSpace(out.String()); text != "" {
		in.p.boxes = append(in.p.boxes, text)
		in.held += len(text)
	}
	return in.fits(in.held)
}

func (in *inline) link(e xml.StartElement) error {
	from := len(in.text)
	if err := in.children(); err != nil {
		return err
	}
	r := in.relations[ooxml.RelationID(e, "id")]
	if r.External {
		in.linked(from, r.Target)
	}
	return nil
}

// linked makes a link of the text from a position on.
func (in *inline) linked(from int, address string) {
	in.text = append(in.text[:from], markdown.Link(string(in.text[from:]), address)...)
}

func (in *inline) fieldMark(kind string) {
	switch kind {
	case "begin":
		if len(in.fields) < 50 {
			in.fields = append(in.fields, field{})
		}
	case "separate":
		if n := len(in.fields); n > 0 {
			in.fields[n-1].result, in.fields[n-1].from = true, len(in.text)
		}
	case "end":
		n := len(in.fields)
		if n == 0 {
			return
		}
		f := &in.fields[n-1]
		code := strings.Fields(string(f.code))
		in.fields = in.fields[:n-1]
		if f.result && len(code) > 1 && code[0] == "HYPERLINK" && code[1] != `\l` {
			in.linked(f.from, strings.Trim(code[1], `"`))
		}
	}
}

func (in *inline) fieldCode() error {
	text, err := in.d.Text()
	if n := len(in.fields); n > 0 && len(in.fields[n-1].code) < 4096 {
		in.fields[n-1].code = append(in.fields[n-1].code, text...)
	}
	return err
}
