// Package slacktest makes archives of Slack exports for tests.
package slacktest

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"slices"
	"testing"
)

// Archive returns a zip file of the texts by name.
func Archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
