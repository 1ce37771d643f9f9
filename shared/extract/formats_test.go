package extract_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/shared/extract"
)

// TestEveryPlaceKnowsTheFormats finds the lists that a new format changes too, because they cannot read this package.
func TestEveryPlaceKnowsTheFormats(t *testing.T) {
	t.Parallel()
	word := func(mediaType string) string { return strings.TrimPrefix(extract.ExtensionOf(mediaType), ".") }
	whole := func(mediaType string) string { return mediaType }
	for _, list := range []struct {
		file, begin, end string
		has              func(mediaType string) string
	}{
		{"shared/document/document.go", "MediaType string `json:\"mediaType,omitempty\" enum:\"", "\"", whole},
		{"shared/httpapi/uploads.go", "MediaType string `json:\"mediaType\" enum:\"", "\"", whole},
		{"cmd/docent/put.go", "return `Folders are searched for", "Hidden files", extract.ExtensionOf},
		{"dashboard/src/upload.ts", "const types: Record<string, string> = {", "};", word},
		{"dashboard/src/upload.ts", "export const accepted = ", ";", extract.ExtensionOf},
		{"sdk/typescript/src/uploads.ts", "export const mediaTypes: Readonly<Record<string, MediaType>> = {", "};", extract.ExtensionOf},
		{"sdk/python/docent_client/uploads.py", "MEDIA_TYPES = {", "}", extract.ExtensionOf},
		{"shared/extract/README.md", "| | Pages | Read | Left out |", "\n\n", word},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(list.file)))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), list.begin)
		items, _, ended := strings.Cut(rest, list.end)
		if !found || !ended {
			t.Errorf("%s has no %q up to %q: change the text, or this test", list.file, list.begin, list.end)
			continue
		}
		words := strings.FieldsFunc(items, func(r rune) bool { return strings.ContainsRune(" \n\t,:;()\"'`|", r) })
		for _, mediaType := range extract.MediaTypes() {
			if want := list.has(mediaType); want == "" || !slices.Contains(words, want) {
				t.Errorf("%s does not name %q of %s after %q", list.file, want, mediaType, list.begin)
			}
		}
	}
}
