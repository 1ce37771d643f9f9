// Package formula writes the formulas of Office files on a line. Their parts are elements without a sign between them: a half is a 1 and
// a 2 that stand above each other, which must not become 12.
package formula

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"docent/shared/extract/readers/ooxml"
	"docent/shared/raised"
)

// Bytes of a part of a formula, so that parts inside each other take no time.
const (
	maxOperand = 4096 // that is put in brackets, or gets a sign
	maxSingle  = 64   // that may need no brackets
)

type writer struct {
	d    *ooxml.Decoder
	hold func(int) error
	text []byte
	// fraction is where the last fraction ends: a letter or digit behind it belongs to none of its parts.
	fraction int
}

// Text returns the formula in the current element. The bytes of its characters are given to hold, whose error ends the reading.
func Text(d *ooxml.Decoder, hold func(int) error) (string, error) {
	w := &writer{d: d, hold: hold}
	err := w.children()
	return string(w.text), err
}

func (w *writer) children() error { return w.d.Each(w.element) }

func (w *writer) element(e xml.StartElement) error {
	switch e.Name.Local {
	case "t":
		return w.characters()
	case "del", "moveFrom":
		return nil
	case "f":
		return w.fractionOf()
	case "sub", "lim":
		return w.index()
	case "sup":
		return w.exponent()
	case "rad":
		return w.root()
	case "nary":
		return w.sum()
	case "d":
		return w.brackets()
	case "m", "eqArr":
		return w.separated("; ")
	case "mr":
		return w.separated(", ")
	case "fName":
		err := w.children()
		return cmp.Or(err, w.write(" "))
	}
	if strings.HasSuffix(e.Name.Local, "Pr") {
		return nil
	}
	return w.children()
}

func (w *writer) write(text string) error {
	w.text = append(w.text, text...)
	return w.hold(len(text))
}

func (w *writer) characters() error {
	text, err := w.d.Text()
	if err != nil {
		return err
	}
	text = norm.NFKC.String(text) // letters instead of the signs for letters of a formula
	if first, _ := utf8.DecodeRuneInString(text); w.fraction == len(w.text) && w.fraction > 0 && inWord(first) {
		text = " " + text
	}
	return w.write(text)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// last returns the last character before a position.
func (w *writer) last(at int) rune {
	r, _ := utf8.DecodeLastRune(w.text[:at])
	return r
}

// fractionOf writes a fraction behind what is before it: one and a half is no 11/2.
func (w *writer) fractionOf() error {
	if inWord(w.last(len(w.text))) {
		if err := w.write(" "); err != nil {
			return err
		}
	}
	sign := "/"
	err := w.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "fPr":
			return w.d.Each(func(e xml.StartElement) error {
				if e.Name.Local == "type" && ooxml.Attr(e, "val") == "noBar" {
					sign = "¦"
				}
				return nil
			})
		case "num":
			err := w.operand()
			return cmp.Or(err, w.write(sign))
		case "den":
			return w.operand()
		}
		return nil
	})
	w.fraction = len(w.text)
	return err
}

// operand writes a part, in brackets if it has more than a number or a word.
func (w *writer) operand() error {
	from := len(w.text)
	if err := w.children(); err != nil {
		return err
	}
	size := len(w.text) - from
	if size > maxOperand || size <= maxSingle && single(string(w.text[from:])) {
		return nil
	}
	w.text = append(slices.Insert(w.text, from, '('), ')')
	return w.hold(2)
}

func single(part string) bool {
	if utf8.RuneCountInString(part) <= 1 {
		return true
	}
	if inner, opens := strings.CutPrefix(part, "("); opens && strings.IndexAny(inner, "()") == len(inner)-1 {
		return true
	}
	others := func(inside func(rune) bool) bool {
		return strings.ContainsFunc(part, func(r rune) bool { return !inside(r) })
	}
	return !others(unicode.IsLetter) || !others(func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ',' })
}

// index writes what stands below the line. The sign for it must not begin emphasis, which it does not between letters and digits.
func (w *writer) index() error {
	from := len(w.text)
	if err := w.operand(); err != nil || len(w.text) == from {
		return err
	}
	sign := `\_`
	if first, _ := utf8.DecodeRune(w.text[from:]); inWord(first) && inWord(w.last(from)) {
		sign = "_"
	}
	return w.insert(from, sign)
}

// insert writes a sign before a part.
func (w *writer) insert(at int, sign string) error {
	if len(w.text)-at > maxOperand {
		return nil
	}
	w.text = slices.Insert(w.text, at, []byte(sign)...)
	return w.hold(len(sign))
}

func (w *writer) exponent() error {
	from := len(w.text)
	if err := w.operand(); err != nil || len(w.text) == from {
		return err
	}
	if len(w.text)-from <= maxSingle {
		part := strings.TrimSuffix(strings.TrimPrefix(string(w.text[from:]), "("), ")")
		if raised.Number(part) {
			part = raised.Text(part)
			w.text = append(w.text[:from], part...)
			return w.hold(len(part))
		}
	}
	return w.insert(from, "^")
}

func (w *writer) root() error {
	return w.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "deg":
			from := len(w.text)
			if err := w.operand(); err != nil || len(w.text)-from > maxSingle {
				return err
			}
			part := raised.Text(string(w.text[from:]))
			w.text = append(w.text[:from], part...)
			return w.hold(len(part))
		case "e":
			if err := w.write("√"); err != nil {
				return err
			}
			return w.operand()
		}
		return nil
	})
}

// sum writes a sum, a product or an integral with what stands below and above its sign.
func (w *writer) sum() error {
	sign := "∫"
	return w.d.Each(func(e xml.StartElement) error {
		if e.Name.Local == "naryPr" {
			return w.d.Each(func(e xml.StartElement) error {
				if e.Name.Local == "chr" {
					sign = ooxml.Attr(e, "val")
				}
				return nil
			})
		}
		before := sign
		if sign = ""; e.Name.Local == "e" {
			before += " "
		}
		err := w.write(before)
		return cmp.Or(err, w.element(e))
	})
}

// brackets writes parts between brackets, which are round ones if the formula does not say so. Square ones must not begin a link.
func (w *writer) brackets() error {
	opening, closing, between := "(", ")", "|"
	parts := 0
	err := w.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "dPr":
			return w.d.Each(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "begChr":
					opening = ooxml.Attr(e, "val")
				case "endChr":
					closing = ooxml.Attr(e, "val")
				case "sepChr":
					between = ooxml.Attr(e, "val")
				}
				return nil
			})
		case "e":
			before := between
			if parts++; parts == 1 {
				before = strings.ReplaceAll(opening, "[", `\[`)
			}
			if err := w.write(before); err != nil {
				return err
			}
			return w.children()
		}
		return nil
	})
	return cmp.Or(err, w.write(closing))
}

// separated writes the rows of a matrix, the cells of a row, or the lines of several equations.
func (w *writer) separated(between string) error {
	parts := 0
	return w.d.Each(func(e xml.StartElement) error {
		if strings.HasSuffix(e.Name.Local, "Pr") {
			return nil
		}
		if parts++; parts > 1 {
			if err := w.write(between); err != nil {
				return err
			}
		}
		return w.element(e)
	})
}
