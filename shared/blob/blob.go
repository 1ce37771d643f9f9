// Package blob keeps immutable objects: written once under a name, read whole
// or in part, deleted. blob/s3 and blob/dir implement it and pass one contract
// suite, blob/blobtest.
package blob

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors that callers distinguish with errors.Is.
var (
	// ErrExists: an object of that name exists; it is unchanged.
	ErrExists = errors.New("object exists")
	// ErrNotFound: no object of that name.
	ErrNotFound = errors.New("object not found")
	// ErrInvalid: a name that is empty, over 512 bytes, or has other characters
	// than A-Z a-z 0-9 . _ - and /, an empty path element, "." or ".."; or a range
	// that is not within the object.
	ErrInvalid = errors.New("invalid object request")
)

// Info describes a stored object.
type Info struct {
	Name     string
	Size     int64 // bytes
	Modified time.Time
}

// Store keeps objects. Methods are safe for concurrent use. A reader sees an
// object completely or not at all, also while it is written or its writer is killed.
type Store interface {
	// Put stores data under name, or returns ErrExists. When it returns nil, the object
	// is durable.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns the whole object, or ErrNotFound.
	Get(ctx context.Context, name string) ([]byte, error)
	// GetRange returns length bytes from offset. It returns ErrNotFound, or ErrInvalid if
	// the range is not within the object.
	GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List yields the objects whose names start with prefix, in the order of their names.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// ListAfter is List of the names after the name after; empty: all.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Info, error]
	// Delete removes objects; missing ones are not an error.
	Delete(ctx context.Context, names ...string) error
}
