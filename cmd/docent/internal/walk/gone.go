package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"docent/cmd/docent/internal/page"
)

// CheckDelete returns an error if a given folder has no file to send. A drive that is not mounted looks just like
// an emptied folder, so nothing may be deleted then.
func (t Tree) CheckDelete() error {
	for _, r := range t.roots {
		if r.base != "" && r.files == 0 {
			return fmt.Errorf("--delete: %s contains no "+page.Kinds+" file, so every document under %s would be removed; "+
				"leave the folder out, or delete the collection if that is meant", r.shown, r.base)
		}
	}
	return nil
}

// Gone reports whether uri belongs below a walked folder and no folder has a file at its path any more. In doubt,
// for example if a folder cannot be read or a link leads nowhere, it returns false.
func (t Tree) Gone(uri string) bool {
	gone := false
	for _, r := range t.roots {
		rel, ok := relative(r.base, uri)
		if !ok {
			continue
		}
		if _, err := os.Stat(r.abs); err != nil {
			return false
		}
		_, err := os.Lstat(filepath.Join(r.abs, filepath.FromSlash(rel)))
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return false
		}
		if leadsNowhere(r.abs, rel) {
			return false
		}
		gone = true
	}
	return gone
}

// leadsNowhere reports whether the missing path rel below dir is missing because a folder of it is a symbolic link to nothing, such as to a
// drive that is not mounted.
func leadsNowhere(dir, rel string) bool {
	for rel = path.Dir(rel); rel != "."; rel = path.Dir(rel) {
		at := filepath.Join(dir, filepath.FromSlash(rel))
		if _, err := os.Lstat(at); err == nil {
			_, err = os.Stat(at)
			return err != nil
		}
	}
	return false
}
