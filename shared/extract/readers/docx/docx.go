// Package docx reads the text of Word files: headings, lists, tables, notes, links and text boxes. Text that a tracked
// change deleted, and hidden text, are left out, as are headers, footers, comments and the table of contents.
package docx

import (
	"context"
	"encoding/xml"
	"io"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
)

// reader reads one file.
type reader struct {
	pkg       *ooxml.Package
	relations map[string]ooxml.Relation
	styles    styles
	numbering numbering
	footnotes map[string]string
	endnotes  map[string]string
	out       *markdown.Writer // of the body, or of the text box or the note that is read
	held      int              // bytes of paragraphs and tables that have begun, which are not in out yet
	title     string           // of the first paragraph with the style Title
	shown     int              // notes so far
	pictures  int
}

// Read returns the file as a document of one page.
func Read(ctx context.Context, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	limits = limits.WithDefaults()
	pkg, err := ooxml.Open(ctx, file, size, limits.Inflated)
	if err != nil {
		return extract.Document{}, err
	}
	main, err := pkg.Main("a Word document")
	if err != nil {
		return extract.Document{}, err
	}
	r := &reader{pkg: pkg, out: &markdown.Writer{Budget: markdown.NewBudget(limits.Text)}}
	if r.relations, err = pkg.Relations(main); err != nil {
		return extract.Document{}, err
	}
	if err := r.readParts(main); err != nil {
		return extract.Document{}, err
	}
	if err := r.body(main); err != nil {
		return extract.Document{}, err
	}
	return r.document()
}

// readParts reads the parts to which the body refers. Notes are last: their paragraphs have styles and are in lists.
func (r *reader) readParts(main string) error {
	for _, part := range []struct {
		kind string
		read func(name string) error
	}{
		{"styles", r.readStyles}, {"numbering", r.readNumbering},
		{"footnotes", func(name string) error { return r.readNotes(name, &r.footnotes) }},
		{"endnotes", func(name string) error { return r.readNotes(name, &r.endnotes) }},
	} {
		name, err := r.pkg.Related(main, part.kind)
		if err != nil {
			return err
		}
		if name == "" || !r.pkg.Has(name) {
			continue
		}
		if err := part.read(name); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) body(main string) error {
	d, err := r.pkg.Decoder(main)
	if err != nil {
		return err
	}
	defer d.Close()
	isWord := false
	err = d.Each(func(root xml.StartElement) error {
		isWord = root.Name.Local == "document"
		return d.Each(func(e xml.StartElement) error {
			if e.Name.Local != "body" {
				return nil
			}
			return r.blocks(d, r.out)
		})
	})
	if err == nil && !isWord {
		err = extract.Errorf("The file is not a Word document.")
	}
	return err
}

// hold counts n bytes that are in memory until what has begun is written, and returns an error if they are more than the file may still
// have. What holds them sets held back to what it was before: everything around it, however deep, counts too.
func (r *reader) hold(n int) error {
	if r.held += n; r.held > r.out.Budget.Left {
		return r.out.Budget.Spend(r.held)
	}
	return nil
}

// within calls read with a writer for the text of a box or a note, and returns the text. It has at most what its surroundings leave of the budget.
func (r *reader) within(read func(out *markdown.Writer) error) (string, error) {
	outer, held := r.out, r.held
	r.out, r.held = &markdown.Writer{Budget: &markdown.Budget{Left: outer.Budget.Left - held, Most: outer.Budget.Most}}, 0
	err := read(r.out)
	text := r.out.String()
	r.out, r.held = outer, held
	return text, err
}

// blocks writes the paragraphs and tables in the current element.
func (r *reader) blocks(d *ooxml.Decoder, out *markdown.Writer) error {
	var before begun
	held := r.held
	defer func() { r.held = held }()
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "p":
			p, err := r.paragraph(d)
			if err != nil {
				return err
			}
			if p.runsOn {
				before.add(p)
				return r.hold(p.size())
			}
			r.held = held
			return r.write(out, before.join(p))
		case "tbl":
			r.held = held
			if err := r.end(&before, out); err != nil {
				return err
			}
			rows, err := r.table(d)
			if err != nil {
				return err
			}
			return out.Table(rows)
		case "sdt", "sdtContent", "customXml", "ins", "moveTo", "AlternateContent", "Choice", "smartTag":
			r.held = held
			if err := r.end(&before, out); err != nil {
				return err
			}
			return r.blocks(d, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.end(&before, out)
}

// end writes the paragraph that was begun, if nothing continues it.
func (r *reader) end(before *begun, out *markdown.Writer) error {
	if !before.any {
		return nil
	}
	return r.write(out, before.join(before.last))
}

// write writes a paragraph as its style says, and after it what it holds besides its own text.
func (r *reader) write(out *markdown.Writer, p paragraph) error {
	style := r.styles.resolve(p.style)
	if style.contents {
		return nil
	}
	level := style.level
	if p.level != nil {
		level = *p.level
	}
	label := r.label(p, style)
	var err error
	switch {
	case strings.TrimSpace(p.text) == "": // it has its number in a list, and nothing to write
	case style.title:
		if r.title == "" {
			r.title = markdown.Title(p.text)
		}
		err = out.Heading(1, p.text)
	case level > 0:
		err = out.Heading(level, label.text+p.text)
	case label.marker != "":
		err = out.Item(label.depth, label.marker, label.text+p.text)
	default:
		err = out.Paragraph(p.text)
	}
	if err != nil {
		return err
	}
	for _, text := range append(p.boxes, p.notes...) {
		if err := out.Verbatim(text); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) document() (extract.Document, error) {
	title, err := r.pkg.Title()
	if err != nil {
		return extract.Document{}, err
	}
	if title == "" {
		title = r.title
	}
	doc := extract.Document{Title: title}
	if text := r.out.String(); text != "" {
		doc.Pages = []extract.Page{{Number: 1, Markdown: text}}
		return doc, nil
	}
	if r.pictures > 0 {
		doc.Notes = []string{"The document has pictures and no text."}
	} else {
		doc.Notes = []string{"The document has no text."}
	}
	return doc, nil
}
