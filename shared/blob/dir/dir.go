// Package dir keeps objects as files of one folder: the engine of a single machine. A
// writer first completes and flushes a temporary file and then hard-links it to the
// object's name. So no reader sees a part of an object, even if the writer is killed, and an
// existing object is never replaced. The folder must be on a file system with hard links.
package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"time"

	"docent/shared/blob"
	"docent/shared/table"
)

const (
	unfinished = "unfinished" // the folder of files that are being written
	staleAfter = time.Hour    // no write takes that long, so the writer was killed
)

var _ blob.Store = (*Store)(nil)

// Store keeps objects under one folder. Several processes may use one folder.
type Store struct {
	root    *os.Root
	path    string      // of the folder
	folder  fs.FileInfo // of root
	owner   owner
	kept    keptFiles
	holding holding
}

// Open creates the folder if it is missing, and removes temporary files of writers that were
// killed more than an hour ago.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the object folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the object folder: %w", err)
	}
	s := &Store{root: root, path: folder}
	s.folder, err = root.Stat(".")
	if err == nil {
		s.owner = ownerOf(s.folder)
		err = s.prepare()
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open the object folder: %w", err)
	}
	return s, nil
}

// Close releases the folder; later calls return errors.
func (s *Store) Close() error {
	s.kept.close()
	return s.root.Close()
}

func (s *Store) prepare() error {
	for _, folder := range []string{objects, unfinished} {
		if err := s.mkdirAll(folder); err != nil {
			return err
		}
	}
	_ = s.mkdirAll(held) // on a full disk, it is made when it is needed
	if err := s.sync("."); err != nil {
		return err
	}
	return s.RemoveUnfinished()
}

// RemoveUnfinished removes temporary files of writers that were killed more than an hour ago.
func (s *Store) RemoveUnfinished() error {
	entries, err := fs.ReadDir(s.root.FS(), unfinished)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // its writer finished in between
		}
		if err != nil {
			return err
		}
		if time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if err := s.remove(path.Join(unfinished, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Put stores data under name; see blob.Store. It returns an error that wraps table.ErrMoved if the folder is no longer in its place.
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name); err != nil {
		return err
	}
	defer table.MeterFrom(ctx).Begin()()
	return s.put(ctx, name, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// put stores under name what write writes to a file.
func (s *Store) put(ctx context.Context, name string, write func(*os.File) error) error {
	if err := table.CheckPlace(s.path, s.folder); err != nil {
		return fmt.Errorf("put object %s: %w", name, err)
	}
	temporary := path.Join(unfinished, rand.Text())
	err := s.create(temporary, write)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil { // again: what is written may have taken minutes to come
		err = table.CheckPlace(s.path, s.folder)
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

// create makes a new file durable with what write writes to it.
func (s *Store) create(file string, write func(*os.File) error) error {
	f, err := s.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.owner.giveFile(f)
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// publish links the file temporary to the name final, and flushes every folder above it. It
// does so for an existing name too: a caller that gets ErrExists may rely on the object being
// durable.
func (s *Store) publish(temporary, final string) error {
	if err := s.mkdirAll(path.Dir(final)); err != nil {
		return err
	}
	linked := s.root.Link(temporary, final)
	if errors.Is(linked, fs.ErrExist) {
		linked = blob.ErrExists
	}
	if linked != nil && !errors.Is(linked, blob.ErrExists) {
		return linked
	}
	for folder := path.Dir(final); folder != "."; folder = path.Dir(folder) {
		if err := s.sync(folder); err != nil {
			return err
		}
	}
	return linked
}

// Get returns the whole object; see blob.Store.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(ctx, name); err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	data, err := s.root.ReadFile(pathOf(name))
	if err != nil {
		return nil, readError(name, err)
	}
	return data, nil
}

// GetRange returns a part of the object; see blob.Store.
func (s *Store) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := check(ctx, name); err != nil {
		return nil, err
	}
	if err := blob.CheckRange(offset, length, math.MaxInt64); err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	data, err := s.rangeOf(name, offset, length)
	if err != nil {
		return nil, readError(name, err)
	}
	return data, nil
}

// Delete removes objects; see blob.Store. Folders that become empty stay.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	if err := check(ctx, names...); err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	defer table.MeterFrom(ctx).Begin()()
	folders := map[string]bool{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.holding.remove(s, name); err != nil {
			return fmt.Errorf("delete object %s: %w", name, err)
		}
		s.kept.drop(name, nil)
		folders[path.Dir(pathOf(name))] = true
	}
	for folder := range folders {
		if err := s.sync(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete objects: %w", err)
		}
	}
	return nil
}

func (s *Store) remove(file string) error {
	if err := s.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes the entries of a folder durable.
func (s *Store) sync(folder string) error {
	f, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func check(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := blob.CheckName(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func readError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = blob.ErrNotFound
	}
	return fmt.Errorf("read object %s: %w", name, err)
}
