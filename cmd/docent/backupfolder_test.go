package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABackupIsNotInTheDataFolderAndNotCutOff(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.closeOnce()
	for _, to := range []string{o.dir, filepath.Join(o.dir, "b.tar"), filepath.Join(o.dir, "blobs")} {
		if status, _, errOut := docent(t, "backup", "--data", o.dir, to); status != 1 || !strings.Contains(errOut, "is in the data folder; write the backup to another place") {
			t.Errorf("%s: status %d, %q", to, status, errOut)
		}
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if status, _, errOut := docent(t, "backup", "--data", o.dir, file); status != 0 {
		t.Fatal(errOut)
	}
	if err := os.Truncate(file, 4096); err != nil { // within the database
		t.Fatal(err)
	}
	status, _, errOut := docent(t, "restore", "--data", filepath.Join(t.TempDir(), "new"), file)
	if status != 1 || !strings.HasPrefix(errOut, "docent: the backup is incomplete or damaged: ") {
		t.Errorf("status %d, %q", status, errOut)
	}
}
