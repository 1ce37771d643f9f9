package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"docent/shared/apierr"
	"docent/shared/table"
)

func TestFailuresOfAStoreArePassing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		kind   apierr.Kind
		detail string
	}{
		{&fs.PathError{Op: "write", Path: "docent.db", Err: syscall.ENOSPC}, apierr.Unavailable, "disk of the server is full"},
		{&fs.PathError{Op: "write", Path: "docent.db", Err: syscall.EDQUOT}, apierr.Unavailable, "disk of the server is full"},
		{&fs.PathError{Op: "write", Path: "docent.db", Err: syscall.EROFS}, apierr.Unavailable, "is read-only"},
		{&fs.PathError{Op: "write", Path: "docent.db", Err: syscall.EIO}, apierr.Unavailable, "is read-only"},
		{fmt.Errorf("%w: docent.db", table.ErrMoved), apierr.Unavailable, "is missing"},
		{table.ErrThrottled, apierr.Unavailable, "temporarily unavailable"},
		{context.DeadlineExceeded, apierr.Unavailable, "temporarily unavailable"},
		{errors.New("a bug"), apierr.Internal, "internal error"},
	} {
		got := classify(fmt.Errorf("commit: %w", c.err))
		if got.Kind != c.kind || !strings.Contains(got.Detail, c.detail) || strings.Contains(got.Detail, "docent.db") {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}
