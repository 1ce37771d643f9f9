// Package weights finds the weights of the embedding model for tests.
package weights

import (
	"os"
	"sync"
	"testing"

	"docent/shared/embed/weights"
)

// Folder returns the folder of the cache that has the weights, which the first call of a test binary checks. Without
// them the test is skipped; in CI (CI=true) it fails.
func Folder(t testing.TB) string {
	t.Helper()
	folder, err := find()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("%v: run make weights", err)
	case err != nil:
		t.Skipf("%v: run make weights", err)
	}
	return folder
}

var find = sync.OnceValues(func() (string, error) {
	folder, err := weights.Folder()
	if err != nil {
		return "", err
	}
	return folder, weights.Check(folder)
})
