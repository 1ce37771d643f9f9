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
	words := func(mediaType string) (all []string) {
		for _, extension := range extract.ExtensionsOf(mediaType) {
			all = append(all, strings.TrimPrefix(extension, "."))
		}
		return all
	}
	whole := func(mediaType string) []string { return []string{mediaType} }
	for _, list := range []struct {
		file, begin, end string
		has              func(mediaType string) []string
	}{
		{"shared/document/document.go", "MediaType string `json:\"mediaType,omitempty\" enum:\"", "\"", whole},
		{"shared/httpapi/uploads.go", "MediaType string `json:\"mediaType\" enum:\"", "\"", whole},
		{"cmd/docent/put.go", "return `Folders are searched for", "Hidden files", extract.ExtensionsOf},
		{"dashboard/src/upload.ts", "const types: Record<string, string> = {", "};", words},
		{"dashboard/src/upload.ts", "export const accepted = ", ";", extract.ExtensionsOf},
		{"sdk/typescript/src/uploads.ts", "export const mediaTypes: Readonly<Record<string, MediaType>> = {", "};", extract.ExtensionsOf},
		{"sdk/python/docent_client/uploads.py", "MEDIA_TYPES = {", "}", extract.ExtensionsOf},
		{"shared/extract/README.md", "| | Pages | Read | Left out |", "\n\n", words},
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
		named := strings.FieldsFunc(items, func(r rune) bool { return strings.ContainsRune(" \n\t,:;()\"'`|", r) })
		for _, mediaType := range extract.MediaTypes() {
			want := list.has(mediaType)
			if len(want) == 0 {
				t.Errorf("%s has no extension", mediaType)
			}
			for _, w := range want {
				if !slices.Contains(named, w) {
					t.Errorf("%s does not name %q of %s after %q", list.file, w, mediaType, list.begin)
				}
			}
		}
	}
}
