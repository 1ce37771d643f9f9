package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
)

// maxColumns of a table; Word itself allows 63.
const maxColumns = 200

// cellSize is what counts for a cell besides its text.
const cellSize = 2

// cell is a cell of a table with its place.
type cell struct {
	text      string
	span      int
	continues bool // it continues the cell above
	deleted   bool // by a tracked change
}

// table reads rows. A cell that spans rows is repeated in each, so that every row can be read alone.
func (r *reader) table(d *ooxml.Decoder) ([][]string, error) {
	var rows [][]string
	var above []string
	held := r.held
	defer func() { r.held = held }()
	err := r.eachInFrames(d, "tr", func() error {
		row, err := r.row(d, above)
		if err != nil || row == nil {
			return err
		}
		if above = row; len(row) > 0 {
			rows = append(rows, row)
		}
		size := 0
		for _, text := range row {
			size += len(text) + cellSize
		}
		return r.hold(size)
	})
	return rows, err
}

// eachInFrames visits the elements with the name, also those within frames such as content controls.
func (r *reader) eachInFrames(d *ooxml.Decoder, name string, visit func() error) error {
	return d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case name:
			return visit()
		case "sdt", "sdtContent", "customXml", "ins", "moveTo", "AlternateContent", "Choice":
			return r.eachInFrames(d, name, visit)
		}
		return nil
	})
}

// row returns the cells of a row, or nil for a row that a tracked change deleted. Cells that one deleted are not in it.
func (r *reader) row(d *ooxml.Decoder, above []string) ([]string, error) {
	row, deleted := []string{}, false
	held := r.held
	defer func() { r.held = held }()
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "trPr":
			return d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "del":
					deleted = true
				case "gridBefore":
					n := number(ooxml.Attr(e, "val"))
					if len(row)+n > maxColumns {
						return tooWide()
					}
					row = append(row, make([]string, n)...)
				}
				return nil
			})
		case "tc":
			return r.addCell(d, &row, above)
		case "sdt":
			return r.eachInFrames(d, "sdtContent", func() error {
				return r.eachInFrames(d, "tc", func() error { return r.addCell(d, &row, above) })
			})
		}
		return nil
	})
	if deleted {
		row = nil
	}
	return row, err
}

func (r *reader) addCell(d *ooxml.Decoder, row *[]string, above []string) error {
	c, err := r.cell(d)
	if err != nil || c.deleted {
		return err
	}
	at := len(*row)
	if at+c.span > maxColumns {
		return tooWide()
	}
	if c.continues && at < len(above) {
		c.text = above[at]
	}
	*row = append(append(*row, c.text), make([]string, c.span-1)...)
	return r.hold(len(c.text))
}

func tooWide() error { return extract.Errorf("A table has more than %d columns.", maxColumns) }

// cell returns a cell with its paragraphs on one line.
func (r *reader) cell(d *ooxml.Decoder) (cell, error) {
	c := cell{span: 1}
	var parts []string
	held := r.held
	defer func() { r.held = held }()
	add := func(text string) error {
		parts = append(parts, text)
		return r.hold(len(text) + 1)
	}
	var visit func(e xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tcPr":
			return d.Each(func(e xml.StartElement) error {
				switch v := ooxml.Attr(e, "val"); e.Name.Local {
				case "gridSpan":
					c.span = max(1, min(number(v), maxColumns))
				case "vMerge":
					c.continues = v != "restart"
				case "cellDel":
					c.deleted = true
				}
				return nil
			})
		case "p":
			p, err := r.paragraph(d)
			if err != nil {
				return err
			}
			return add(r.cellText(p))
		case "tbl":
			rows, err := r.table(d)
			for _, row := range rows {
				if err == nil {
					err = add(strings.Join(row, " "))
				}
			}
			return err
		case "sdt", "sdtContent", "customXml", "ins", "moveTo", "AlternateContent", "Choice":
			return d.Each(visit)
		}
		return nil
	}
	err := d.Each(visit)
	c.text = strings.Join(parts, " ")
	return c, err
}

func (r *reader) cellText(p paragraph) string {
	l := r.label(p, r.styles.resolve(p.style))
	text := l.text + p.text
	if l.marker != "" && l.marker != "-" {
		text = l.marker + " " + text
	}
	return strings.Join(append([]string{text}, append(p.boxes, p.notes...)...), " ")
}

func (r *reader) readNotes(name string, into *map[string]string) error {
	*into = map[string]string{}
	d, err := r.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	// Links in notes have relations of their own.
	own, err := r.pkg.Relations(name)
	if err != nil {
		return err
	}
	size := 0
	outer := r.relations
	r.relations = own
	defer func() { r.relations = outer }()
	return d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			if t := ooxml.Attr(e, "type"); t != "" && t != "normal" {
				return nil // the lines that separate notes from the page
			}
			text, err := r.within(func(out *markdown.Writer) error { return r.blocks(d, out) })
			if err != nil {
				return err
			}
			text = strings.Join(strings.Fields(text), " ")
			if _, err := strconv.Atoi(ooxml.Attr(e, "id")); err == nil && text != "" {
				(*into)[ooxml.Attr(e, "id")] = text
				size += len(text)
			}
			if size > r.out.Budget.Left {
				return r.out.Budget.Spend(size)
			}
			return nil
		})
	})
}
