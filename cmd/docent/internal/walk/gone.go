package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckDelete refuses to tell what is gone where a given folder holds no file to
// send: a drive that is not mounted looks just like a folder that was emptied.
func (t Tree) CheckDelete() error {
	for _, r := range t.roots {
		if r.base != "" && r.files == 0 {
			return fmt.Errorf("--delete: %s holds no Markdown, text or HTML file, so every document under %s would be removed; "+
				"leave the folder out, or delete the collection if that is meant", r.shown, r.base)
		}
	}
	return nil
}

// Gone tells whether uri belongs below a walked folder and nothing stands at its
// path in any of them any more. In doubt, such as a folder that can not be read,
// it is not gone.
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
		gone = true
	}
	return gone
}
