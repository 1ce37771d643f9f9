package docx

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
	"docent/shared/extract/readers/symbols"
)

const (
	maxLists   = 50_000
	maxLevels  = 9    // of a list
	maxCounter = 9999 // a hostile start value must not make Roman numbers long
	maxDigits  = 9    // with the zeros in front
	maxLabel   = 200  // bytes of a level's text, which each of its paragraphs has
)

// level is how one level of a list is numbered.
type level struct {
	format string // of w:numFmt
	text   string // such as "%1.%2"
	start  int
	font   string // of a bullet
	after  int    // it begins again after items of the first levels, this many; maxLevels: of all above it
	legal  bool   // numbers of levels above that have letters or are Roman are shown as numbers
}

type list struct {
	abstract  string
	overrides map[int]level // levels of this list only
	starts    map[int]int
}

type numbering struct {
	abstract map[string]map[int]level
	lists    map[string]list
	counters map[string]*[maxLevels]int // by abstract list, which all its lists continue
	started  map[string]bool            // lists whose start values were set
}

func (r *reader) readNumbering(name string) error {
	n := numbering{
		abstract: map[string]map[int]level{}, lists: map[string]list{},
		counters: map[string]*[maxLevels]int{}, started: map[string]bool{},
	}
	d, err := r.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	ofStyle, likeStyle := map[string]string{}, map[string]string{} // by style, and by abstract list
	err = d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			if len(n.abstract)+len(n.lists) > maxLists {
				return extract.Errorf("The document has more than %d lists.", maxLists)
			}
			switch e.Name.Local {
			case "abstractNum":
				id := reference(e, "abstractNumId")
				levels, err := readLevels(d)
				n.abstract[id] = levels.byNumber
				if levels.style != "" {
					ofStyle[levels.style] = id
				}
				if levels.like != "" {
					likeStyle[id] = levels.like
				}
				return err
			case "num":
				l, err := readList(d)
				n.lists[reference(e, "numId")] = l
				return err
			}
			return nil
		})
	})
	for id, l := range n.lists {
		if style, ok := likeStyle[l.abstract]; ok && ofStyle[style] != "" {
			l.abstract = ofStyle[style]
			n.lists[id] = l
		}
	}
	r.numbering = n
	return err
}

func readList(d *ooxml.Decoder) (list, error) {
	l := list{overrides: map[int]level{}, starts: map[int]int{}}
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "abstractNumId":
			l.abstract = reference(e, "val")
		case "lvlOverride":
			at := number(ooxml.Attr(e, "ilvl"))
			levels, err := readLevels(d)
			for i, v := range levels.byNumber {
				l.overrides[i] = v
			}
			if levels.start >= 0 {
				l.starts[at] = levels.start
			}
			return err
		}
		return nil
	})
	return l, err
}

// levels is what an abstract list, or an override of a level, says.
type levels struct {
	byNumber map[int]level
	start    int    // the start value that it gives instead; -1: none
	style    string // the style of lists that it defines
	like     string // the style of lists whose levels it has
}

// readLevels reads the levels in the current element.
func readLevels(d *ooxml.Decoder) (levels, error) {
	all := levels{byNumber: map[int]level{}, start: -1}
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "startOverride":
			all.start = number(ooxml.Attr(e, "val"))
		case "styleLink":
			all.style = reference(e, "val")
		case "numStyleLink":
			all.like = reference(e, "val")
		case "lvl":
			l := level{start: 1, after: maxLevels}
			err := d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "start":
					l.start = number(ooxml.Attr(e, "val"))
				case "lvlRestart":
					l.after = number(ooxml.Attr(e, "val"))
				case "numFmt":
					l.format = formatOf(e)
				case "AlternateContent": // Word writes a custom format with another one for older readers
					return d.Each(func(xml.StartElement) error {
						return d.Each(func(e xml.StartElement) error {
							if e.Name.Local == "numFmt" {
								l.format = cmp.Or(l.format, formatOf(e))
							}
							return nil
						})
					})
				case "isLgl":
					l.legal = ooxml.On(ooxml.Attr(e, "val"))
				case "rPr":
					return d.Each(func(e xml.StartElement) error {
						if e.Name.Local == "rFonts" {
							l.font = reference(e, "hAnsi")
						}
						return nil
					})
				case "lvlText":
					l.text = ooxml.Attr(e, "val")
					l.text = strings.ToValidUTF8(l.text[:min(len(l.text), maxLabel)], "")
				}
				return nil
			})
			if at := number(ooxml.Attr(e, "ilvl")); at < maxLevels {
				all.byNumber[at] = l
			}
			return err
		}
		return nil
	})
	return all, err
}

// formatOf returns the format that a w:numFmt names: for a custom one its number 1 if that has zeros in front, such as 001, else decimal.
func formatOf(e xml.StartElement) string {
	format := ooxml.Attr(e, "val")
	if format != "custom" {
		return format
	}
	one, _, _ := strings.Cut(ooxml.Attr(e, "format"), ",")
	if len(one) > maxDigits || strings.TrimLeft(one, "0") != "1" || one == "1" {
		return "decimal"
	}
	return one
}

// number returns a number from 0 to maxCounter.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return min(max(n, 0), maxCounter)
}

// label is the text before the paragraph of a list: its bullet or number.
type label struct {
	marker string // of Markdown; "" outside lists
	text   string // what Markdown has no marker for, with a space behind it
	depth  int
}

// label counts the paragraph in its list and returns its label.
func (r *reader) label(p paragraph, s style) label {
	ref := p.list
	if ref.id == "" {
		ref.id = s.list.id
		if !ref.set {
			ref.level = s.list.level
		}
	}
	n := &r.numbering
	l, ok := n.lists[ref.id]
	if !ok || ref.id == "0" || ref.id == "" {
		return label{}
	}
	at := ref.level
	format := n.level(l, at)
	count := n.count(ref.id, l, at)
	switch format.format {
	case "bullet", "":
		text := symbols.Bullet(format.text, format.font)
		if text != "" {
			text += " "
		}
		return label{marker: "-", text: text, depth: at}
	case "none":
		return label{marker: "-", depth: at}
	}
	heading := s.level > 0 || s.title || (p.level != nil && *p.level > 0)
	if !heading && format.format == "decimal" && strings.Trim(format.text, ".) ") == "%"+strconv.Itoa(at+1) {
		return label{marker: strconv.Itoa(count[at]) + ".", depth: at}
	}
	text := strings.TrimSpace(n.shown(l, format, count))
	if text != "" {
		text += " "
	}
	return label{marker: "-", text: text, depth: at}
}

func (n *numbering) level(l list, at int) level {
	if v, ok := l.overrides[at]; ok {
		return v
	}
	return n.abstract[l.abstract][at]
}

// count adds one at the level of the list, and begins the levels below it again, unless they go on.
func (n *numbering) count(id string, l list, at int) [maxLevels]int {
	c := n.counters[l.abstract]
	if c == nil {
		c = new([maxLevels]int)
		for i := range c {
			c[i] = n.level(l, i).start - 1
		}
		n.counters[l.abstract] = c
	}
	if !n.started[id] {
		n.started[id] = true
		for i, start := range l.starts {
			if i < maxLevels {
				c[i] = start - 1
			}
		}
	}
	for i := range at {
		if c[i] < n.level(l, i).start {
			c[i] = n.level(l, i).start // an item without one above it
		}
	}
	c[at]++
	for i := at + 1; i < maxLevels; i++ {
		if below := n.level(l, i); at < below.after {
			c[i] = below.start - 1
		}
	}
	return *c
}

// shown returns the label of Word, such as "4.2" or "(b)".
func (n *numbering) shown(l list, format level, count [maxLevels]int) string {
	text := format.text
	for i := range maxLevels {
		as := n.level(l, i).format
		if format.legal && as != "decimalZero" {
			as = "decimal"
		}
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), numeral(count[i], as))
	}
	return text
}

// numeral returns a number as a format of w:numFmt writes it.
func numeral(n int, format string) string {
	if n < 1 || n > maxCounter {
		return strconv.Itoa(n)
	}
	switch format {
	case "lowerLetter":
		return markdown.Letters(n)
	case "upperLetter":
		return strings.ToUpper(markdown.Letters(n))
	case "lowerRoman":
		return strings.ToLower(markdown.Roman(n))
	case "upperRoman":
		return markdown.Roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	if text := han(n, format); text != "" {
		return text
	}
	text := strconv.Itoa(n)
	if strings.HasPrefix(format, "0") {
		text = strings.Repeat("0", max(0, len(format)-len(text))) + text
	}
	return text
}
