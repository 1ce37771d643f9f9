package pptx

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/formula"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
	"docent/shared/extract/readers/symbols"
	"docent/shared/raised"
)

// paragraph is a paragraph of a shape.
type paragraph struct {
	text                       string
	level                      int
	start                      int    // of the numbers, if it is numbered
	scheme                     string // of the numbers, such as "alphaLcParenR"
	bullet, noBullet, numbered bool
	sign                       string // of a bullet that says something, such as a tick
}

// What is held for each paragraph and each cell besides its text, in about the bytes that it needs, counts against the text that a file
// may have: a slide is held as a whole.
const (
	paragraphSize = 16
	cellSize      = 2
)

// maxLevel is the deepest level of a paragraph.
const maxLevel = 8

// counters are the last numbers of the paragraphs of a shape, by level; 0: the next one begins.
type counters [maxLevel + 1]int

// next returns the number of p, which follows the paragraphs before. Numbers go on over what is below them, and end at
// a paragraph of their own level, or above, that has no number.
func (c *counters) next(p paragraph) int {
	clear(c[p.level+1:])
	switch {
	case !p.numbered:
		c[p.level] = 0
	case c[p.level] == 0:
		c[p.level] = p.start
	default:
		c[p.level]++
	}
	return c[p.level]
}

// maxNumber is the highest number that is written by letters or as a Roman one; a hostile start value must not make it long.
const maxNumber = 9999

// label returns the Markdown marker of a numbered paragraph. Markdown has none for letters and Roman numbers: then the marker
// is a bullet, and text is the label with a space behind it. An unknown scheme counts by numbers.
func (p paragraph) label(number int) (marker, text string) {
	counted := ""
	if number >= 1 && number <= maxNumber {
		switch {
		case strings.HasPrefix(p.scheme, "alphaLc"):
			counted = markdown.Letters(number)
		case strings.HasPrefix(p.scheme, "alphaUc"):
			counted = strings.ToUpper(markdown.Letters(number))
		case strings.HasPrefix(p.scheme, "romanLc"):
			counted = strings.ToLower(markdown.Roman(number))
		case strings.HasPrefix(p.scheme, "romanUc"):
			counted = markdown.Roman(number)
		}
	}
	if counted == "" {
		return strconv.Itoa(number) + ".", ""
	}
	switch {
	case strings.HasSuffix(p.scheme, "ParenBoth"):
		counted = "(" + counted + ")"
	case strings.HasSuffix(p.scheme, "ParenR"):
		counted += ")"
	default:
		counted += "."
	}
	return "-", counted + " "
}

func plain(all []paragraph) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.text
	}
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// text reads the paragraphs in the current element.
func (s *slide) text(d *ooxml.Decoder) ([]paragraph, error) {
	var all []paragraph
	err := d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return nil
		}
		p, err := s.paragraph(d)
		if err != nil || strings.TrimSpace(p.text) == "" {
			return err
		}
		all = append(all, p)
		return s.hold(len(p.text) + paragraphSize)
	})
	return all, err
}

// hold counts n bytes of the slide. It returns an error if they are more than the file may have.
func (s *slide) hold(n int) error {
	if s.size += n; s.size > s.out.Budget.Most {
		return s.out.Budget.Spend(s.size)
	}
	return nil
}

// fits returns an error if text is longer than what the file may still have.
func (s *slide) fits(text *markdown.Runs) error {
	if text.Len() > s.out.Budget.Left {
		return s.out.Budget.Spend(text.Len())
	}
	return nil
}

func (s *slide) paragraph(d *ooxml.Decoder) (paragraph, error) {
	var p paragraph
	var text markdown.Runs
	var visit func(e xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			if n, err := strconv.Atoi(ooxml.Attr(e, "lvl")); err == nil {
				p.level = min(max(n, 0), maxLevel)
			}
			font := ""
			return d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "buNone":
					p.noBullet = true
				case "buFont": // before the character
					font = ooxml.Attr(e, "typeface")
				case "buChar", "buBlip":
					p.bullet, p.sign = true, symbols.Bullet(ooxml.Attr(e, "char"), font)
				case "buAutoNum":
					p.numbered, p.start, p.scheme = true, 1, ooxml.Attr(e, "type")
					if n, err := strconv.Atoi(ooxml.Attr(e, "startAt")); err == nil {
						p.start = n
					}
				}
				return nil
			})
		case "r":
			return s.run(d, &text)
		case "br":
			text.Add("\n", false)
			return s.fits(&text)
		case "fld":
			if kind := ooxml.Attr(e, "type"); kind == "slidenum" || strings.HasPrefix(kind, "datetime") {
				return nil
			}
			return s.run(d, &text)
		case "oMath", "oMathPara":
			t, err := formula.Text(d, s.hold)
			text.Add(t, false)
			return cmp.Or(err, s.fits(&text))
		case "Fallback", "endParaRPr", "rPr":
		default:
			return d.Each(visit)
		}
		return nil
	}
	err := d.Each(visit)
	p.text = text.String()
	return p, err
}

func (s *slide) run(d *ooxml.Decoder, text *markdown.Runs) error {
	address, font, symbolFont, above, struck := "", "", "", false, false
	return d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rPr":
			height, _ := strconv.Atoi(strings.TrimSuffix(ooxml.Attr(e, "baseline"), "%"))
			above = height > 0
			strike := ooxml.Attr(e, "strike")
			struck = strike == "sngStrike" || strike == "dblStrike"
			return d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "latin":
					font = ooxml.Attr(e, "typeface")
				case "sym":
					symbolFont = ooxml.Attr(e, "typeface")
				case "hlinkClick":
					if r := s.relations[ooxml.RelationID(e, "id")]; r.External {
						address = r.Target
					}
				}
				return nil
			})
		case "t":
			t, err := d.Text()
			t = symbols.Text(symbols.Text(t, symbolFont, true), font, false)
			if above {
				t = raised.Text(t)
			}
			text.Add(markdown.Link(t, address), struck)
			return cmp.Or(err, s.fits(text))
		}
		return nil
	})
}

// frame reads a table or a diagram, unless it is hidden.
func (s *slide) frame(d *ooxml.Decoder) error {
	hidden := false
	return d.Each(func(e xml.StartElement) error {
		if hidden {
			return nil
		}
		switch e.Name.Local {
		case "nvGraphicFramePr":
			var err error
			hidden, err = isHidden(d)
			return err
		case "graphic", "graphicData":
			return s.frame(d)
		case "tbl":
			rows, err := s.table(d)
			s.parts = append(s.parts, part{table: rows})
			return err
		case "relIds":
			return s.diagram(s.relations[ooxml.RelationID(e, "dm")])
		}
		return nil
	})
}

// maxColumns of a table.
const maxColumns = 1000

// table reads rows. A cell that spans rows is repeated in each.
func (s *slide) table(d *ooxml.Decoder) ([][]string, error) {
	var rows [][]string
	var above []string
	size := 0
	err := d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return nil
		}
		var row []string
		err := d.Each(func(e xml.StartElement) error {
			if e.Name.Local != "tc" {
				return nil
			}
			text, err := s.cell(d)
			if v := ooxml.Attr(e, "vMerge"); v != "" && ooxml.On(v) && len(row) < len(above) {
				text = above[len(row)]
			}
			row = append(row, text)
			if size += len(text) + 1; size > s.out.Budget.Left {
				return s.out.Budget.Spend(size)
			}
			if len(row) > maxColumns {
				return extract.Errorf("A table has more than %d columns.", maxColumns)
			}
			return cmp.Or(err, s.hold(cellSize))
		})
		if above = row; len(row) > 0 {
			rows = append(rows, row)
		}
		return err
	})
	return rows, err
}

func (s *slide) cell(d *ooxml.Decoder) (string, error) {
	text := ""
	err := d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "txBody" {
			return nil
		}
		all, err := s.text(d)
		text = plain(all)
		return err
	})
	return text, err
}

// diagram reads the texts of a SmartArt diagram, which is a part of its own.
func (s *slide) diagram(r ooxml.Relation) error {
	if r.Target == "" || r.External || !s.pkg.Has(r.Target) {
		return nil
	}
	d, err := s.pkg.Decoder(r.Target)
	if err != nil {
		return err
	}
	defer d.Close()
	var p part
	var visit func(e xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "dataModel", "ptLst", "pt":
			return d.Each(visit)
		case "t":
			all, err := s.text(d)
			if text := plain(all); text != "" {
				p.paragraphs = append(p.paragraphs, paragraph{text: text, bullet: true})
			}
			return err
		}
		return nil
	}
	err = d.Each(visit)
	s.parts = append(s.parts, p)
	return err
}
