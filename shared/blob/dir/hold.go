package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"

	"docent/shared/blob"
)

// held is the folder of objects that are deleted while a Hold needs them.
const held = "held"

// ErrHeld means that the store has a Hold already.
var ErrHeld = errors.New("the objects are being copied already")

// holding guards Delete against a Hold.
type holding struct {
	mu      sync.Mutex
	hold    *Hold // nil: deleted objects are removed at once
	deleted map[string]string
}

// Hold keeps every object readable that existed when it was made, for a copy. Other readers
// do not see objects that are deleted in the meantime.
type Hold struct{ s *Store }

// Hold returns a Hold, or ErrHeld if there is one. The caller must release it. It holds off
// deletions by this Store only.
func (s *Store) Hold() (*Hold, error) {
	s.holding.mu.Lock()
	defer s.holding.mu.Unlock()
	if s.holding.hold != nil {
		return nil, ErrHeld
	}
	// A Hold of a killed process may have left some.
	if err := s.empty(held); err != nil {
		return nil, fmt.Errorf("hold objects: %w", err)
	}
	s.holding.hold, s.holding.deleted = &Hold{s}, map[string]string{}
	return s.holding.hold, nil
}

// Release removes the objects that were deleted since Hold.
func (h *Hold) Release() error {
	g := &h.s.holding
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hold != h {
		return nil
	}
	g.hold, g.deleted = nil, nil
	return h.s.empty(held)
}

// empty removes the files of a folder, if there is one. The folder stays: a full disk may have no room for another.
func (s *Store) empty(folder string) error {
	entries, err := fs.ReadDir(s.root.FS(), folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if err := s.remove(path.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the names of all objects, sorted: those that existed when the Hold was made,
// and maybe later ones.
func (h *Hold) Names(ctx context.Context) ([]string, error) {
	names, err := h.s.names(ctx, "")
	if err != nil {
		return nil, err
	}
	g := &h.s.holding
	g.mu.Lock()
	defer g.mu.Unlock()
	names = slices.AppendSeq(names, maps.Keys(g.deleted))
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Open returns the object's content and size. The caller closes it.
func (h *Hold) Open(name string) (io.ReadCloser, int64, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, 0, err
	}
	f, err := h.open(name)
	if err != nil {
		return nil, 0, readError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (h *Hold) open(name string) (*os.File, error) {
	f, err := h.s.root.Open(pathOf(name))
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	g := &h.s.holding
	g.mu.Lock()
	file, ok := g.deleted[name]
	g.mu.Unlock()
	if !ok {
		return nil, err
	}
	return h.s.root.Open(file)
}

// remove removes the file of an object, or moves it where a Hold finds it.
func (g *holding) remove(s *Store, name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hold == nil {
		return s.remove(pathOf(name))
	}
	if err := s.mkdirAll(held); err != nil {
		return err
	}
	file := path.Join(held, strconv.Itoa(len(g.deleted)))
	switch err := s.root.Rename(pathOf(name), file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if _, again := g.deleted[name]; again {
		return s.remove(file) // an object of that name was written and deleted since: the first one is kept
	}
	g.deleted[name] = file
	return nil
}
