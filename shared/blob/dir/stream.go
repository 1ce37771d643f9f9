package dir

import (
	"context"
	"fmt"
	"io"
	"os"

	"docent/shared/blob"
	"docent/shared/table"
)

// PutFrom stores what it reads under name, as Put does, without holding it in memory. An error of from is returned
// wrapped, and then nothing is stored. It looks for an existing object before it reads.
func (s *Store) PutFrom(ctx context.Context, name string, from io.Reader) error {
	if err := check(ctx, name); err != nil {
		return err
	}
	defer table.MeterFrom(ctx).Begin()()
	if _, err := s.root.Stat(pathOf(name)); err == nil {
		return fmt.Errorf("put object %s: %w", name, blob.ErrExists)
	}
	return s.put(ctx, name, func(f *os.File) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{from}, make([]byte, 64<<10))
		return err
	})
}

// Open opens an object for reading, and returns its size in bytes. The caller closes it. It returns blob.ErrNotFound
// if there is no such object.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	if err := check(ctx, name); err != nil {
		return nil, 0, err
	}
	defer table.MeterFrom(ctx).Begin()()
	f, err := s.root.Open(pathOf(name))
	if err != nil {
		return nil, 0, readError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // unread
		return nil, 0, readError(name, err)
	}
	return f, info.Size(), nil
}
