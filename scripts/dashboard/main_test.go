package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestTheBundleIsCommitted bundles again and compares.
func TestTheBundleIsCommitted(t *testing.T) {
	t.Parallel()
	modules := filepath.Join("..", "..", ".cache", "dashboard", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "preact")); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("Preact is not installed: run make dashboard-modules")
	}
	root := filepath.Join("..", "..", "dashboard")
	files, err := bundle(filepath.Join(root, "src"), modules)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, "dist", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("dist/%s differs from the sources (%v): run make dashboard", name, err)
		}
	}
	committed, err := os.ReadDir(filepath.Join(root, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range committed {
		if _, made := files[f.Name()]; !made && f.Name() != "reference.json" {
			t.Errorf("dist/%s is left over: run make dashboard", f.Name())
		}
	}
}
