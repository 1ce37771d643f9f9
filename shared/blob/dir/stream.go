package dir

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path"

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
	temporary := path.Join(unfinished, rand.Text())
	err := s.writeFrom(temporary, from)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = s.publish(temporary, pathOf(name))
	}
	if removed := s.remove(temporary); err == nil && removed != nil {
		err = removed
	}
	if err != nil {
		return fmt.Errorf("put object %s: %w", name, err)
	}
	return nil
}

func (s *Store) writeFrom(temporary string, from io.Reader) error {
	f, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{from}, make([]byte, 64<<10))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
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
