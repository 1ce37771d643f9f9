package document

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"docent/shared/blob"
)

// Bounds of what a blobReader has in memory.
const (
	blockBytes = 1 << 20
	keptBlocks = 8
)

// blobReader reads an object in blocks, of which it keeps the last ones. It is safe for concurrent use.
type blobReader struct {
	ctx   context.Context //nolint:containedctx // io.ReaderAt has none
	blobs blob.Store
	name  string
	size  int64

	mu   sync.Mutex
	kept []block // the one read last is the last
	err  error   // why the store did not return a block
}

type block struct {
	number int64
	data   []byte
}

// ReadAt implements io.ReaderAt.
func (r *blobReader) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("read a file at %d: %w", offset, blob.ErrInvalid)
	}
	for n < len(p) && offset < r.size {
		data, err := r.block(offset / blockBytes)
		if err != nil {
			return n, err
		}
		copied := copy(p[n:], data[offset%blockBytes:])
		n, offset = n+copied, offset+int64(copied)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *blobReader) block(number int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.kept, func(b block) bool { return b.number == number }); i >= 0 {
		found := r.kept[i]
		r.kept = append(slices.Delete(r.kept, i, i+1), found)
		return found.data, nil
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	start := number * blockBytes
	data, err := r.blobs.GetRange(r.ctx, r.name, start, min(blockBytes, r.size-start))
	if err != nil {
		r.err = err
		return nil, err
	}
	if len(r.kept) == keptBlocks {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.kept = append(r.kept, block{number, data})
	return data, nil
}
