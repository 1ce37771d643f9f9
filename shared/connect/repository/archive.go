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
	slowest    = 5 * time.Minute
)

// ErrSlow means that five minutes of an archive brought nothing new, such as those that repeat what was read before an interruption. A turn
// of a source is little longer, so each turn would repeat them. The files can be read one by one; see Each.
var ErrSlow = errors.New("the archive brings nothing new in time")

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
	saved := now()
	late := func() bool { return now().Sub(saved) >= slowest }
	unpacked, err := gzip.NewReader(steady{body, late})
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
		saved = begun
		return nil
	}
	for n := 0; ; n++ {
		if late() {
			return ErrSlow
		}
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

// steady is a body that fails if no data arrives for stall, or if it is late.
type steady struct {
	io.ReadCloser
	late func() bool
}

func (s steady) Read(p []byte) (int, error) {
	if s.late() {
		return 0, ErrSlow
	}
	watch := time.AfterFunc(stall, func() { _ = s.Close() }) // ends the blocked Read
	defer watch.Stop()
	return s.ReadCloser.Read(p)
}

// cutOff returns the failure for an archive that could not be read to its end.
func cutOff(err error, byLimit bool) error {
	if errors.Is(err, ErrSlow) {
		return ErrSlow
	}
	if byLimit {
		return &source.SyncError{Code: source.TooLarge, Detail: "The repository has more files than the limit.", Cause: err}
	}
	return &source.SyncError{Code: source.Unreadable, Detail: "The archive of the repository was cut off.", Cause: err}
}

// Each reads the files of a commit one by one, from a position in names on: all wanted files in an order that stays the same. It calls page
// as Archive does, with the position that resumes after the items. The errors are those of read, and source.ErrStopped.
func Each(names []string, from int, now func() time.Time, read func(name string) (*source.Item, error), page func(items []source.Item, next int, last bool) bool) error {
	for {
		n, begun := min(from, len(names)), now()
		end := min(n+filesAPage, len(names))
		var items []source.Item
		for ; n < end && now().Sub(begun) < source.LongPage; n++ {
			i, err := read(names[n])
			if err != nil { // such as a rate limit, after which what was read is not read again
				if len(items) > 0 && !page(items, n, false) {
					return source.ErrStopped
				}
				return err
			}
			if i != nil {
				items = append(items, *i)
			}
		}
		from = n
		if !page(items, n, n == len(names)) {
			return source.ErrStopped
		}
		if n == len(names) {
			return nil
		}
	}
}
