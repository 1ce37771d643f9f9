package repository

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	"docent/shared/source"
)

// TestAnArchiveThatIsCutByTheLimitIsNotWhole, wherever the limit is: what a whole one lacks is removed.
func TestAnArchiveThatIsCutByTheLimitIsNotWhole(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	files := tar.NewWriter(z)
	for _, name := range []string{"top/a.md", "top/b.md", "top/c.md"} {
		_ = files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 5, Mode: 0o644})
		_, _ = io.WriteString(files, "Text.")
	}
	_ = files.Close()
	_ = z.Close()
	const one, end = 1024, 1024 // bytes of a file, and of what follows the last one
	for most := int64(1); most <= 3*one+end+1; most++ {
		read, whole := 0, false
		err := bounded(most, io.NopCloser(bytes.NewReader(packed.Bytes())), 0,
			func(name string, _ []byte) *source.Item { return &source.Item{URI: name} },
			func(items []source.Item, _ int, last bool) bool {
				read, whole = read+len(items), whole || last
				return true
			})
		var failed *source.SyncError
		if whole && read < 3 || !whole && (!errors.As(err, &failed) || failed.Code != source.TooLarge) {
			t.Errorf("of %d bytes: %d files, whole: %t, %v", most, read, whole, err)
		}
	}
}
