package dir_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"docent/shared/blob"
	"docent/shared/blob/blobtest"
	"docent/shared/blob/dir"
	"docent/shared/table"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv("DOCENT_TEST_PUT_UNTIL_KILLED"); folder != "" {
		putUntilKilled(folder)
	}
	os.Exit(m.Run())
}

func open(t *testing.T, folder string) *dir.Store {
	t.Helper()
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestContract(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return open(t, t.TempDir()) })
}

func TestObjectsSurviveReopening(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "made", "by", "Open")
	if err := open(t, folder).Put(t.Context(), "a/b", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, folder).Get(t.Context(), "a/b")
	if err != nil || string(got) != "kept" {
		t.Errorf("Get = %q, %v", got, err)
	}
}

// TestNothingIsStoredInAFolderThatIsGone: it would be lost with it. What is there can be read.
func TestNothingIsStoredInAFolderThatIsGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows moves and removes no open folder")
	}
	folder := filepath.Join(t.TempDir(), "blobs")
	s := open(t, folder)
	if err := s.Put(t.Context(), "a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		for _, err := range []error{s.Put(t.Context(), "b", nil), s.PutFrom(t.Context(), "b", strings.NewReader("a file"))} {
			if !errors.Is(err, table.ErrMoved) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	if err := os.Rename(folder, folder+".old"); err != nil {
		t.Fatal(err)
	}
	refused("moved away")
	if got, err := s.Get(t.Context(), "a"); err != nil || string(got) != "kept" {
		t.Errorf("moved away, a read: %q, %v", got, err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("replaced")
	if err := errors.Join(os.Remove(folder), os.Rename(folder+".old", folder)); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "b", []byte("stored")); err != nil {
		t.Errorf("put back: %v", err)
	}
	moves := readerFunc(func([]byte) (int, error) {
		if err := os.Rename(folder, folder+".old"); err != nil {
			return 0, err
		}
		return 0, io.EOF
	})
	if err := s.PutFrom(t.Context(), "c", moves); !errors.Is(err, table.ErrMoved) {
		t.Errorf("moved while a file comes: %v", err)
	}
	if err := os.RemoveAll(folder + ".old"); err != nil {
		t.Fatal(err)
	}
	refused("removed")
}

type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestForeignFilesAreNoObjects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	for _, file := range []string{"note.txt", "a+=", "..=", "B=", "é=", "="} {
		if err := os.WriteFile(filepath.Join(folder, "objects", file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for info, err := range s.List(t.Context(), "") {
		t.Errorf("listed %q, %v", info.Name, err)
	}
}

func TestOpenRemovesOnlyStaleLeftovers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	unfinished := filepath.Join(folder, "unfinished")
	for name, age := range map[string]time.Duration{"stale": 61 * time.Minute, "young": 59 * time.Minute} {
		file := filepath.Join(unfinished, name)
		if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for info, err := range s.List(t.Context(), "") {
		t.Errorf("a leftover is listed: %q, %v", info.Name, err)
	}
	open(t, folder)
	left := entries(t, unfinished)
	if len(left) != 1 || left[0] != "young" {
		t.Errorf("left after Open: %q, want the young one", left)
	}
}

func TestPutLeavesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	for _, want := range []error{nil, blob.ErrExists} {
		if err := s.Put(t.Context(), "a", []byte("x")); !errors.Is(err, want) {
			t.Fatalf("Put: %v, want %v", err, want)
		}
		if left := entries(t, filepath.Join(folder, "unfinished")); len(left) != 0 {
			t.Errorf("left after Put: %q", left)
		}
	}
}

func TestFailedPutTakesNoName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	// A plain file in place of the object's folder makes the link impossible.
	blocked := filepath.Join(folder, "objects", "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "blocked/a", []byte("x")); err == nil || errors.Is(err, blob.ErrExists) {
		t.Fatalf("Put: %v, want a file system error", err)
	}
	if left := entries(t, filepath.Join(folder, "unfinished")); len(left) != 0 {
		t.Errorf("left after a failed Put: %q", left)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "blocked/a", []byte("x")); err != nil {
		t.Errorf("Put after the obstacle is gone: %v", err)
	}
}

func TestClosedStoreReturnsErrors(t *testing.T) {
	t.Parallel()
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "a", nil); err == nil {
		t.Error("Put after Close succeeded")
	}
	if _, err := s.Get(t.Context(), "a"); err == nil {
		t.Error("Get after Close succeeded")
	}
}

func TestOpenOnAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := dir.Open(file); err == nil {
		_ = s.Close()
		t.Error("Open of a plain file succeeded")
	}
}

// A killed writer leaves every acknowledged object, and none in part.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "DOCENT_TEST_PUT_UNTIL_KILLED="+folder)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		acknowledged = append(acknowledged, lines.Text())
		if len(acknowledged) == 20 {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err == nil || len(acknowledged) < 20 {
		t.Fatalf("the writer ended before it was killed, after %d objects: %v", len(acknowledged), err)
	}
	s := open(t, folder)
	for _, name := range acknowledged {
		if _, err := s.Get(t.Context(), name); err != nil {
			t.Errorf("acknowledged object: %v", err)
		}
	}
	for info, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), info.Name)
		if err != nil || !bytes.Equal(got, content(info.Name)) {
			t.Errorf("object %s is not whole: %d bytes, %v", info.Name, len(got), err)
		}
	}
}

func content(name string) []byte { return bytes.Repeat([]byte(name), 20_000) }

// putUntilKilled writes objects from four goroutines and prints the name of
// each one that is acknowledged.
func putUntilKilled(folder string) {
	s, err := dir.Open(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	done := make(chan string)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d/%06d", w, i)
				if err := s.Put(context.Background(), name, content(name)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(2)
				}
				done <- name
			}
		}()
	}
	for name := range done {
		fmt.Println(name)
	}
}

func entries(t *testing.T, folder string) []string {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

func FuzzPath(f *testing.F) {
	for _, name := range []string{"a", "A/b", "a/B", strings.Repeat("Ab", 256), strings.Repeat("a", 200) + "/b", strings.Repeat("a", 201)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if blob.CheckName(name) != nil {
			return
		}
		path := dir.PathOf(name)
		if back, ok := dir.NameAt(path); !ok || back != name {
			t.Fatalf("%q is kept at %q, which reads as %q, %v", name, path, back, ok)
		}
		for element := range strings.SplitSeq(path, "/") {
			if len(element) > 255 || strings.ToLower(element) != element {
				t.Fatalf("%q needs the file name %q", name, element)
			}
		}
	})
}
