package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"docent/shared/apierr"
	"docent/shared/source"
)

// Vault encrypts the secrets of data sources and decrypts them, bound to the text
// about: a secret that was stored for one source opens for no other. Its errors are
// of package apierr where the client may read them.
type Vault interface {
	Seal(ctx context.Context, secrets []byte, about string) ([]byte, error)
	Open(ctx context.Context, sealed []byte, about string) ([]byte, error)
}

// openSealer reads the key at path, which it makes when it is missing. The key is
// as secret as what it encrypts, and is kept beside the data but not in it, so
// that a copy of the data alone tells no secret.
func openSealer(path string) (*source.Sealer, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		err = writeOnce(path, key)
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

// writeOnce writes a new file that only its owner reads, and has it on disk before
// anything is encrypted with it.
func writeOnce(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// noVault is where no key is configured: secrets are refused, never kept as they are.
type noVault struct{}

func (noVault) Seal(context.Context, []byte, string) ([]byte, error) {
	return nil, apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "This installation has no key to encrypt the secrets of data sources with, so it takes only sources without secrets.")
}

func (noVault) Open(context.Context, []byte, string) ([]byte, error) {
	return nil, errors.New("no key of secrets is configured")
}
