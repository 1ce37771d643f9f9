// Package rst reads the text of reStructuredText files as Markdown.
package rst

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
	"docent/shared/rst"
)

// Read returns the file as a document of one page. The context ends it only before the conversion, whose time is in proportion to the
// size: a few seconds for the largest file.
func Read(ctx context.Context, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	if size > extract.MaxRST {
		return extract.Document{}, extract.Errorf("The file is larger than %d MB.", extract.MaxRST>>20)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, size), text); err != nil {
		return extract.Document{}, fmt.Errorf("read reStructuredText: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return extract.Document{}, fmt.Errorf("read reStructuredText: %w", err)
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return extract.Document{}, extract.Errorf("The file is not text in UTF-8. Save it as UTF-8.")
	}
	body := rst.Markdown(string(text))
	if err := markdown.NewBudget(limits.WithDefaults().Text).Spend(len(body)); err != nil {
		return extract.Document{}, err
	}
	if body == "" {
		return extract.Document{}, nil
	}
	return extract.Document{Pages: []extract.Page{{Number: 1, Markdown: body}}}, nil
}
