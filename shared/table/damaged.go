package table

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// DamagedError is the error of a read that met items that are not as they were written. BatchGet and Query return the
// other items beside it.
type DamagedError struct{ Keys []Key }

// Error names the items, because only their names tell an operator what is lost. It is for the log.
func (e *DamagedError) Error() string {
	names := make([]string, len(e.Keys))
	for i, k := range e.Keys {
		names[i] = fmt.Sprintf("%s %q %q", k.Table, k.Partition, k.Sort)
	}
	return "stored item is damaged: " + strings.Join(names, ", ")
}

// AsDamaged returns the *DamagedError in err's chain, or nil.
func AsDamaged(err error) *DamagedError {
	var d *DamagedError
	if errors.As(err, &d) {
		return d
	}
	return nil
}

// Undamaged returns s for readers that go on without what is damaged: its BatchGet and Query return only the items that
// are whole, and call report with the error.
func Undamaged(s Store, report func(context.Context, *DamagedError)) Store {
	return undamaged{s, report}
}

type undamaged struct {
	Store
	report func(context.Context, *DamagedError)
}

// BatchGet implements Store.
func (u undamaged) BatchGet(ctx context.Context, keys []Key, opts ...ReadOption) ([]Item, error) {
	items, err := u.Store.BatchGet(ctx, keys, opts...)
	return items, u.reported(ctx, err)
}

// Query implements Store.
func (u undamaged) Query(ctx context.Context, q Query) (Page, error) {
	page, err := u.Store.Query(ctx, q)
	return page, u.reported(ctx, err)
}

func (u undamaged) reported(ctx context.Context, err error) error {
	if damaged := AsDamaged(err); damaged != nil {
		u.report(ctx, damaged)
		return nil
	}
	return err
}
