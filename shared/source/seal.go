package source

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Sealer encrypts secrets with a local key: AES-256-GCM with a random nonce in
// front of the ciphertext.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns a Sealer with a key of 32 bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("a key of %d bytes, want 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Sealer{aead}, err
}

// Seal encrypts secrets and binds them to about.
func (s *Sealer) Seal(_ context.Context, secrets []byte, about string) ([]byte, error) {
	return s.aead.Seal(nil, nil, secrets, []byte(about)), nil //nolint:gosec // the cipher draws a random nonce itself
}

// Open decrypts what Seal returned for the same about.
func (s *Sealer) Open(_ context.Context, sealed []byte, about string) ([]byte, error) {
	text, err := s.aead.Open(nil, nil, sealed, []byte(about))
	if err != nil {
		return nil, errors.New("wrong key or damaged secrets")
	}
	return text, nil
}
