package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/shared/app"
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

// TestTheNextBackupRemovesWhatAKilledOneLeft: but nothing that a running process writes, or one of another host may
// write, and nothing of another name.
func TestTheNextBackupRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	o := newFixture(t)
	o.closeOnce()
	for name, c := range map[string]struct {
		to         string // in the folder
		left, held string
		stays      []string
	}{
		"a folder": {"", ".docent-20261101T020000Z.tar.unfinished-1", ".docent-20261125T020000Z.tar.unfinished-2",
			[]string{"docent-20261101T020000Z.tar", ".other.tar.unfinished-3", ".docent-20261126T020000Z.tar.unfinished-4"}},
		"a file": {"b[1].tar", ".b[1].tar.unfinished-1", ".b[1].tar.unfinished-2",
			[]string{".b1.tar.unfinished-1", ".docent-20261101T020000Z.tar.unfinished-1", ".b[1].tar", ".b[1].tar.unfinished-4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, file := range append(c.stays, c.left, c.held) {
				if err := os.WriteFile(filepath.Join(folder, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for file, age := range map[string]time.Duration{c.left: 2 * leftAfter /* where no file can be held */, c.held: 2 * leftUnheld} {
				before := time.Now().Add(-age)
				if err := os.Chtimes(filepath.Join(folder, file), before, before); err != nil {
					t.Fatal(err)
				}
			}
			writing, err := os.Open(filepath.Join(folder, c.held))
			if err == nil {
				err = hold(writing)
			}
			if err != nil {
				t.Fatal(err)
			}
			if status, _, errOut := docent(t, "backup", "--data", o.dir, filepath.Join(folder, c.to)); status != 0 {
				t.Fatal(errOut)
			}
			if err := writing.Close(); err != nil {
				t.Fatal(err)
			}
			for _, file := range append(c.stays, c.held) {
				if _, err := os.Lstat(filepath.Join(folder, file)); err != nil {
					t.Error(err)
				}
			}
			if _, err := os.Lstat(filepath.Join(folder, c.left)); err == nil {
				t.Errorf("%s is left", c.left)
			}
		})
	}
}

// TestABackupHoldsItsFile: the next backup to the same name must not remove it.
func TestABackupHoldsItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b.tar")
	_, err := writeBackup(file, func(w io.Writer) (app.BackupReport, error) {
		removeLeft(filepath.Dir(file), ".b.tar"+unfinished, time.Now().Add(2*leftUnheld))
		_, err := io.WriteString(w, "content")
		return app.BackupReport{}, err
	})
	if content, readErr := os.ReadFile(file); err != nil || string(content) != "content" {
		t.Errorf("%q, %v, %v", content, err, readErr)
	}
}

// TestWhatIsRemovedIsHeld: a backup that has just made its file waits, and then finds it gone.
func TestWhatIsRemovedIsHeld(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b.tar")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	err := ifUnheld(file, func() error {
		calls++
		return ifUnheld(file, func() error {
			calls++
			return nil
		})
	})
	if errors.Is(err, errors.ErrUnsupported) && os.Getenv("CI") == "" {
		t.Skip("no file can be held here")
	}
	if err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
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
