// Package pdf reads the text of PDF files with PDFium, which runs as WebAssembly, walled off from the process, and finds
// the order of reading, headings, lists and tables by where the characters are on the page.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"io"

	"docent/shared/extract"
)

// Errors of FPDF_GetLastError.
const (
	errorPassword = 4
	errorSecurity = 5
)

// Read returns the pages that have text.
func Read(ctx context.Context, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	limits = limits.WithDefaults()
	if err := checkStart(file, size); err != nil {
		return extract.Document{}, err
	}
	if size > extract.MaxPDF {
		return extract.Document{}, extract.Errorf("The file is larger than %d MB.", extract.MaxPDF>>20)
	}
	l, err := newLibrary(ctx)
	if err != nil {
		return extract.Document{}, err
	}
	defer l.close() //nolint:errcheck // it only frees memory
	d := &document{library: l, limits: limits, left: limits.Text}
	if err := d.open(ctx, file, size); err != nil {
		return extract.Document{}, err
	}
	pages, err := d.readPages(ctx)
	if err != nil {
		return extract.Document{}, err
	}
	title, err := d.title(ctx)
	if err != nil {
		return extract.Document{}, err
	}
	return d.markdown(ctx, title, pages)
}

// checkStart looks for the mark of a PDF, which may have other bytes before it.
func checkStart(file io.ReaderAt, size int64) error {
	head := make([]byte, min(size, 1024))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Contains(head[:n], []byte("%PDF-")) {
		return extract.Errorf("The file is not a PDF file.")
	}
	return nil
}

// document is a file open in PDFium.
type document struct {
	*library
	limits extract.Limits
	handle uint64
	buffer uint32 // for results
	count  int
	left   int // characters that may still be read
	notes  notes
}

const (
	bufferSize = 4096
	lineSize   = 3 // characters that each line counts for besides its own, as the borders of a cell do: it is held until all pages are read
)

func (d *document) open(ctx context.Context, file io.ReaderAt, size int64) error {
	at, err := d.load(ctx, file, size)
	if err != nil {
		return whole(err)
	}
	if d.buffer, err = d.allocate(bufferSize); err != nil {
		return whole(err)
	}
	if d.handle, err = d.call(ctx, "FPDF_LoadMemDocument64", uint64(at), uint64(size), 0); err != nil {
		return whole(err)
	}
	if d.handle == 0 {
		code, err := d.number(context.Background(), "FPDF_GetLastError")
		switch {
		case err != nil:
			return whole(err)
		case code == errorPassword || code == errorSecurity:
			return extract.Errorf("The file is protected by a password.")
		}
		return extract.Errorf("The file is damaged.")
	}
	if d.count, err = d.number(ctx, "FPDF_GetPageCount", d.handle); err != nil {
		return whole(err)
	}
	if d.count > d.limits.Pages {
		return extract.Errorf("The file has more than %d pages.", d.limits.Pages)
	}
	return nil
}

// whole makes an error of PDFium one of the file.
func whole(err error) error {
	switch {
	case errors.Is(err, errBroken):
		return extract.Errorf("The file is damaged, or needs more than %d MB of memory.", Memory>>20).WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return extract.Errorf("Reading the file took too long.").WithCause(err)
	}
	return err
}

// onPage makes an error of PDFium one of a page.
func onPage(err error, number int) error {
	switch {
	case errors.Is(err, errBroken):
		return extract.Errorf("The page is damaged, or needs more than %d MB of memory.", Memory>>20).OnPage(number).WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return extract.Errorf("Reading the page took too long.").OnPage(number).WithCause(err)
	}
	return err
}

func (d *document) readPages(ctx context.Context) ([]page, error) {
	var pages []page
	for i := range d.count {
		if err := ctx.Err(); err != nil {
			return nil, onPage(err, i+1)
		}
		p, err := d.readPage(ctx, i)
		if err != nil {
			return nil, onPage(err, i+1)
		}
		if len(p.texts) > 0 {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

// readPage returns a page with its lines.
func (d *document) readPage(ctx context.Context, index int) (page, error) {
	handle, err := d.call(ctx, "FPDF_LoadPage", d.handle, uint64(index))
	if err != nil {
		return page{}, err
	}
	if handle == 0 {
		d.notes.damaged = append(d.notes.damaged, index+1)
		return page{}, nil
	}
	chars, err := d.pageChars(ctx, handle, index+1)
	if err != nil {
		return page{}, err
	}
	if handle, chars, err = d.drawAnnotations(ctx, handle, chars, index); err != nil {
		return page{}, err
	}
	p := page{number: index + 1}
	var rules []box
	if len(chars) > 0 && handle != 0 {
		if rules, err = d.rules(ctx, handle); err != nil {
			return page{}, err
		}
	}
	p.texts = directions(chars, rules)
	for _, lines := range p.texts {
		for _, l := range lines {
			d.left -= lineSize
			for _, row := range l.grid {
				for _, text := range row { // a cell that spans rows is in each of them
					d.left -= lineSize + len(text)
				}
			}
		}
	}
	if d.left < 0 {
		return page{}, d.tooMuchText(index + 1)
	}
	if len(p.texts) == 0 && handle != 0 {
		objects, err := d.number(ctx, "FPDFPage_CountObjects", handle)
		if err != nil {
			return page{}, err
		}
		if objects > 0 {
			d.notes.pictures = append(d.notes.pictures, index+1)
		}
	}
	_, err = d.call(ctx, "FPDF_ClosePage", handle)
	return p, err
}

// pageChars returns the characters of a page that is loaded.
func (d *document) pageChars(ctx context.Context, handle uint64, number int) ([]char, error) {
	text, err := d.call(ctx, "FPDFText_LoadPage", handle)
	if err != nil || text == 0 {
		return nil, err
	}
	chars, err := d.readChars(ctx, text, number)
	if err != nil {
		return nil, err
	}
	_, err = d.call(ctx, "FPDFText_ClosePage", text)
	return chars, err
}
