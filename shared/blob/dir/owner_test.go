//go:build unix

package dir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"docent/shared/blob/dir"
)

// TestWhatRootMakesBelongsToTheOwnerOfTheFolder: the server, which is not root, could not read it.
func TestWhatRootMakesBelongsToTheOwnerOfTheFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const user = 12345
	folder := filepath.Join(t.TempDir(), "blobs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(folder, user, user+1); err != nil {
		t.Skip(err) // a namespace with a single user
	}
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "segments/a/b", []byte("of root")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Uid != user || is.Gid != user+1 {
			t.Errorf("%s belongs to %+v", path, info.Sys())
		}
		if !entry.IsDir() {
			files++
		}
		return nil
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}
