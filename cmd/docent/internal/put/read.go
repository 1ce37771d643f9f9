package put

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"docent/cmd/docent/internal/page"
)

// read returns a file's content if it is within the limit. The limit applies to what is read, so a file that grows
// in the meantime is refused too.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	if info.Size() > page.MaxFile {
		return nil, page.TooLarge(info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, page.MaxFile+1))
	if err != nil {
		return nil, unreadable(err)
	}
	return data, nil
}

func unreadable(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("it cannot be read: %w", err)
}
