package faulttest

import (
	"context"
	"iter"

	"docent/shared/blob"
)

// Blob is an object store under a plan.
type Blob struct {
	blob.Store
	Plan *Plan
}

// Put implements blob.Store.
func (b Blob) Put(ctx context.Context, name string, data []byte) error {
	return b.Plan.run(func() error { return b.Store.Put(ctx, name, data) }, "blob.Put", name)
}

// Get implements blob.Store.
func (b Blob) Get(ctx context.Context, name string) (data []byte, err error) {
	err = b.Plan.run(func() (err error) {
		data, err = b.Store.Get(ctx, name)
		return err
	}, "blob.Get", name)
	return data, err
}

// GetRange implements blob.Store.
func (b Blob) GetRange(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = b.Plan.run(func() (err error) {
		data, err = b.Store.GetRange(ctx, name, offset, length)
		return err
	}, "blob.GetRange", name)
	return data, err
}

// List implements blob.Store.
func (b Blob) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return b.ListAfter(ctx, prefix, "")
}

// ListAfter implements blob.Store.
func (b Blob) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := b.Plan.run(func() error { return nil }, "blob.List", prefix); err != nil {
			yield(blob.Info{}, err)
			return
		}
		b.Store.ListAfter(ctx, prefix, after)(yield)
	}
}

// Delete implements blob.Store.
func (b Blob) Delete(ctx context.Context, names ...string) error {
	return b.Plan.run(func() error { return b.Store.Delete(ctx, names...) }, "blob.Delete", names)
}
