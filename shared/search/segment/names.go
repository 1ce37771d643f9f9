package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"docent/shared/blob"
)

// Names has the ids and versions of a segment's documents, 24 bytes each.
type Names []byte

// Count returns the number of documents.
func (n Names) Count() int { return len(n) / documentBytes }

// At returns the id and version of one document.
func (n Names) At(document int) (uuid.UUID, int64) {
	d := n[documentBytes*document:]
	return uuid.UUID(d[:16]), int64(binary.LittleEndian.Uint64(d[16:documentBytes]))
}

// ReadNames reads the documents section of a file of size bytes. It does not depend on
// the analysis.
func ReadNames(ctx context.Context, blobs blob.Store, name string, size int64) (Names, error) {
	f, sums, err := readEnd(ctx, blobs, name, size)
	if err != nil {
		return nil, err
	}
	documents := f.sections[secDocuments]
	if documents.size != int64(documentBytes*f.documents) {
		return nil, Damaged("%d documents in %d bytes", f.documents, documents.size)
	}
	v := newPageView(ctx, blobs, name, f.sections[secSums].offset, sums, NewCache(0, 0))
	b, err := v.read(documents.offset, documents.size)
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return bytes.Clone(b), nil
}
