package app_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/shared/extract"
)

// original returns where the only original file is kept.
func (f *filed) original() (name string) {
	f.t.Helper()
	err := filepath.WalkDir(f.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.Contains(path, "originals") {
			name = path
		}
		return err
	})
	if err != nil || name == "" {
		f.t.Fatalf("no original: %v", err)
	}
	return name
}

// TestALostOriginalIsNotMissing: the download says that the document is damaged, and a put of the same file brings it back.
func TestALostOriginalIsNotMissing(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(name string) error{
		"lost":      os.Remove,
		"cut short": func(name string) error { return os.Truncate(name, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			put := map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/a.pdf", "title": "A", "mediaType": extract.PDF,
				"body": base64.StdEncoding.EncodeToString([]byte("%PDF-The canteen opens at noon."))}
			var d fileBody
			f.do("PUT", "/documents", put, 200, &d)
			if err := f.local.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := damage(f.original()); err != nil {
				t.Fatal(err)
			}
			var problem struct{ Code string }
			if f.do("GET", "/documents/"+d.ID+"/original", nil, 500, &problem); problem.Code != "document-damaged" {
				t.Errorf("download: %+v", problem)
			}
			f.do("PUT", "/documents", put, 200, nil)
			if err := f.local.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.do("GET", "/documents/"+d.ID+"/original", nil, 200, nil)
		})
	}
}
