package bolt

import (
	"context"
	"fmt"
	"io"

	bbolt "go.etcd.io/bbolt"
)

// Snapshot calls do with a copy of the database as of one moment: every Write that returned
// before the call is in it, and none in part. The copy is a database file of size bytes.
// Writes continue while do reads it, but the file grows by what they replace, and if it
// outgrows its mapping (see mapBytes) they wait for do.
func (s *Store) Snapshot(ctx context.Context, do func(size int64, database io.WriterTo) error) error {
	return s.view(ctx, func(tx *bbolt.Tx) error {
		if err := do(tx.Size(), tx); err != nil {
			return fmt.Errorf("copy the database: %w", err)
		}
		return nil
	})
}
