package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// smallDisk names the folder on which the process of a test is to mount a small disk.
const smallDisk = "DOCENT_TEST_BOLT_SMALL_DISK"

// TestADiskThatIsTrulyFull runs the test below in a process that may mount a disk of its own: the only one of a namespace. What
// the other tests of a full disk pretend, this one has.
func TestADiskThatIsTrulyFull(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInANamespaceOfItsOwn$", "-test.v")
	cmd.Env = append(os.Environ(), smallDisk+"="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if refused := new(os.PathError); errors.As(err, &refused) || bytes.Contains(out, []byte("--- SKIP")) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI must run where a disk may be mounted in a namespace: %v %s", err, out)
		}
		t.Skipf("this system gives no namespace in which a disk may be mounted: %v %s", err, out)
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestInANamespaceOfItsOwn(t *testing.T) { // alone in its process
	folder := os.Getenv(smallDisk)
	if folder == "" {
		t.Skip("TestADiskThatIsTrulyFull runs it")
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip(err)
	}
	now := time.Unix(1_800_000_000, 0)
	path := filepath.Join(folder, "docent.db")
	s, err := bolt.Open(path, bolt.Options{Spare: 1 << 20, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	put := func(n, size int) error {
		return s.Write(t.Context(), table.Put{Item: table.Item{Key: spareKey(fmt.Sprint(n)), Body: make([]byte, size)}})
	}
	stored := 0
	for _, size := range []int{100 << 10, 10 << 10, 1} {
		for err = nil; err == nil; stored++ {
			err = put(stored, size)
		}
		stored-- // the last one was not
	}
	if _, gone := os.Stat(path + bolt.SpareSuffix); !errors.Is(err, syscall.ENOSPC) || stored < 10 || gone != nil {
		t.Fatalf("after %d puts: %v; spare file: %v", stored, err, gone)
	}
	ballast(t, filepath.Join(folder, "ballast"))
	freeing := table.Freeing(t.Context())
	for n := range stored { // with the room of the spare file, and then with the pages that are free
		if err := s.Write(freeing, table.Delete{Key: spareKey(fmt.Sprint(n))}); err != nil {
			t.Fatalf("removal %d: %v", n, err)
		}
	}
	if err := put(stored, 100<<10); err != nil {
		t.Errorf("a put into free pages: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "ballast")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	if err := errors.Join(s.CheckRoom(t.Context()), put(0, 100<<10), s.Close()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if s, err = bolt.Open(path, bolt.Options{Spare: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, stored} {
		if item, err := s.Get(t.Context(), spareKey(fmt.Sprint(n))); err != nil || len(item.Body) != 100<<10 {
			t.Errorf("the put %d: %d bytes, %v", n, len(item.Body), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// ballast writes a file until the disk is full.
func ballast(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	for err == nil {
		_, err = file.Write(make([]byte, 4<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
