// Package table is the storage model of Docent: named tables of items under a
// partition key and a sort key, read by key or by range within one partition,
// and written all or nothing. It is DynamoDB's own model reduced to what Docent
// needs, so that the domain is written once; table/dynamo and table/bolt
// implement it, and both pass the suite table/tabletest.
package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Bounds of the model. If one is exceeded, every engine writes nothing and returns
// an error that wraps ErrTooLarge (sizes) or ErrInvalid (keys and operation lists).
const (
	MaxItemBytes      = 400 << 10 // names, keys and values together, as DynamoDB counts them
	MaxWriteBytes     = 4 << 20   // all items of one Write
	MaxOps            = 100       // operations of one Write
	MaxPartitionBytes = 2048      // partition key, UTF-8 bytes
	MaxSortBytes      = 1024      // sort key, UTF-8 bytes
)

// Errors that callers distinguish with errors.Is.
var (
	// ErrNotFound: there is no item under the key, or only an expired one.
	ErrNotFound = errors.New("item not found")
	// ErrConflict: concurrent writes prevented this one; nothing was written.
	ErrConflict = errors.New("write conflict")
	// ErrThrottled: the store is overloaded even after the engine's retries; nothing was written.
	ErrThrottled = errors.New("store throttled")
	// ErrUnavailable: the store could not be reached or failed; a write may or may
	// not have happened.
	ErrUnavailable = errors.New("store unavailable")
	// ErrFull: the room that is left on the disk is kept for removing data; nothing was written.
	ErrFull = errors.New("no room on the disk")
	// ErrMoved: the file of the database, or the folder of objects, was moved, removed or replaced since it was opened; nothing was written.
	ErrMoved = errors.New("the data is no longer in its place")
	// ErrTooLarge: an item or a Write exceeds its bound.
	ErrTooLarge = errors.New("too large for the store")
	// ErrInvalid: an empty, oversized or malformed key, an unknown table, a damaged
	// cursor, no or too many operations, or one key twice in a Write.
	ErrInvalid = errors.New("invalid store request")
)

// Key names one item. Partition and Sort are non-empty valid UTF-8 without NUL.
type Key struct{ Table, Partition, Sort string }

// Item is one stored record. A returned Item is a copy of the stored one. Numbers
// are exact over all of int64.
type Item struct {
	Key
	Version int64             // set by the caller, compared by VersionIs
	Body    []byte            // opaque to the store
	Numbers map[string]int64  // fields that Add steps and Below compares
	Strings map[string]string // fields that Is compares
	Expires time.Time         // zero: never; whole seconds; an expired item counts as missing
}

// ReadOption changes how Get and BatchGet read.
type ReadOption int

// Eventual reads at half the price, but may miss writes of the last second or so. Without it
// every read is strongly consistent.
const Eventual ReadOption = 1

// Store is a storage engine. All methods are safe for concurrent use, and return the error of
// ctx if it ends first. A Write or Add that ctx interrupts has happened completely or not at
// all.
type Store interface {
	// Get returns the item under k, ErrNotFound, or a *DamagedError.
	Get(ctx context.Context, k Key, opts ...ReadOption) (Item, error)
	// BatchGet returns the items under keys in the order of keys, without the missing
	// ones. It takes any number of keys; a repeated key returns one item. If some are
	// damaged, it returns the others with a *DamagedError.
	BatchGet(ctx context.Context, keys []Key, opts ...ReadOption) ([]Item, error)
	// Query reads one partition by sort key. If some items of the page are damaged, it
	// returns the page without them, and a *DamagedError.
	Query(ctx context.Context, q Query) (Page, error)
	// Add makes one atomic step and returns the resulting item.
	Add(ctx context.Context, a Add) (Item, error)
	// Write applies 1 to MaxOps operations, all or none. If a condition does not
	// hold, it returns a *ConditionFailed with the operation's key. A Put or Delete
	// without a condition replaces a damaged item; every other operation on one fails
	// with a *DamagedError.
	Write(ctx context.Context, ops ...Op) error
}

// Query selects items of one partition in the order of their sort keys' UTF-8
// bytes. Prefix excludes From and To, which are inclusive; empty bounds are open.
type Query struct {
	Table, Partition string
	Prefix           string
	From, To         string
	Descending       bool
	Limit            int    // maximum items per page; 0: one page of the store (1 MB)
	Cursor           string // Page.Cursor of the previous page of the same Query
	Eventual         bool
}

// Page is a part of a Query's result. A page may be short or empty; only an
// empty Cursor ends the result.
type Page struct {
	Items  []Item
	Cursor string
}

// Op is one operation of a Write: Put, Delete, Check or Add.
type Op interface {
	op() Key
	condition() Condition
}

// Put stores Item and replaces the existing one.
type Put struct {
	Item Item
	If   Condition
}

// Delete removes the item under Key; a missing one is not an error.
type Delete struct {
	Key Key
	If  Condition
}

// Check only tests If.
type Check struct {
	Key Key
	If  Condition
}

// Add adds to numbers and sets fields of the item under Key, and creates it if it is
// missing. Other fields stay. A step out of int64 fails with ErrInvalid. Expires
// applies only if Add creates the item.
type Add struct {
	Key     Key
	By      map[string]int64  // added
	Numbers map[string]int64  // set
	Strings map[string]string // set
	Expires time.Time
	If      Condition
	// Once forbids another attempt after a lost answer, so the step cannot be counted twice.
	// It is for Store.Add only.
	Once bool
}

func (p Put) op() Key    { return p.Item.Key }
func (d Delete) op() Key { return d.Key }
func (c Check) op() Key  { return c.Key }
func (a Add) op() Key    { return a.Key }

func (p Put) condition() Condition    { return p.If }
func (d Delete) condition() Condition { return d.If }
func (c Check) condition() Condition  { return c.If }
func (a Add) condition() Condition    { return a.If }

// KeyOf returns the key that o writes or tests.
func KeyOf(o Op) Key { return o.op() }

// ConditionOf returns the condition of o.
func ConditionOf(o Op) Condition { return o.condition() }

// IndexOf returns the index of the operation on k in ops, or -1.
func IndexOf(ops []Op, k Key) int {
	return slices.IndexFunc(ops, func(o Op) bool { return KeyOf(o) == k })
}

// ConditionFailed is the error of a Write or Add whose condition does not hold.
// Nothing was written. Of several failed conditions it is the first in the order
// of the operations; a Write has at most one for a Key.
type ConditionFailed struct {
	Key  Key
	Item *Item // the item under Key, nil if there is none
}

// Error names the table only, because keys may contain names of users.
func (e *ConditionFailed) Error() string {
	return fmt.Sprintf("the condition on an item of %s does not hold", e.Key.Table)
}

// AsConditionFailed returns the *ConditionFailed in err's chain, or nil.
func AsConditionFailed(err error) *ConditionFailed {
	var f *ConditionFailed
	if errors.As(err, &f) {
		return f
	}
	return nil
}
