package readers_test

import (
	"bytes"
	"testing"

	"docent/shared/extract"
	"docent/shared/extract/readers"
)

func TestEveryMediaTypeHasAReader(t *testing.T) {
	t.Parallel()
	read := func(mediaType string) string {
		_, err := readers.Read(t.Context(), mediaType, bytes.NewReader([]byte("\x00")), 1, extract.Limits{})
		if err == nil {
			t.Fatalf("a byte that is 0 is read as %q", mediaType)
		}
		return err.Error()
	}
	unknown := read("text/plain")
	for _, mediaType := range extract.MediaTypes() {
		if read(mediaType) == unknown {
			t.Errorf("%q: %s", mediaType, unknown)
		}
	}
}
