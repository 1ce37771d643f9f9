package app

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheKeyOfSecretsIsWholeOrNotThere begins where a process was killed, or the disk was full, while the key was made.
func TestTheKeyOfSecretsIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]byte{"nothing": nil, "an empty file": {}, "a part of a key": []byte("0123456789")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), keyFile)
			if left != nil {
				if err := os.WriteFile(file+".new", left, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			first, err := openSealer(file)
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := first.Seal(t.Context(), []byte("secret"), "source")
			if err != nil {
				t.Fatal(err)
			}
			again, err := openSealer(file)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := again.Open(t.Context(), sealed, "source"); err != nil || string(text) != "secret" {
				t.Errorf("%q, %v", text, err)
			}
			if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
				t.Errorf("left: %v, %v", entries, err)
			}
		})
	}
	if _, err := openSealer(filepath.Join(t.TempDir(), "missing", keyFile)); err == nil {
		t.Error("a key in a folder that does not exist")
	}
}
