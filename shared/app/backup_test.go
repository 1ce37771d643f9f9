package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"docent/shared/blob/dir"
)

// backedUp makes data with a team and an object, and returns its folder and a backup of it.
func backedUp(t *testing.T) (folder string, backup []byte) {
	t.Helper()
	folder = t.TempDir()
	l := openHere(t, folder)
	if _, _, err := l.Teams.CreateTeam(t.Context(), "acme", "ada"); err != nil {
		t.Fatal(err)
	}
	if err := l.objects.Put(t.Context(), "kept/Object", []byte("content")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report, err := BackupData(t.Context(), folder, &out)
	if err != nil || report.Objects != 1 || report.Database == 0 {
		t.Fatalf("backup: %+v, %v", report, err)
	}
	return folder, out.Bytes()
}

func openHere(t *testing.T, folder string) *Local {
	t.Helper()
	l, err := OpenLocal(t.Context(), folder, LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestARestoredBackupIsTheData(t *testing.T) {
	t.Parallel()
	folder, backup := backedUp(t)
	restored := filepath.Join(t.TempDir(), "new")
	if _, err := Restore(t.Context(), restored, time.Now(), bytes.NewReader(backup)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(folder, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(restored, keyFile))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the key of secrets differs: %v", err)
	}
	l := openHere(t, restored)
	defer l.Close()
	teams, err := l.Teams.Teams(t.Context())
	if err != nil || len(teams) != 1 || teams[0].Name != "acme" {
		t.Errorf("teams %+v, %v", teams, err)
	}
	object, err := l.objects.Get(t.Context(), "kept/Object")
	if err != nil || string(object) != "content" {
		t.Errorf("object %q, %v", object, err)
	}
	if _, err := Restore(t.Context(), folder, time.Now(), bytes.NewReader(backup)); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("restored over data: %v", err)
	}
}

func TestADamagedBackupRestoresNothing(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	content := bytes.Index(backup, []byte("content"))
	sums := bytes.LastIndex(backup, []byte("  docent.db\n"))
	if content < 0 || sums < 0 {
		t.Fatal("the backup has another form")
	}
	changed := func(at int, text string) []byte {
		damaged := bytes.Clone(backup)
		copy(damaged[at:], text)
		return damaged
	}
	for name, damaged := range map[string][]byte{
		"empty":                 nil,
		"another file":          bytes.Repeat([]byte("no archive "), 1000),
		"cut in the database":   backup[:20_000],
		"cut before the end":    backup[:sums-2000],
		"an object changed":     changed(content, "CONTENT"),
		"a file is not listed":  changed(sums, "  docent.xx\n"),
		"a digest is different": changed(sums-4, "0000"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if _, err := Restore(t.Context(), folder, time.Now(), bytes.NewReader(damaged)); err == nil {
				t.Error("it was restored")
			}
			entries, err := os.ReadDir(folder)
			if err != nil || len(entries) > 0 {
				t.Errorf("left %v, %v", entries, err)
			}
		})
	}
}

func TestAnInterruptedRestoreIsNeverOpened(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	for name, left := range map[string][]string{
		"while it unpacked":  {unfinishedFolder + "/docent.db"},
		"while it published": {"blobs/objects", unfinishedFolder + "/docent.db"},
		"before its end":     {"docent.db", "secrets.key", unfinishedFolder + "/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, path := range left {
				if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(path)), 0o700); err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(path, "/") {
					if err := os.WriteFile(filepath.Join(folder, path), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := OpenLocal(t.Context(), folder, LocalOptions{}); !errors.Is(err, ErrUnfinished) {
				t.Errorf("opened: %v", err)
			}
			if _, err := Restore(t.Context(), folder, time.Now(), bytes.NewReader(backup)); !errors.Is(err, ErrUnfinished) && !errors.Is(err, ErrNotEmpty) {
				t.Errorf("restored over it: %v", err)
			}
		})
	}
}

func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	l := openHere(t, t.TempDir())
	defer l.Close()
	hold, err := l.objects.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), io.Discard); !errors.Is(err, dir.ErrHeld) {
		t.Errorf("a second backup: %v", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
}

// TestAServerIsBackedUpWhereverItsDataIs checks folders whose path is too long for the address of a socket.
func TestAServerIsBackedUpWhereverItsDataIs(t *testing.T) {
	t.Parallel()
	const longest = longestAddress - len("/"+controlSocket) // of a folder whose socket has an address
	for _, length := range []int{longest, longest + 1, 250} {
		if length > longest && runtime.GOOS != "linux" {
			continue // the server warns that it cannot be reached
		}
		t.Run(strconv.Itoa(length), func(t *testing.T) {
			t.Parallel()
			folder := folderOf(t, length)
			l := openHere(t, folder)
			defer l.Close()
			serving, stop := context.WithCancel(t.Context())
			var logged bytes.Buffer
			served := make(chan struct{})
			go func() { defer close(served); l.control(serving, slog.New(slog.NewTextHandler(&logged, nil))) }()
			var err error
			for { // until the server listens
				if _, err = BackupData(t.Context(), folder, io.Discard); !errors.Is(err, ErrInUse) {
					break
				}
				select {
				case <-served:
					t.Fatalf("it does not listen: %s", &logged)
				default:
				}
			}
			stop()
			<-served
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(filepath.Join(folder, controlSocket)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket is left: %v", err)
			}
		})
	}
}

// folderOf returns a new folder whose path has a number of bytes.
func folderOf(t *testing.T, length int) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "") // t.TempDir has a longer path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	missing := length - len(folder+"/")
	if missing < 1 {
		t.Skip("the folder of temporary files has a long path")
	}
	folder = filepath.Join(folder, strings.Repeat("d", missing))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestABackupListsItsFiles(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	var names []string
	if _, err := ReadBackup(bytes.NewReader(backup), func(name string, _ int64, _ io.Reader) error {
		names = append(names, name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"docent.db", "secrets.key", "blobs/kept/Object"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

// TestAFileThatEndsEarlyHasItsSizeInABackup: zeros take the place of what cannot be read.
func TestAFileThatEndsEarlyHasItsSizeInABackup(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	for name, c := range map[string]struct {
		from io.Reader
		want string
		err  error
	}{
		"whole":      {strings.NewReader("content and more"), "content", nil},
		"cut short":  {strings.NewReader("con"), "con\x00\x00\x00\x00", io.EOF},
		"unreadable": {io.MultiReader(strings.NewReader("con"), iotest.ErrReader(broken)), "con\x00\x00\x00\x00", broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &readable{Reader: c.from, left: 7}
			if got, err := io.ReadAll(r); err != nil || string(got) != c.want || !errors.Is(r.err, c.err) {
				t.Errorf("%q, %v, %v", got, err, r.err)
			}
		})
	}
}

// TestAFolderThatIsRefusedHasOneReason: whoever may not read it was told of each file that could not be looked at.
func TestAFolderThatIsRefusedHasOneReason(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, unfinishedFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, moveFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenLocal(t.Context(), folder, LocalOptions{})
	if !errors.Is(err, ErrUnfinished) || strings.Contains(err.Error(), "\n") {
		t.Errorf("opened: %v", err)
	}
}
