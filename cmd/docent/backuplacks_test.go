package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestABackupThatLacksAnObjectIsWrittenAndFails, so that cron tells somebody. The restore says so too.
func TestABackupThatLacksAnObjectIsWrittenAndFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	indexedData(t, data)
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const lacks = "The backup lacks what the data lacked when it was made:\n  segments/"
	file := filepath.Join(folder, "backup.tar")
	status, out, errOut := docent(t, "backup", "--data", data, file)
	if status != 1 || !strings.HasPrefix(out, "Wrote "+file) || !strings.Contains(errOut, lacks) || !strings.HasSuffix(errOut, " is missing\n") {
		t.Errorf("backup: %d, %q, %q", status, out, errOut)
	}
	if status, _, errOut := docent(t, "backup", "--data", data, "-"); status != 1 || !strings.Contains(errOut, lacks) {
		t.Errorf("backup to standard output: %d, %q", status, errOut)
	}
	var done backupDone
	status, out, errOut = docent(t, "restore", "--data", filepath.Join(folder, "new"), "--json", file)
	decodeJSON(t, out, &done)
	if status != 0 || len(done.Faults) != 1 || !strings.Contains(errOut, lacks) {
		t.Errorf("restore: %d, %q, %q", status, out, errOut)
	}
}
