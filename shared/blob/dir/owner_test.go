//go:build unix

package dir_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"docent/shared/blob/dir"
)

// TestWhatRootMakesBelongsToTheOwnerOfTheFolder: the server, which is not root, could not read it.
func TestWhatRootMakesBelongsToTheOwnerOfTheFolder(t *testing.T) {
	t.Parallel()
	inCI := os.Getenv("CI") == "true"
	switch {
	case os.Geteuid() == 0:
	case inCI: // this test alone, by root, which CI needs for the releases too
		out, err := exec.Command("sudo", "-n", "CI=true", os.Args[0], "-test.count=1", "-test.v", "-test.run=^"+t.Name()+"$").CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
			t.Fatalf("only root can give files to others: %v\n%s", err, out)
		}
		return
	default:
		t.Skip("only root can give files to others")
	}
	const user = 12345
	folder := filepath.Join(t.TempDir(), "blobs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(folder, user, user+1); err != nil && inCI {
		t.Fatal(err)
	} else if err != nil {
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
