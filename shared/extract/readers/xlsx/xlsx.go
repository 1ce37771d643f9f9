// Package xlsx reads the cells of Excel files sheet by sheet as tables: the values that formulas had when the file was
// saved, dates and numbers as their formats show them, merged cells repeated in each row. Charts are left out, and hidden sheets,
// rows and columns.
//
// It reads the parts as a stream. Of excelize, the library for such files, every part is held in memory, no context ends
// the work, and a sheet that breaks off in the middle is read as if it ended there.
package xlsx

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/extract/readers/ooxml"
	"docent/shared/extract/readers/symbols"
	"docent/shared/raised"
)

// workbook is what the cells of all sheets refer to.
type workbook struct {
	pkg     *ooxml.Package
	strings []string
	formats []cellFormat // by the number of a cell's style
	is1904  bool
	sheets  []sheet
	partly  []string // names of sheets with hidden rows or columns
	lacking []string // names of sheets with formulas that have no values
	// onOpening: Excel is to calculate all formulas when it opens the file.
	onOpening bool
	budget    *markdown.Budget
}

// sheet is an entry of the workbook.
type sheet struct {
	name, part string
	hidden     bool
}

// Read returns the sheets that have text.
func Read(ctx context.Context, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	limits = limits.WithDefaults()
	pkg, err := ooxml.Open(ctx, file, size, limits.Inflated)
	if err != nil {
		return extract.Document{}, err
	}
	b := &workbook{pkg: pkg, budget: markdown.NewBudget(limits.Text)}
	if err := b.open(limits.Pages); err != nil {
		return extract.Document{}, err
	}
	var doc extract.Document
	if doc.Title, err = pkg.Title(); err != nil {
		return extract.Document{}, err
	}
	var hidden []string
	for i, s := range b.sheets {
		if s.hidden {
			hidden = append(hidden, s.name)
			continue
		}
		text, err := b.sheet(s)
		if err != nil {
			return extract.Document{}, extract.PageError(err, "sheet", i+1)
		}
		if text != "" {
			doc.Pages = append(doc.Pages, extract.Page{Number: i + 1, Title: s.name, Markdown: text})
		}
	}
	switch {
	case len(hidden) == 1:
		doc.Notes = append(doc.Notes, "The sheet "+hidden[0]+" is hidden and was left out.")
	case len(hidden) > 1:
		doc.Notes = append(doc.Notes, fmt.Sprintf("%d sheets are hidden and were left out.", len(hidden)))
	}
	switch {
	case len(b.partly) == 1:
		doc.Notes = append(doc.Notes, "Hidden rows or columns of the sheet "+b.partly[0]+" were left out.")
	case len(b.partly) > 1:
		doc.Notes = append(doc.Notes, fmt.Sprintf("Hidden rows or columns of %d sheets were left out.", len(b.partly)))
	}
	switch {
	case len(b.lacking) == 1:
		doc.Notes = append(doc.Notes, "Formulas of the sheet "+b.lacking[0]+" have no values. "+calculate)
	case len(b.lacking) > 1:
		doc.Notes = append(doc.Notes, fmt.Sprintf("Formulas of %d sheets have no values. ", len(b.lacking))+calculate)
	}
	if len(doc.Pages) == 0 && len(doc.Notes) == 0 {
		doc.Notes = []string{"The workbook has no text."}
	}
	return doc, nil
}

const calculate = "To calculate them, open the file in a spreadsheet program, and save it."

// open reads the list of sheets, the styles and the shared strings.
func (b *workbook) open(pages int) error {
	main, err := b.pkg.Main("an Excel workbook")
	if err != nil {
		return err
	}
	if strings.HasSuffix(main, ".bin") {
		return extract.Errorf("The file is a binary workbook. Save it as .xlsx.")
	}
	relations, err := b.pkg.Relations(main)
	if err != nil {
		return err
	}
	if err := b.list(main, relations, pages); err != nil {
		return err
	}
	for _, part := range []struct {
		kind string
		read func(name string) error
	}{{"sharedStrings", b.readStrings}, {"styles", b.readStyles}} {
		name, err := b.pkg.Related(main, part.kind)
		if err == nil && name != "" && b.pkg.Has(name) {
			err = part.read(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *workbook) list(main string, relations map[string]ooxml.Relation, pages int) error {
	d, err := b.pkg.Decoder(main)
	if err != nil {
		return err
	}
	defer d.Close()
	isWorkbook := false
	err = d.Each(func(root xml.StartElement) error {
		isWorkbook = root.Name.Local == "workbook"
		return d.Each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "workbookPr":
				v := ooxml.Attr(e, "date1904")
				b.is1904 = v != "" && ooxml.On(v)
			case "calcPr":
				v := ooxml.Attr(e, "fullCalcOnLoad")
				b.onOpening = v != "" && ooxml.On(v)
			case "sheets":
				return d.Each(func(e xml.StartElement) error {
					s := sheet{name: markdown.Title(ooxml.Attr(e, "name"))}
					s.hidden = strings.HasSuffix(strings.ToLower(ooxml.Attr(e, "state")), "hidden")
					if r := relations[ooxml.RelationID(e, "id")]; r.Type == "worksheet" && !r.External {
						s.part = r.Target
					}
					if b.sheets = append(b.sheets, s); len(b.sheets) > pages {
						return extract.Errorf("The file has more than %d sheets.", pages)
					}
					return nil
				})
			}
			return nil
		})
	})
	if err == nil && !isWorkbook {
		err = extract.Errorf("The file is not an Excel workbook.")
	}
	return err
}

// Bounds of the shared strings, which are held in memory.
const (
	maxStrings     = 4 << 20
	maxStringBytes = 64 << 20
)

func (b *workbook) readStrings(name string) error {
	d, err := b.pkg.Decoder(name)
	if err != nil {
		return err
	}
	defer d.Close()
	size := 0
	return d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			text, err := richText(d)
			if size += len(text); size > maxStringBytes || len(b.strings) == maxStrings {
				return tooMuchText()
			}
			if strings.TrimSpace(text) == "" {
				text = "" // many cells can have it, and each would look through it
			}
			b.strings = append(b.strings, text)
			return err
		})
	})
}

func tooMuchText() error {
	return extract.Errorf("The workbook has more than %d MB of text.", maxStringBytes>>20)
}

// richText returns the text in the current element, without how it is pronounced.
func richText(d *ooxml.Decoder) (string, error) {
	var text markdown.Runs
	var look font
	var visit func(e xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t":
			t, err := d.Text()
			t = symbols.Text(unescaped(t), look.symbols, false)
			if look.above {
				t = raised.Text(t)
			}
			if text.Add(t, look.struck); text.Len() > maxStringBytes {
				return tooMuchText()
			}
			return err
		case "r":
			look = font{}
			return d.Each(visit)
		case "rPr":
			var err error
			look, err = readFont(d)
			return err
		}
		return nil
	}
	err := d.Each(visit)
	return text.String(), err
}

// coded is how Excel writes a character that XML cannot hold, such as _x000D_ for the end of a line.
var coded = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescaped returns text with characters in place of their codes: a blank for those that control something.
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return coded.ReplaceAllStringFunc(text, func(code string) string {
		n, err := strconv.ParseUint(code[2:6], 16, 16)
		if err != nil || n < ' ' || utf16.IsSurrogate(rune(n)) {
			return " "
		}
		return string(rune(n))
	})
}
