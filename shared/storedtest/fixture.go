// Package storedtest has the stored data of every release: a data folder of docent serve, and
// the tables, segments and queue messages of an installation on AWS. Tests open them, so that
// every change of a stored form is noticed. README.md has the rules.
package storedtest

import (
	"archive/zip"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// The two ways to run Docent. Each release has one fixture for each.
const (
	Serve = "serve" // docent serve: docent.db, blobs/ and secrets.key
	AWS   = "aws"   // tables/{table}.jsonl, blobs/ and queues/{queue}.jsonl
)

// Engines lists the engines of fixtures.
var Engines = []string{Serve, AWS}

// FolderVariable names a folder of fixtures that tests open instead of the committed ones. The
// rollback test uses it to let the tests of an older version open data of the current one.
const FolderVariable = "DOCENT_STORED_FIXTURES"

//go:embed testdata
var committed embed.FS

// Fixture is the data that one release stored with one engine.
type Fixture struct {
	Version  string // such as v0.1
	Engine   string
	Manifest Manifest
	archive  []byte // zip
}

// Name returns the fixture's version and engine.
func (f Fixture) Name() string { return f.Version + "/" + f.Engine }

// Fixtures returns every fixture, oldest release first.
func Fixtures(t testing.TB) []Fixture {
	t.Helper()
	from, err := fs.Sub(committed, "testdata")
	if folder := os.Getenv(FolderVariable); folder != "" {
		from = os.DirFS(folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	versions, err := fs.ReadDir(from, ".")
	if err != nil {
		t.Fatal(err)
	}
	var all []Fixture
	for _, v := range versions {
		for _, engine := range Engines {
			f, err := read(from, v.Name(), engine)
			if err != nil {
				t.Fatalf("fixture %s/%s: %v", v.Name(), engine, err)
			}
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no fixtures")
	}
	slices.SortStableFunc(all, func(a, b Fixture) int { return compareVersions(a.Version, b.Version) })
	return all
}

func read(from fs.FS, version, engine string) (Fixture, error) {
	f := Fixture{Version: version, Engine: engine}
	text, err := fs.ReadFile(from, path.Join(version, engine+".json"))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f.Manifest); err != nil {
		return f, fmt.Errorf("read the manifest: %w", err)
	}
	f.archive, err = fs.ReadFile(from, path.Join(version, engine+".zip"))
	return f, err
}

// FS returns the stored files.
func (f Fixture) FS(t testing.TB) fs.FS {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(f.archive), int64(len(f.archive)))
	if err != nil {
		t.Fatalf("fixture %s: %v", f.Name(), err)
	}
	return r
}

// Unpack copies the stored files into a temporary folder and returns it.
func (f Fixture) Unpack(t testing.TB) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(folder, f.FS(t)); err != nil {
		t.Fatalf("fixture %s: %v", f.Name(), err)
	}
	return folder
}

// Save writes a fixture below folder: the files of stored, and m.
func Save(folder string, m Manifest, stored fs.FS) error {
	folder = filepath.Join(folder, m.Version)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("make the fixture's folder: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, m.Engine+".json"), append(text, '\n'), 0o600); err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := pack(&archive, stored); err != nil {
		return fmt.Errorf("pack the fixture: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, m.Engine+".zip"), archive.Bytes(), 0o600)
}

// pack writes a zip archive of files without their times, so that equal files give
// equal archives.
func pack(to io.Writer, files fs.FS) error {
	w := zip.NewWriter(to)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

// compareVersions orders versions such as v0.9 and v0.10 by their numbers.
func compareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(version string) []int {
	var all []int
	inNumber := false
	for _, r := range version {
		digit := r >= '0' && r <= '9'
		switch {
		case digit && inNumber:
			all[len(all)-1] = all[len(all)-1]*10 + int(r-'0')
		case digit:
			all = append(all, int(r-'0'))
		}
		inNumber = digit
	}
	return all
}
