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
	atATime    = 1 << 20     // bytes of a file that is left out
)

// Archive reads the wanted files of body, a tar.gz with one folder, which names the
// commit. It leaves out its first skip entries. It calls page with up to 50 items, or with
// those of source.LongPage by now, and the skip that resumes after them; the last call has
// last set. It stops if page returns false, and then returns source.ErrStopped. item
// returns the item of a file, or nil. Its other errors are *source.SyncError.
func Archive(body io.ReadCloser, skip int, now func() time.Time, item func(name string, text []byte) *source.Item, page func(items []source.Item, skip int, last bool) bool) error {
	return bounded(maxArchive, body, skip, now, item, page)
}

// bounded is Archive with a bound of the unpacked bytes.
func bounded(most int64, body io.ReadCloser, skip int, now func() time.Time, item func(name string, text []byte) *source.Item, page func(items []source.Item, skip int, last bool) bool) error {
	unpacked, err := gzip.NewReader(steady{body})
	if err != nil {
		return cutOff(err, false)
	}
	limited := &io.LimitedReader{R: unpacked, N: most}
	archive := tar.NewReader(limited)
	var items []source.Item
	begun := now()
	save := func(skip int) error {
		if !page(items, skip, false) {
			return source.ErrStopped
		}
		items, begun = nil, now()
		return nil
	}
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) && limited.N > 0 { // else more may follow
			break
		}
		if err != nil || n == maxEntries {
			return cutOff(err, limited.N <= 0 || n == maxEntries)
		}
		_, name, _ := strings.Cut(h.Name, "/") // without the folder named after the commit
		if h.Typeflag != tar.TypeReg || !Wanted(name, h.Size) {
			for ended := false; !ended && len(items) > 0; { // a large one may take longer than the turn of a source
				_, err := io.CopyN(io.Discard, archive, atATime)
				if ended = errors.Is(err, io.EOF); err != nil && !ended {
					return cutOff(err, limited.N <= 0)
				}
				if now().Sub(begun) >= source.LongPage {
					if err := save(n); err != nil {
						return err
					}
				}
			}
			continue
		}
		if n < skip { // read before the interruption
			begun = now()
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return cutOff(err, limited.N <= 0)
		}
		if i := item(name, text); i != nil {
			items = append(items, *i)
		}
		if len(items) == filesAPage || now().Sub(begun) >= source.LongPage {
			if err := save(n + 1); err != nil {
				return err
			}
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

// cutOff returns the failure for an archive that could not be read to its end.
func cutOff(err error, byLimit bool) error {
	if byLimit {
		return &source.SyncError{Code: source.TooLarge, Detail: "The repository has more files than the limit.", Cause: err}
	}
	return &source.SyncError{Code: source.Unreadable, Detail: "The archive of the repository was cut off.", Cause: err}
}
