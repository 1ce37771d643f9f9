package put

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"docent/cmd/docent/internal/page"
)

// parallelUploads is how many large files are sent at a time. A team may have 20 uploads that no document uses yet.
const parallelUploads = 4

// largeFile is an open PDF or Office file that is uploaded, because it is too large for a request.
type largeFile struct {
	file *os.File
	size int64
}

// openLarge opens the file at path if it is to be uploaded, and otherwise returns nil.
func openLarge(path string) (*largeFile, error) {
	if page.Uploaded(path).MediaType == "" {
		return nil, nil //nolint:nilnil // it is not large
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = unreadable(err)
	case info.Size() > page.MaxInline:
		err = page.CheckUpload(info.Size())
		if err == nil {
			return &largeFile{f, info.Size()}, nil
		}
	}
	_ = f.Close() // it was only read
	return nil, err
}

// close closes the file; nil has none.
func (l *largeFile) close() {
	if l != nil {
		_ = l.file.Close() // it was only read
	}
}

// hash returns the SHA-256 of the file, by which a change is noticed.
func (l *largeFile) hash() (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(l.file, 0, l.size)); err != nil {
		return "", unreadable(err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
