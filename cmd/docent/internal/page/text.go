package page

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

var (
	errEmpty    = errors.New("it is empty")
	errNotUTF8  = errors.New("it is not valid UTF-8")
	errNotUTF16 = errors.New("it begins like UTF-16 but is not valid UTF-16")
	errUTF32    = errors.New("it is UTF-32; save it as UTF-8")
	errBinary   = errors.New("it contains NUL bytes, so it is binary, or UTF-16 without a byte order mark")
)

// decode reads UTF-8 with or without a byte order mark, and UTF-16 with one.
func decode(data []byte) (string, error) {
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
		return "", errNotUTF8
	}
	return string(data), nil
}

func decode16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errNotUTF16
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	var b strings.Builder
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			if i+1 == len(units) {
				return "", errNotUTF16
			}
			i++
			if r = utf16.DecodeRune(r, rune(units[i])); r == utf8.RuneError {
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

// decodeHTML is decode for HTML, which may also name an older encoding in its meta elements. It ignores an encoding
// that is only guessed.
func decodeHTML(data []byte) (string, error) {
	s, err := decode(data)
	if !errors.Is(err, errNotUTF8) {
		return s, err
	}
	enc, name, _ := charset.DetermineEncoding(data, "")
	if name == "utf-8" || !declares(data) {
		return "", err
	}
	plain, convErr := enc.NewDecoder().Bytes(data)
	if convErr != nil {
		return "", err
	}
	return decode(plain)
}

// declares reports whether a page names its encoding, in the part where it may.
func declares(data []byte) bool {
	head := bytes.ToLower(data[:min(len(data), 1024)])
	return bytes.Contains(head, []byte("charset="))
}
