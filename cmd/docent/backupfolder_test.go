package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

func TestUnfinishedBackupsAreRemovedLater(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.closeOnce()
	folder := t.TempDir()
	for name, age := range map[string]time.Duration{
		".docent-20261101T020000Z.tar.unfinished-1": 48 * time.Hour, ".docent-20261125T020000Z.tar.unfinished-2": time.Hour,
		"docent-20261101T020000Z.tar": 48 * time.Hour, ".other.tar.unfinished-3": 48 * time.Hour,
	} {
		at := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(filepath.Join(folder, name), nil, 0o600), os.Chtimes(filepath.Join(folder, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errOut := docent(t, "backup", "--data", o.dir, folder); status != 0 {
		t.Fatal(errOut)
	}
	entries, err := os.ReadDir(folder)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || len(names) != 4 || names[0] != ".docent-20261125T020000Z.tar.unfinished-2" || names[1] != ".other.tar.unfinished-3" {
		t.Errorf("left %q, %v", names, err)
	}
}

func TestWhatIsInterruptedSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.closeOnce()
	folder := t.TempDir()
	file, restored := filepath.Join(folder, "b.tar"), filepath.Join(folder, "new")
	if status, _, errOut := docent(t, "backup", "--data", o.dir, file); status != 0 {
		t.Fatal(errOut)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	for _, args := range [][]string{{"backup", "--data", o.dir, filepath.Join(folder, "c.tar")}, {"restore", "--data", restored, file}} {
		var out, errOut bytes.Buffer
		if status := run(ctx, args, &out, &errOut); status != 1 || out.Len() > 0 || errOut.String() != "docent: stopped before it was done\n" {
			t.Errorf("%v: status %d, output %q, errors %q", args, status, &out, &errOut)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	if inside, err := os.ReadDir(restored); err != nil || len(inside) > 0 {
		t.Errorf("left %v, %v", inside, err)
	}
}

// TestAnErrorOfABackupNamesItsCause has a disk that is full, and what is no backup: neither is a damaged backup.
func TestAnErrorOfABackupNamesItsCause(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.closeOnce()
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.md")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no archive "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a folder":     {[]string{"restore", "--data", filepath.Join(folder, "new"), folder}, folder + " is a folder; name the backup in it"},
		"another file": {[]string{"restore", "--data", filepath.Join(folder, "new"), text}, "this is not a backup of Docent"},
		"no folder":    {[]string{"backup", "--data", o.dir, filepath.Join(folder, "none", "b.tar")}, "write the backup: "},
	} {
		if status, _, errOut := docent(t, c.args...); status != 1 || !strings.HasPrefix(errOut, "docent: "+c.want) {
			t.Errorf("%s: status %d, %q, want %q", name, status, errOut, c.want)
		}
	}
	var errOut bytes.Buffer
	if status := run(t.Context(), []string{"backup", "--data", o.dir, "-"}, fullDisk{}, &errOut); status != 1 || errOut.String() != "docent: write the backup: no space left on device\n" {
		t.Errorf("a full disk: status %d, %q", status, &errOut)
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
