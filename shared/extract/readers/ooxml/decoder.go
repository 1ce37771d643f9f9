package ooxml

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"docent/shared/extract"
)

const (
	maxDepth = 300      // elements inside each other; Office itself stays below 100
	maxToken = 16 << 20 // bytes of a tag or a text, which is held in memory

	// maxAttributes of an element; Office writes up to about 50. What declares a prefix is held until the element ends.
	maxAttributes = 1000
)

// Decoder reads the XML of a part as nested elements.
type Decoder struct {
	pkg   *Package
	name  string
	in    *part
	xml   *xml.Decoder
	depth int
}

// Decoder opens a part as XML. The caller closes it.
func (p *Package) Decoder(name string) (*Decoder, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return &Decoder{pkg: p, name: name, in: r, xml: xml.NewDecoder(r)}, nil
}

// Close closes the part.
func (d *Decoder) Close() error { return d.in.Close() }

// Each calls visit with each child of the current element, at first with the root. What visit leaves unread of the
// child is skipped.
func (d *Decoder) Each(visit func(xml.StartElement) error) error {
	base := d.depth
	for {
		t, err := d.token()
		if errors.Is(err, io.EOF) && base == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
			if err := d.leave(base); err != nil {
				return err
			}
		}
	}
}

// Text returns the characters directly in the current element and in the elements below it.
func (d *Decoder) Text() (string, error) {
	base := d.depth
	var text strings.Builder
	for d.depth >= base {
		t, err := d.token()
		if err != nil {
			return "", err
		}
		if c, ok := t.(xml.CharData); ok {
			if text.Write(c); text.Len() > maxToken {
				return "", tooLong(d.name)
			}
		}
	}
	return text.String(), nil
}

func (d *Decoder) leave(depth int) error {
	for d.depth > depth {
		if _, err := d.token(); err != nil {
			return err
		}
	}
	return nil
}

// token returns the next token. Its bytes are valid until the next call.
func (d *Decoder) token() (xml.Token, error) {
	d.in.token = 0
	t, err := d.xml.Token()
	if err != nil {
		if errors.Is(err, io.EOF) && d.depth == 0 {
			return nil, io.EOF
		}
		return nil, damaged("The part "+shown(d.name), err)
	}
	switch t := t.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > maxDepth {
			return nil, extract.Errorf("The part %s nests elements more than %d deep.", shown(d.name), maxDepth)
		}
		if len(t.Attr) > maxAttributes {
			return nil, tooManyAttributes(d.name)
		}
	case xml.EndElement:
		d.depth--
	case xml.Directive:
		if strings.HasPrefix(strings.ToUpper(string(t)), "DOCTYPE") {
			return nil, extract.Errorf("The part %s declares a document type, which no Office file does.", shown(d.name))
		}
	}
	return t, nil
}

// Attr returns the value of the attribute with the local name, or "".
func Attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// RelationID returns the value of the attribute of the relations' namespace with the local name, such as r:id.
func RelationID(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

// On reports whether the value of a switch, such as w:val of w:b, is on. Without a value it is.
func On(value string) bool { return value != "0" && value != "false" && value != "off" }
