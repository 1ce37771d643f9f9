// Package pptx reads the text of PowerPoint files slide by slide: titles, text with its bullets, tables, diagrams, and
// the speaker's notes. Numbers of slides, dates and footers are left out, as are charts and what is hidden.
package pptx

import (
	"context"
	"encoding/xml"
	"io"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
)

// Read returns the slides that have text, in the order of the presentation.
func Read(ctx context.Context, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	limits = limits.WithDefaults()
	pkg, err := ooxml.Open(ctx, file, size, limits.Inflated)
	if err != nil {
		return extract.Document{}, err
	}
	main, err := pkg.Main("a PowerPoint presentation")
	if err != nil {
		return extract.Document{}, err
	}
	slides, err := slideParts(pkg, main, limits.Pages)
	if err != nil {
		return extract.Document{}, err
	}
	var doc extract.Document
	if doc.Title, err = pkg.Title(); err != nil {
		return extract.Document{}, err
	}
	budget := markdown.NewBudget(limits.Text)
	var hidden, pictures []int
	for i, part := range slides {
		s := &slide{pkg: pkg, out: &markdown.Writer{Budget: budget}}
		if err := s.read(part); err != nil {
			return extract.Document{}, extract.PageError(err, "slide", i+1)
		}
		text := s.out.String()
		switch {
		case s.hidden:
			hidden = append(hidden, i+1)
		case text != "":
			doc.Pages = append(doc.Pages, extract.Page{Number: i + 1, Title: s.title, Markdown: text})
		case s.pictures > 0:
			pictures = append(pictures, i+1)
		}
	}
	doc.Notes = append(doc.Notes, markdown.Numbered(pictures, "Slide %s is a picture without text.", "Slides %s are pictures without text.")...)
	doc.Notes = append(doc.Notes, markdown.Numbered(hidden, "Slide %s is hidden and was left out.", "Slides %s are hidden and were left out.")...)
	if len(doc.Pages) == 0 && len(doc.Notes) == 0 {
		doc.Notes = []string{"The presentation has no text."}
	}
	return doc, nil
}

// slideParts returns the parts of the slides in their order.
func slideParts(pkg *ooxml.Package, main string, most int) ([]string, error) {
	relations, err := pkg.Relations(main)
	if err != nil {
		return nil, err
	}
	d, err := pkg.Decoder(main)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var parts []string
	listed := 0
	isPresentation := false
	err = d.Each(func(root xml.StartElement) error {
		isPresentation = root.Name.Local == "presentation"
		return d.Each(func(e xml.StartElement) error {
			if e.Name.Local != "sldIdLst" {
				return nil
			}
			return d.Each(func(e xml.StartElement) error {
				if listed++; listed > most {
					return extract.Errorf("The file has more than %d slides.", most)
				}
				if r, ok := relations[ooxml.RelationID(e, "id")]; ok && !r.External && pkg.Has(r.Target) {
					parts = append(parts, r.Target)
				}
				return nil
			})
		})
	})
	if err == nil && !isPresentation {
		err = extract.Errorf("The file is not a PowerPoint presentation.")
	}
	return parts, err
}

// slide reads one slide.
type slide struct {
	pkg       *ooxml.Package
	relations map[string]ooxml.Relation
	out       *markdown.Writer
	title     string
	parts     []part
	hidden    bool
	pictures  int
	size      int // bytes of all paragraphs and cells, with paragraphSize and cellSize for each
}

// part is a shape or a table.
type part struct {
	kind       string // of the placeholder; "" if it is none
	isHolder   bool
	paragraphs []paragraph
	table      [][]string
}

func (p part) isTitle() bool { return p.kind == "title" || p.kind == "ctrTitle" }

func (s *slide) read(name string) error {
	var err error
	if s.relations, err = s.pkg.Relations(name); err != nil {
		return err
	}
	if err := s.shapes(name); err != nil || s.hidden {
		return err
	}
	for _, p := range s.parts {
		if p.isTitle() {
			s.title = markdown.Title(s.title + " " + plain(p.paragraphs))
		}
	}
	if err := s.out.Heading(1, s.title); err != nil {
		return err
	}
	for _, p := range s.parts {
		if err := s.write(p); err != nil {
			return err
		}
	}
	return s.notes(name)
}

// shapes collects the parts of a slide.
func (s *slide) shapes(name string) error {
	d, err := s.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Each(func(root xml.StartElement) error {
		if v := ooxml.Attr(root, "show"); v != "" && !ooxml.On(v) {
			s.hidden = true
			return nil
		}
		return d.Each(func(e xml.StartElement) error {
			if e.Name.Local != "cSld" {
				return nil
			}
			return s.tree(d)
		})
	})
}

// tree reads shapes, also those in groups.
func (s *slide) tree(d *ooxml.Decoder) error {
	chosen, hidden := false, false
	return d.Each(func(e xml.StartElement) error {
		if hidden {
			return nil
		}
		switch e.Name.Local {
		case "nvGrpSpPr":
			var err error
			hidden, err = isHidden(d)
			return err
		case "sp":
			return s.shape(d)
		case "graphicFrame":
			return s.frame(d)
		case "pic":
			s.pictures++
		case "Choice":
			chosen = true
			return s.tree(d)
		case "Fallback":
			if !chosen {
				return s.tree(d)
			}
		case "spTree", "grpSp", "AlternateContent":
			return s.tree(d)
		}
		return nil
	})
}

// isHidden reports whether the properties that are the current element hide a group, a table or a diagram.
func isHidden(d *ooxml.Decoder) (hidden bool, err error) {
	err = d.Each(func(e xml.StartElement) error {
		if e.Name.Local == "cNvPr" {
			hidden = hides(e)
		}
		return nil
	})
	return hidden, err
}

func hides(cNvPr xml.StartElement) bool {
	v := ooxml.Attr(cNvPr, "hidden")
	return v != "" && ooxml.On(v)
}

// shape reads a shape. A hidden one is left out, except a title: it still names the slide, in the outline and for screen
// readers.
func (s *slide) shape(d *ooxml.Decoder) error {
	var p part
	hidden := false
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "nvSpPr":
			return d.Each(func(e xml.StartElement) error {
				if e.Name.Local == "cNvPr" {
					hidden = hides(e)
				}
				if e.Name.Local != "nvPr" {
					return nil
				}
				return d.Each(func(e xml.StartElement) error {
					if e.Name.Local == "ph" {
						p.isHolder, p.kind = true, ooxml.Attr(e, "type")
					}
					return nil
				})
			})
		case "txBody":
			var err error
			p.paragraphs, err = s.text(d)
			return err
		}
		return nil
	})
	switch p.kind {
	case "sldNum", "dt", "ftr", "hdr", "sldImg":
	default:
		if len(p.paragraphs) > 0 && (!hidden || p.isTitle()) {
			s.parts = append(s.parts, p)
		}
	}
	return err
}

func (s *slide) write(p part) error {
	switch {
	case p.table != nil:
		return s.out.Table(p.table)
	case p.isTitle():
		return nil
	}
	// In a placeholder for text the design adds the bullets, which the slide does not repeat.
	bullets := p.isHolder && (p.kind == "" || p.kind == "body" || p.kind == "obj") && len(p.paragraphs) > 1
	var numbers counters
	for _, g := range p.paragraphs {
		var err error
		number := numbers.next(g)
		switch {
		case g.numbered:
			marker, label := g.label(number)
			err = s.out.Item(g.level, marker, label+g.text)
		case g.bullet || bullets && !g.noBullet:
			err = s.out.Item(g.level, "-", strings.TrimSpace(g.sign+" "+g.text))
		default:
			err = s.out.Paragraph(g.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notes writes what the speaker noted.
func (s *slide) notes(name string) error {
	part, err := s.pkg.Related(name, "notesSlide")
	if err != nil || part == "" || !s.pkg.Has(part) {
		return err
	}
	n := &slide{pkg: s.pkg, out: s.out}
	if n.relations, err = s.pkg.Relations(part); err != nil {
		return err
	}
	if err := n.shapes(part); err != nil {
		return err
	}
	for _, p := range n.parts {
		if p.kind != "body" || strings.TrimSpace(plain(p.paragraphs)) == "" {
			continue
		}
		if err := s.out.Heading(2, "Speaker notes"); err != nil {
			return err
		}
		for _, g := range p.paragraphs {
			if err := s.out.Paragraph(g.text); err != nil {
				return err
			}
		}
	}
	return nil
}
