package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

// heldReader measures how much of what was read is not in the files of a folder.
type heldReader struct {
	io.Reader
	folder     string
	read, most int64
}

// Read implements io.Reader.
func (r *heldReader) Read(p []byte) (int, error) {
	stored := int64(0)
	_ = filepath.WalkDir(r.folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // files are renamed meanwhile
		}
		if info, err := e.Info(); err == nil {
			stored += info.Size()
		}
		return nil
	})
	r.most = max(r.most, r.read-stored)
	n, err := r.Reader.Read(p)
	r.read += int64(n)
	return n, err
}

// Large files are not held in memory while they are restored, and a backup that ends within one is incomplete.
func TestRestoreStreamsLargeObjects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l := openHere(t, folder)
	for n := range 3 {
		if err := l.objects.Put(t.Context(), fmt.Sprintf("originals/%d", n), bytes.Repeat([]byte{byte(n)}, 4*restoredWhole)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var backup bytes.Buffer
	if _, err := BackupData(t.Context(), folder, &backup); err != nil {
		t.Fatal(err)
	}
	whole := backup.Bytes()
	into := filepath.Join(t.TempDir(), "whole")
	from := &heldReader{Reader: bytes.NewReader(whole), folder: into}
	if _, err := Restore(t.Context(), into, time.Now(), from); err != nil {
		t.Fatal(err)
	}
	if from.most > restoredWhole {
		t.Errorf("%d bytes were in memory, want at most %d", from.most, restoredWhole)
	}
	again := openHere(t, into)
	defer func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}()
	for n := range 3 {
		got, err := again.objects.Get(t.Context(), fmt.Sprintf("originals/%d", n))
		if err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(n)}, 4*restoredWhole)) {
			t.Errorf("object %d: %d bytes, %v", n, len(got), err)
		}
	}
	if _, err := Restore(t.Context(), filepath.Join(t.TempDir(), "cut"), time.Now(), bytes.NewReader(whole[:len(whole)-6*restoredWhole])); !errors.Is(err, errBackupIncomplete) {
		t.Errorf("cut within an object: %v", err)
	}
}
