package pdf

import (
	"context"
	"errors"
	"slices"

	"docent/shared/extract"
)

// maxAnnotations is how many annotations of a page are read. A form of the tax office has 300 on a page.
const maxAnnotations = 2000

// drawAnnotations makes the form fields, stamps and notes that a page shows a part of it. It returns the page, loaded again, and its
// characters, or what it was given, if nothing is to be drawn. PDFium takes the fonts of some pages for others after that: such a page
// is read without its annotations.
func (d *document) drawAnnotations(ctx context.Context, handle uint64, chars []char, index int) (uint64, []char, error) {
	const display, drawn = 0, 1 // as a screen shows them; the result of Flatten
	n, err := d.number(ctx, "FPDFPage_GetAnnotCount", handle)
	if err != nil || n <= 0 || n > maxAnnotations {
		return handle, chars, err
	}
	if result, err := d.number(ctx, "FPDFPage_Flatten", handle, display); err != nil || result != drawn {
		return handle, chars, err
	}
	if _, err := d.call(ctx, "FPDF_ClosePage", handle); err != nil {
		return 0, nil, err
	}
	if handle, err = d.call(ctx, "FPDF_LoadPage", d.handle, uint64(index)); err != nil || handle == 0 {
		return 0, chars, err
	}
	left, unreadable := d.left, len(d.notes.unreadable)
	d.left += len(chars) // they are read a second time
	with, err := d.pageChars(ctx, handle, index+1)
	var tooLarge *extract.Error
	if err != nil && !errors.As(err, &tooLarge) {
		return 0, nil, err
	}
	if err != nil || !contains(with, chars) {
		d.left, d.notes.unreadable = left, d.notes.unreadable[:unreadable]
		return handle, chars, nil
	}
	d.notes.unreadable = slices.Compact(d.notes.unreadable)
	return handle, with, nil
}

// contains reports whether all has each character of some at least as often.
func contains(all, some []char) bool {
	count := map[rune]int{}
	for _, c := range all {
		count[c.r]++
	}
	for _, c := range some {
		if c.r == ' ' {
			continue
		}
		if count[c.r]--; count[c.r] < 0 {
			return false
		}
	}
	return true
}
