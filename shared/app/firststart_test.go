package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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
	}{"nothing": {}, "objects": {blobsFolder, true}} {
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
			if c.damaged && !strings.Contains(err.Error(), "restore a backup") {
				t.Errorf("it does not say what to do: %v", err)
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

// TestAFolderThatLacksAPartIsRefused: with a new database all objects would be removed after a day, and with a new key no secret could be
// read. Both are made by a first start that was interrupted before it made them.
func TestAFolderThatLacksAPartIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing string
		refused error
		stored  bool
	}{
		"the database":              {databaseFile, errNoDatabase, true},
		"the key":                   {keyFile, errNoKey, true},
		"the key of an empty store": {keyFile, nil, false},
		"an empty database":         {databaseFile, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			l := openHere(t, folder)
			if c.stored {
				if err := l.objects.Put(t.Context(), "kept/Object", []byte("content")); err != nil {
					t.Fatal(err)
				}
				if _, _, err := l.Teams.CreateTeam(t.Context(), "acme", "ada"); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(l.Close(), os.Rename(filepath.Join(folder, c.missing), filepath.Join(folder, "away"))); err != nil {
				t.Fatal(err)
			}
			l, err := OpenLocal(t.Context(), folder, LocalOptions{Log: slog.New(slog.DiscardHandler)})
			if !errors.Is(err, c.refused) {
				t.Errorf("open: %v", err)
			}
			if err == nil {
				err = l.Close()
			} else if err = nil; c.refused == nil {
				return
			}
			if _, made := os.Lstat(filepath.Join(folder, c.missing)); err != nil || (made == nil) != (c.refused == nil) {
				t.Errorf("%s afterwards: %v, %v", c.missing, made, err)
			}
			if c.refused == nil {
				return
			}
			if err := os.Rename(filepath.Join(folder, "away"), filepath.Join(folder, c.missing)); err != nil {
				t.Fatal(err)
			}
			if teams, err := openHere(t, folder).Teams.Teams(t.Context()); err != nil || len(teams) != 1 {
				t.Errorf("with %s back: %v, %v", c.missing, teams, err)
			}
		})
	}
}
