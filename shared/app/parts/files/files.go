// Package files reads the text of files. Only docent serve and the function extracting link it, because the readers
// are large.
package files

import (
	"context"
	"io"

	"docent/shared/app"
	"docent/shared/extract"
	"docent/shared/extract/readers"
)

// Reader returns the function that reads files within the readers' own limits.
func Reader() app.Extract {
	return func(ctx context.Context, mediaType string, file io.ReaderAt, size int64) (extract.Document, error) {
		return readers.Read(ctx, mediaType, file, size, extract.Limits{})
	}
}
