package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/ooxml"
)

// style is what a style says about structure, and whether it hides text. Names of built-in styles are English in files of every
// language; only their ids are translated.
type style struct {
	basedOn  string
	name     string
	level    int // of a heading, from 1; 0 if none; body if the style says that it is none
	list     listRef
	title    bool
	contents bool // a line of a table of contents
	hidden   *bool
}

// maxStyles of a document; Word has 4,079.
const maxStyles = 20_000

// maxReference bounds the bytes of what names a style or a list; Word's own names of styles have at most 253 characters. It is looked up for
// every paragraph, also those of styles that are based on each other.
const maxReference = 1024

// reference returns the value of an attribute that names a style or a list, or "", which names none, for one that is too long.
func reference(e xml.StartElement, local string) string {
	v := ooxml.Attr(e, local)
	if len(v) > maxReference {
		return ""
	}
	return v
}

// body is the level of a style that is explicitly not a heading.
const body = -1

// listRef points to a level of a list.
type listRef struct {
	id    string // "0" takes a paragraph out of the list of its style
	level int
	set   bool // the level was given
}

type styles struct {
	byID      map[string]style
	byDefault string
}

func (r *reader) readStyles(name string) error {
	r.styles.byID = map[string]style{}
	d, err := r.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			kind := ooxml.Attr(e, "type")
			if e.Name.Local != "style" || kind != "paragraph" && kind != "character" {
				return nil
			}
			s, err := readStyle(d)
			if err != nil {
				return err
			}
			id := reference(e, "styleId")
			if id == "" {
				return nil
			}
			if r.styles.byID[id] = s; len(r.styles.byID) > maxStyles {
				return extract.Errorf("The document has more than %d styles.", maxStyles)
			}
			if v := ooxml.Attr(e, "default"); v != "" && ooxml.On(v) && kind == "paragraph" {
				r.styles.byDefault = id
			}
			return nil
		})
	})
}

func readStyle(d *ooxml.Decoder) (style, error) {
	var s style
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "name":
			s.name = strings.ToLower(ooxml.Attr(e, "val"))
			s.named()
		case "basedOn":
			s.basedOn = reference(e, "val")
		case "rPr":
			return d.Each(func(e xml.StartElement) error {
				if e.Name.Local == "vanish" {
					hidden := ooxml.On(ooxml.Attr(e, "val"))
					s.hidden = &hidden
				}
				return nil
			})
		case "pPr":
			return d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "outlineLvl":
					s.level = outline(e)
				case "numPr":
					var err error
					s.list, err = readListRef(d)
					return err
				}
				return nil
			})
		}
		return nil
	})
	return s, err
}

// named sets what the names of built-in styles mean.
func (s *style) named() {
	s.title = s.name == "title"
	s.contents = strings.HasPrefix(s.name, "toc ") && s.name != "toc heading"
	if n, ok := strings.CutPrefix(s.name, "heading "); ok {
		if level, err := strconv.Atoi(n); err == nil && level >= 1 && level <= 9 && s.level == 0 {
			s.level = level
		}
	}
}

// outline returns the level of a w:outlineLvl, whose 0 is the first and whose 9 is body text.
func outline(e xml.StartElement) int {
	level, err := strconv.Atoi(ooxml.Attr(e, "val"))
	switch {
	case err != nil || level < 0:
		return 0
	case level >= 9:
		return body
	}
	return level + 1
}

func readListRef(d *ooxml.Decoder) (listRef, error) {
	var ref listRef
	err := d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numId":
			ref.id = reference(e, "val")
		case "ilvl":
			if n, err := strconv.Atoi(ooxml.Attr(e, "val")); err == nil && n >= 0 && n < maxLevels {
				ref.level, ref.set = n, true
			}
		}
		return nil
	})
	return ref, err
}

// resolve returns the style with the values that it inherits. It follows at most 20 parents, because a file
// can have a cycle of them.
func (s styles) resolve(id string) style {
	if id == "" {
		id = s.byDefault
	}
	found := s.byID[id]
	for range 20 {
		parent, ok := s.byID[found.basedOn]
		if !ok {
			break
		}
		if found.level == 0 {
			found.level = parent.level
		}
		if found.list.id == "" {
			found.list.id = parent.list.id
			if !found.list.set {
				found.list.level, found.list.set = parent.list.level, parent.list.set
			}
		}
		found.title = found.title || parent.title
		if found.hidden == nil {
			found.hidden = parent.hidden
		}
		found.basedOn = parent.basedOn
	}
	return found
}

// hides reports whether the style hides text; without saying so, it leaves that as it is without the style.
func (s styles) hides(id string, without bool) bool {
	if hidden := s.resolve(id).hidden; hidden != nil {
		return *hidden
	}
	return without
}
