package page

import (
	"bytes"
	"errors"

	"golang.org/x/net/html/charset"

	"docent/shared/plaintext"
)

var errEmpty = errors.New("it is empty")

// decodeHTML is plaintext.Decode for HTML, which may also name an older encoding in its meta elements. It ignores an encoding
// that is only guessed.
func decodeHTML(data []byte) (string, error) {
	s, err := plaintext.Decode(data)
	if !errors.Is(err, plaintext.ErrNotUTF8) {
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
	return plaintext.Decode(plain)
}

// declares reports whether a page names its encoding, in the part where it may.
func declares(data []byte) bool {
	head := bytes.ToLower(data[:min(len(data), 1024)])
	return bytes.Contains(head, []byte("charset="))
}
