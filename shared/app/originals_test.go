package app_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/extract"
)

// original returns where the only original file is kept.
func (f *filed) original() string {
	f.t.Helper()
	return f.object("originals")
}

// object returns where an object of a kind is kept.
func (f *filed) object(kind string) (name string) {
	f.t.Helper()
	err := filepath.WalkDir(f.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.Contains(path, kind) {
			name = path
		}
		return err
	})
	if err != nil || name == "" {
		f.t.Fatalf("nothing of %s: %v", kind, err)
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

// TestABackupSaysWhatItLacks and has everything else: the file of a document and a segment are lost.
func TestABackupSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	var d fileBody
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/a.pdf", "title": "A", "mediaType": extract.PDF,
		"body": base64.StdEncoding.EncodeToString([]byte("%PDF-The canteen opens at noon."))}, 200, &d)
	f.do("PUT", "/documents", map[string]any{"collectionId": f.wiki, "uri": "https://wiki.test/b", "title": "B", "body": "The canteen closes at two."}, 200, nil)
	if err := f.local.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	backup := func() app.BackupReport {
		t.Helper()
		var out bytes.Buffer
		if err := f.local.Backup(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		report, err := app.ReadBackup(&out, func(string, int64, io.Reader) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	whole := backup()
	if len(whole.Faults) != 0 {
		t.Errorf("nothing is lost: %q", whole.Faults)
	}
	for _, name := range []string{f.object("originals"), f.object("segments")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	lacking := backup()
	if len(lacking.Faults) != 2 || !strings.Contains(lacking.Faults[0], "/"+d.ID+"/") || !strings.HasPrefix(lacking.Faults[1], "segments/") ||
		!strings.HasSuffix(lacking.Faults[0], " is missing") {
		t.Errorf("faults %q", lacking.Faults)
	}
	if lacking.Objects != whole.Objects-2 {
		t.Errorf("%d objects of %d", lacking.Objects, whole.Objects)
	}
}

// TestALongListOfFaultsSaysThatThereAreMore, and has a bound.
func TestALongListOfFaultsSaysThatThereAreMore(t *testing.T) {
	t.Parallel()
	for n, last := range map[int]string{999: "object 998 is missing", 1000: "object 999 is missing", 1001: "and more", 1500: "and more"} {
		if got := app.ListedFaults(n); len(got) != min(n, 1000) || got[len(got)-1] != last {
			t.Errorf("%d: %d, and the last is %q", n, len(got), got[len(got)-1])
		}
	}
}
