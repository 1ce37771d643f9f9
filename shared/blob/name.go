package blob

import (
	"fmt"
	"strings"
)

// MaxNameBytes bounds the name of an object.
const MaxNameBytes = 512

// CheckName returns nil for a name that every engine accepts, otherwise an error that wraps
// ErrInvalid.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: empty name", ErrInvalid)
	}
	if err := CheckPrefix(name); err != nil {
		return err
	}
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "", ".", "..":
		return fmt.Errorf("%w: name ends in an empty, . or .. element", ErrInvalid)
	}
	return nil
}

// CheckPrefix returns nil for the start of a valid name, including the empty prefix, otherwise
// an error that wraps ErrInvalid.
func CheckPrefix(prefix string) error {
	if len(prefix) > MaxNameBytes {
		return fmt.Errorf("%w: name of %d bytes, over %d", ErrInvalid, len(prefix), MaxNameBytes)
	}
	for i := range len(prefix) {
		if c := prefix[i]; !allowed(c) {
			return fmt.Errorf("%w: byte %#02x in a name", ErrInvalid, c)
		}
	}
	elements := strings.Split(prefix, "/")
	for _, element := range elements[:len(elements)-1] {
		switch element {
		case "", ".", "..":
			return fmt.Errorf("%w: name has an empty, . or .. element", ErrInvalid)
		}
	}
	return nil
}

// CheckRange returns nil if length bytes from offset are within an object of size bytes,
// otherwise an error that wraps ErrInvalid.
func CheckRange(offset, length, size int64) error {
	if offset < 0 || length < 0 || length > size || offset > size-length {
		return fmt.Errorf("%w: %d bytes from %d of an object of %d", ErrInvalid, length, offset, size)
	}
	return nil
}

func allowed(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == '_' || c == '-' || c == '/'
}
