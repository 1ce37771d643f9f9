package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"docent/shared/apierr"
	"docent/shared/source"
	"docent/shared/table"
)

// Vault encrypts the secrets of data sources and decrypts them, bound to the text
// about: a secret of one source cannot be opened for another. Errors that the client
// may read are of package apierr.
type Vault interface {
	Seal(ctx context.Context, secrets []byte, about string) ([]byte, error)
	Open(ctx context.Context, sealed []byte, about string) ([]byte, error)
}

// errNoKey means that the key of stored secrets is missing.
var errNoKey = errors.New("the key of secrets is missing, and the data has teams")

// openKey is openSealer for the key beside rows. If it is missing although something was stored, a new one would make the secrets of the
// data unreadable: openKey returns errNoKey.
func openKey(ctx context.Context, path string, rows table.Store) (*source.Sealer, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		page, err := rows.Query(ctx, table.Query{Table: table.Identities, Partition: "teams", Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("look for teams: %w", err)
		}
		if len(page.Items) > 0 {
			return nil, fmt.Errorf("%w: put %s back, as from a backup. Without it, write 32 random bytes there, and set the secrets of data sources, "+
				"webhooks and identity providers again", errNoKey, path)
		}
	}
	return openSealer(path)
}

// openSealer reads the key at path, and creates it if it is missing, whole or not at all. The key is stored
// next to the data but not in it, so that a copy of the data alone reveals no secret.
func openSealer(path string) (*source.Sealer, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		err = replaceFile(path, key)
	}
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	s, err := source.NewSealer(key)
	if err != nil {
		return nil, fmt.Errorf("key of secrets %s: %w", path, err)
	}
	return s, nil
}

// replaceFile puts a file with that content in the place of path, durably. Remains of an earlier attempt are overwritten.
func replaceFile(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeOnce(temporary, content); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// writeOnce writes a new file that only its owner can read, and syncs it to disk.
func writeOnce(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// noVault is the Vault of programs without a key. It refuses secrets.
type noVault struct{}

func (noVault) Seal(context.Context, []byte, string) ([]byte, error) {
	return nil, apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "This installation has no key to encrypt secrets with, so sources with secrets cannot be connected and webhook endpoints cannot be added.")
}

func (noVault) Open(context.Context, []byte, string) ([]byte, error) {
	return nil, errors.New("no key of secrets is configured")
}
