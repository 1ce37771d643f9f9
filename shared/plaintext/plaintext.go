// Package plaintext decodes the bytes of a text file.
package plaintext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrNotUTF8 means that a text begins like no other encoding, and is not valid UTF-8.
var ErrNotUTF8 = errors.New("it is not valid UTF-8")

var (
	errNotUTF16 = errors.New("it begins like UTF-16 but is not valid UTF-16")
	errUTF32    = errors.New("it is UTF-32; save it as UTF-8")
	errBinary   = errors.New("it contains NUL bytes, so it is binary, or UTF-16 without a byte order mark")
)

// Decode returns the text of data, without a byte order mark: UTF-8 with or without one, or UTF-16 with one. Its errors are sentences about a
// file, such as "it is not valid UTF-8".
func Decode(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}):
		return "", errUTF32
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return decode16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return decode16(data[2:], binary.BigEndian)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if bytes.IndexByte(data, 0) >= 0 {
		return "", errBinary
	}
	if !utf8.Valid(data) {
		return "", ErrNotUTF8
	}
	return string(data), nil
}

func decode16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errNotUTF16
	}
	var b strings.Builder
	b.Grow(len(data) / 2) // what ASCII becomes
	for ; len(data) > 0; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			if data = data[2:]; len(data) == 0 {
				return "", errNotUTF16
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(data))); r == utf8.RuneError {
				return "", errNotUTF16
			}
		}
		if r == 0 {
			return "", errBinary
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}
