package moving

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"docent/shared/blob"
)

// heldBytes bounds the content of objects in memory. A larger object is held alone.
const heldBytes = 128 << 20

// copyBlobs copies the objects that the new home does not have, and removes those that the old
// home does not have. Objects never change under a name.
func (m *Move) copyBlobs(ctx context.Context) error {
	m.begin("objects")
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	var mu sync.Mutex // guards the counts
	var extra []string
	room := semaphore.NewWeighted(heldBytes)
	err := m.eachObject(within, func(from, to *blob.Info) error {
		if from == nil {
			extra = append(extra, to.Name)
			return nil
		}
		mu.Lock()
		m.report.Objects++
		mu.Unlock()
		same := to != nil && to.Size == from.Size
		held := min(from.Size, heldBytes)
		if same {
			held = 0
		}
		if err := room.Acquire(within, held); err != nil {
			return err
		}
		group.Go(func() error {
			defer room.Release(held)
			copied := int64(0)
			if !same {
				if err := m.copyObject(within, from.Name, to != nil); err != nil {
					return err
				}
				copied = 1
			}
			mu.Lock()
			defer mu.Unlock()
			m.tell(1, copied)
			return nil
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		return failed
	}
	if err != nil || len(extra) == 0 {
		return err
	}
	if err := m.To.Blobs.Delete(ctx, extra...); err != nil {
		return fmt.Errorf("remove objects: %w", err)
	}
	m.report.Removed += int64(len(extra))
	return nil
}

func (m *Move) copyObject(ctx context.Context, name string, differs bool) error {
	data, err := m.From.Blobs.Get(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // removed in between
	}
	if err != nil {
		return err
	}
	if differs {
		if err := m.To.Blobs.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := m.To.Blobs.Put(ctx, name, data); err != nil && !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil
}

// eachObject calls do with each object of either home, in the order of names; nil: that home
// does not have it.
func (m *Move) eachObject(ctx context.Context, do func(from, to *blob.Info) error) error {
	fromNext, stopFrom := iter.Pull2(m.From.Blobs.List(ctx, ""))
	defer stopFrom()
	toNext, stopTo := iter.Pull2(m.To.Blobs.List(ctx, ""))
	defer stopTo()
	from, err := next(fromNext)
	if err != nil {
		return err
	}
	to, err := next(toNext)
	if err != nil {
		return err
	}
	for from != nil || to != nil {
		left, right := from, to
		if left != nil && right != nil && left.Name < right.Name {
			right = nil
		} else if left != nil && right != nil && left.Name > right.Name {
			left = nil
		}
		if err := do(left, right); err != nil {
			return err
		}
		if left != nil {
			if from, err = next(fromNext); err != nil {
				return err
			}
		}
		if right != nil {
			if to, err = next(toNext); err != nil {
				return err
			}
		}
	}
	return nil
}

func next(pull func() (blob.Info, error, bool)) (*blob.Info, error) {
	info, err, ok := pull()
	if !ok || err != nil {
		return nil, err
	}
	return &info, nil
}

// compareBlobs reads all objects of both homes and compares their digests. An object whose copy was damaged is copied once more: its name
// and size are the same, so no other run would.
func (m *Move) compareBlobs(ctx context.Context) error {
	m.begin("compare objects")
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	var mu sync.Mutex // guards the counts
	room := semaphore.NewWeighted(heldBytes)
	err := m.eachObject(within, func(from, to *blob.Info) error {
		if from == nil || to == nil || from.Size != to.Size {
			return fmt.Errorf("%w: the objects are not the same", ErrDiffers)
		}
		held := min(from.Size, heldBytes) // one of the two at a time
		if err := room.Acquire(within, held); err != nil {
			return err
		}
		group.Go(func() error {
			defer room.Release(held)
			before, err := digestOf(within, m.From.Blobs, from.Name)
			if err != nil {
				return err
			}
			after, err := digestOf(within, m.To.Blobs, from.Name)
			if err != nil {
				return err
			}
			copied := int64(0)
			if before != after {
				copied = 1
				if after, err = m.copyAgain(within, from.Name); err != nil {
					return err
				}
			}
			if before != after {
				return fmt.Errorf("%w: the object %s", ErrDiffers, from.Name)
			}
			mu.Lock()
			defer mu.Unlock()
			m.tell(1, copied)
			return nil
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

// copyAgain replaces the copy of an object, and returns its digest.
func (m *Move) copyAgain(ctx context.Context, name string) (sum [sha256.Size]byte, err error) {
	if err := m.copyObject(ctx, name, true); err != nil {
		return sum, err
	}
	return digestOf(ctx, m.To.Blobs, name)
}

func digestOf(ctx context.Context, blobs blob.Store, name string) (sum [sha256.Size]byte, err error) {
	data, err := blobs.Get(ctx, name)
	return sha256.Sum256(data), err
}
