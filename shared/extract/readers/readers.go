// Package readers takes the text out of files. Only the worker that extracts links it, since the library that reads PDF
// is large.
package readers

import (
	"context"
	"io"

	"docent/shared/extract"
	"docent/shared/extract/readers/docx"
	"docent/shared/extract/readers/pdf"
	"docent/shared/extract/readers/pptx"
	"docent/shared/extract/readers/rst"
	"docent/shared/extract/readers/xlsx"
)

// Read returns the text of the first size bytes of a file by pages. An *extract.Error says what is wrong with the
// file; the errors of ctx are returned as they are or wrapped. The other errors are those of file.
func Read(ctx context.Context, mediaType string, file io.ReaderAt, size int64, limits extract.Limits) (extract.Document, error) {
	limits = limits.WithDefaults()
	if size == 0 {
		return extract.Document{}, extract.Errorf("The file is empty.")
	}
	switch mediaType {
	case extract.DOCX:
		return docx.Read(ctx, file, size, limits)
	case extract.PDF:
		return pdf.Read(ctx, file, size, limits)
	case extract.PPTX:
		return pptx.Read(ctx, file, size, limits)
	case extract.RST:
		return rst.Read(ctx, file, size, limits)
	case extract.XLSX:
		return xlsx.Read(ctx, file, size, limits)
	}
	return extract.Document{}, extract.Errorf("Files of this type cannot be read.")
}
