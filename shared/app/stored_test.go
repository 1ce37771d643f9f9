package app

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docent/shared/storedtest"
)

var (
	fixtureVersion = flag.String("fixture", "", "the version, such as v0.2, of which TestWriteFixture makes the fixture")
	fixtureCommit  = flag.String("commit", "", "the commit that the fixture is of")
	fixtureFolder  = flag.String("into", "../storedtest/testdata", "the folder that TestWriteFixture writes into")
)

// TestWriteFixture makes the fixtures of a release: make fixture VERSION=v0.2.
func TestWriteFixture(t *testing.T) {
	if *fixtureVersion == "" {
		t.Skip("-fixture names no version")
	}
	for _, engine := range storedtest.Engines {
		t.Run(engine, func(t *testing.T) {
			m := storedtest.Manifest{Version: *fixtureVersion, Commit: *fixtureCommit, Engine: engine}
			if err := storedtest.Save(*fixtureFolder, m, written(t, &m)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// written fills a new installation and returns its stored files. It sets m to their manifest.
func written(t *testing.T, m *storedtest.Manifest) fs.FS {
	t.Helper()
	f := fill(t, storedAt(t, m.Engine, nil, storedFirst), m)
	f.leaveWork(m)
	f.leaveLink()
	f.record(m)
	f.leaveSignOn()
	f.leaveConsent()
	return f.stored()
}

// TestEveryStoredFormIsWritten fills an installation with the current code. Every stored item has
// a form that package storedtest lists, and every listed form is stored.
func TestEveryStoredFormIsWritten(t *testing.T) {
	t.Parallel()
	m := storedtest.Manifest{Version: storedtest.Unreleased, Engine: storedtest.Serve}
	folder := t.TempDir()
	if err := os.CopyFS(folder, written(t, &m)); err != nil {
		t.Fatal(err)
	}
	storedtest.CheckForms(t, m.Version, m.Engine, storedtest.BoltItems(t, filepath.Join(folder, "docent.db"), m.Written))
}

// TestStoredFormsOpen opens the data of each release: everything reads as it did, cursors
// continue, unfinished work is done, and everything can be changed.
func TestStoredFormsOpen(t *testing.T) {
	t.Parallel()
	for _, fixture := range storedtest.Fixtures(t) {
		t.Run(fixture.Name(), func(t *testing.T) {
			t.Parallel()
			m := fixture.Manifest
			in := storedAt(t, fixture.Engine, fixture.FS(t), m.Written.Add(time.Second))
			in.readsAsBefore(&m)
			in.worksOff(&m)
			in.changes(&m)
		})
	}
}

// readsAsBefore makes every request of the manifest and compares its reply.
func (in *installation) readsAsBefore(m *storedtest.Manifest) {
	in.t.Helper()
	for _, e := range m.Reads {
		got := e
		in.replied(m, &got)
		if got.Status != e.Status {
			in.t.Errorf("%s: %s %s: %d, want %d: %s", e.Name, e.Method, e.Path, got.Status, e.Status, got.Reply)
			continue
		}
		for _, d := range storedtest.Differences("", decoded(in.t, got.Reply), decoded(in.t, e.Reply), e.Prefix) {
			in.t.Errorf("%s: %s %s: %s", e.Name, e.Method, e.Path, d)
		}
	}
}

func decoded(t *testing.T, text json.RawMessage) any {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
