package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"docent/shared/blob"
	"docent/shared/table"
)

// List yields the objects whose names start with prefix; see blob.Store. It keeps all names
// in memory to sort them, because the order of folders is not that of names.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return s.ListAfter(ctx, prefix, "")
}

// ListAfter is List of the names after the name after; see blob.Store.
func (s *Store) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := blob.CheckPrefix(prefix); err != nil {
			yield(blob.Info{}, err)
			return
		}
		names, err := s.names(ctx, prefix)
		if err != nil {
			yield(blob.Info{}, fmt.Errorf("list objects: %w", err))
			return
		}
		for _, name := range names {
			if name <= after {
				continue
			}
			info, err := s.info(ctx, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted in between
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// names returns the names that start with prefix, sorted.
func (s *Store) names(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	var names []string
	visit := func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if entry.IsDir() {
			start, ok := startAt(path)
			if ok && !strings.HasPrefix(start, prefix) && !strings.HasPrefix(prefix, start) {
				return fs.SkipDir
			}
			return nil
		}
		if name, ok := nameAt(path); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
		return nil
	}
	top := objects
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		top = folderOf(prefix[:i])
	}
	if err := fs.WalkDir(s.root.FS(), top, visit); err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

func (s *Store) info(ctx context.Context, name string) (blob.Info, error) {
	if err := ctx.Err(); err != nil {
		return blob.Info{}, err
	}
	file, err := s.root.Stat(pathOf(name))
	if err != nil {
		return blob.Info{}, fmt.Errorf("list objects: %w", err)
	}
	return blob.Info{Name: name, Size: file.Size(), Modified: file.ModTime().UTC()}, nil
}
