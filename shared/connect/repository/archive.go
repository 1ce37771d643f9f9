package repository

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"time"

	"docent/shared/source"
)

// Bounds of an archive.
const (
	filesAPage = 50          // files per page
	maxArchive = 4 << 30     // unpacked bytes
	maxEntries = 500_000     // files and folders
	stall      = time.Minute // without data, after which a download fails
)

// Archive reads the wanted files of body, a tar.gz with one folder, which names the
// commit. It leaves out its first skip entries. It calls page with up to 50 items and the
// skip that resumes after them; the last call has last set. It stops if page returns
// false, and then returns source.ErrStopped. item returns the item of a file, or nil.
// Its other errors are *source.SyncError.
func Archive(body io.ReadCloser, skip int, item func(name string, text []byte) *source.Item, page func(items []source.Item, skip int, last bool) bool) error {
	unpacked, err := gzip.NewReader(steady{body})
	if err != nil {
		return broken(err)
	}
	limited := &io.LimitedReader{R: unpacked, N: maxArchive}
	archive := tar.NewReader(limited)
	var items []source.Item
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == maxEntries {
			if limited.N <= 0 || n == maxEntries {
				return &source.SyncError{Code: source.TooLarge, Detail: "The repository has more files than the limit."}
			}
			return broken(err)
		}
		_, name, _ := strings.Cut(h.Name, "/") // without the folder named after the commit
		if h.Typeflag != tar.TypeReg || !Wanted(name, h.Size) {
			continue
		}
		if n < skip { // read before the interruption
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return broken(err)
		}
		if i := item(name, text); i != nil {
			items = append(items, *i)
		}
		if len(items) == filesAPage {
			if !page(items, n+1, false) {
				return source.ErrStopped
			}
			items = nil
		}
	}
	if !page(items, 0, true) {
		return source.ErrStopped
	}
	return nil
}

// steady is a body that fails if no data arrives for stall.
type steady struct{ io.ReadCloser }

func (s steady) Read(p []byte) (int, error) {
	watch := time.AfterFunc(stall, func() { _ = s.Close() }) // ends the blocked Read
	defer watch.Stop()
	return s.ReadCloser.Read(p)
}

func broken(err error) error {
	return &source.SyncError{Code: source.Unreadable, Detail: "The archive of the repository was cut off.", Cause: err}
}
