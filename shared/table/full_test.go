package table_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"
	"testing"

	"docent/shared/table"
)

func TestAFullDiskIsKnownByItsErrors(t *testing.T) {
	t.Parallel()
	onWindows := runtime.GOOS == "windows"
	for _, c := range []struct {
		err  error
		want bool
	}{
		{syscall.ENOSPC, true},
		{syscall.EDQUOT, true},
		{syscall.EFBIG, !onWindows},
		{syscall.Errno(39), onWindows},
		{syscall.Errno(112), onWindows},
		{syscall.EIO, false},
		{errors.New("another"), false},
		{nil, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("commit: %w", errors.Join(errors.New("first"), &fs.PathError{Op: "write", Path: "docent.db", Err: err}))
		}
		if got := table.IsFull(err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}
