package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/table/bolt"
)

// TestAFirstStartThatFailedIsMadeGoodByTheNext: on a full disk the first start leaves a database file without content. In a folder with
// other data such a file is damage, and stays as it is.
func TestAFirstStartThatFailedIsMadeGoodByTheNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		beside  string
		damaged bool
	}{"nothing": {}, "objects": {blobsFolder, true}, "a key": {keyFile, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, databaseFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.beside != "" {
				if err := os.Mkdir(filepath.Join(folder, c.beside), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			l, err := OpenLocal(t.Context(), folder, LocalOptions{Log: slog.New(slog.DiscardHandler)})
			if errors.Is(err, bolt.ErrDamaged) != c.damaged || !c.damaged && err != nil {
				t.Fatalf("open: %v", err)
			}
			if err == nil {
				err = l.Close()
			} else {
				err = nil
			}
			info, statErr := os.Stat(filepath.Join(folder, databaseFile))
			if err := errors.Join(err, statErr); err != nil || c.damaged != (info.Size() == 0) {
				t.Errorf("%d bytes afterwards: %v", info.Size(), err)
			}
		})
	}
}
