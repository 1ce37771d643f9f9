package web

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Bounds of the XML of a sitemap, which the decoder would keep in memory.
const (
	maxToken = 1 << 20 // bytes of a tag or of a text
	maxDepth = 50      // elements within each other
	maxAttrs = 100     // of an element; what declares a prefix is kept until the element ends
	maxTime  = 64      // bytes of a time
)

// sitemapEntry is a page or, in an index, a sitemap.
type sitemapEntry struct {
	location string // the start of it if it is long
	long     bool   // it has more than fetch.MaxURL bytes
	changed  string
}

// parse calls visit with each entry of a sitemap, or of an index, while it reads it. It returns the errors of visit, and
// otherwise a *source.SyncError.
func parse(r io.Reader, visit func(index bool, e sitemapEntry) error) error {
	d := newDecoder(r)
	root := ""
	err := d.children(func(name string) error {
		if root = name; root != "urlset" && root != "sitemapindex" {
			return errors.New("the root element is not of a sitemap")
		}
		return d.children(func(name string) error {
			if name != "url" && name != "sitemap" {
				return nil
			}
			e, err := d.entry()
			if err != nil {
				return err
			}
			return visit(root == "sitemapindex", e)
		})
	})
	var known *source.SyncError
	switch {
	case errors.As(err, &known):
		return known
	case err != nil:
		return broken(err)
	case root == "":
		return broken(io.ErrUnexpectedEOF)
	}
	return nil
}

// decoder reads XML as nested elements.
type decoder struct {
	xml   *xml.Decoder
	token *boundedReader // of the current token
	depth int
}

func newDecoder(r io.Reader) *decoder {
	token := &boundedReader{in: r, err: &source.SyncError{Code: source.TooLarge, Detail: "The sitemap has a tag or a text of more than 1 MB."}}
	d := &decoder{xml: xml.NewDecoder(token), token: token}
	d.xml.CharsetReader = utf8Of
	return d
}

// utf8Of returns the text of in, in the set of characters that a sitemap names, as UTF-8. The protocol allows only that, but sites name
// others, or spell it in another way. The URLs are ASCII in all of these.
func utf8Of(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf8", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "iso8859-1", "latin1", "windows-1252":
		return latin1{in}, nil
	}
	return nil, fmt.Errorf("the set of characters %q", name)
}

// latin1 is a text in ISO 8859-1, read as UTF-8.
type latin1 struct{ io.Reader }

func (l latin1) Read(b []byte) (int, error) {
	raw := make([]byte, len(b)/2) // each byte becomes at most two
	n, err := l.Reader.Read(raw)
	out := b[:0]
	for _, c := range raw[:n] {
		out = utf8.AppendRune(out, rune(c))
	}
	return len(out), err
}

// boundedReader returns err once left bytes were read.
type boundedReader struct {
	in   io.Reader
	left int64
	err  error
}

func (r *boundedReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, r.err
	}
	n, err := r.in.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	return n, err
}

// next returns the next token. Its bytes are valid until the next call.
func (d *decoder) next() (xml.Token, error) {
	d.token.left = maxToken
	t, err := d.xml.Token()
	switch e := t.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > maxDepth {
			return nil, errors.New("too many elements within each other")
		}
		if len(e.Attr) > maxAttrs {
			return nil, errors.New("too many attributes of an element")
		}
	case xml.EndElement:
		d.depth--
	}
	return t, err
}

// children calls visit with the name of each child of the current element, at first of the root. What visit leaves unread
// of the child is skipped.
func (d *decoder) children(visit func(name string) error) error {
	base := d.depth
	for {
		t, err := d.next()
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
			if err := visit(t.Name.Local); err != nil {
				return err
			}
			for d.depth > base {
				if _, err := d.next(); err != nil {
					return err
				}
			}
		}
	}
}

// entry returns the entry that is the current element.
func (d *decoder) entry() (e sitemapEntry, err error) {
	err = d.children(func(name string) (err error) {
		switch name {
		case "loc":
			e.location, err = d.text(fetch.MaxURL + 1)
			if e.long = len(e.location) > fetch.MaxURL; e.long {
				e.location = startOf(e.location)
			}
		case "lastmod":
			e.changed, err = d.text(maxTime)
		}
		return err
	})
	return e, err
}

// text returns up to most bytes of the text directly in the current element, without blanks around it.
func (d *decoder) text(most int) (string, error) {
	base := d.depth
	var text []byte
	for d.depth >= base {
		t, err := d.next()
		if err != nil {
			return "", err
		}
		if c, ok := t.(xml.CharData); ok && d.depth == base {
			if len(text) == 0 {
				c = bytes.TrimLeft(c, " \t\r\n")
			}
			text = append(text, c[:min(len(c), most-len(text))]...)
		}
	}
	return strings.TrimSpace(string(text)), nil
}
