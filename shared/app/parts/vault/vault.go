// Package vault encrypts the secrets of data sources with a key of AWS KMS. It is not in
// package app because only the functions that use secrets should link the client of KMS.
package vault

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"docent/shared/apierr"
	"docent/shared/app"
)

// MaxSecrets is the number of bytes that KMS encrypts in one call.
const MaxSecrets = 4096

// Vault encrypts and decrypts in KMS, which binds the secrets to the text about and never
// reveals the key. Each method is one call.
type Vault struct {
	client *kms.Client
	key    string
}

// Open returns the vault of the key that c names, nil if it names none. It sends no request.
func Open(c app.Config) app.Vault {
	if c.SecretsKey == "" {
		return nil
	}
	return &Vault{kms.NewFromConfig(app.AWSConfig(c)), c.SecretsKey}
}

// aboutField is the field of the encryption context for the text that secrets are bound to:
// ids of a team and a data source. AWS writes it to its log of the key's use.
const aboutField = "about"

// Seal encrypts secrets of at most MaxSecrets bytes and binds them to about.
func (v *Vault) Seal(ctx context.Context, secrets []byte, about string) ([]byte, error) {
	if len(secrets) > MaxSecrets {
		return nil, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The secrets of a data source may have at most %d bytes together.", MaxSecrets)
	}
	out, err := v.client.Encrypt(ctx, &kms.EncryptInput{KeyId: &v.key, Plaintext: secrets, EncryptionContext: map[string]string{aboutField: about}})
	if err != nil {
		return nil, fmt.Errorf("encrypt with the key %s: %w", v.key, classify(err))
	}
	return out.CiphertextBlob, nil
}

// Open decrypts secrets that Seal encrypted with the same about.
func (v *Vault) Open(ctx context.Context, sealed []byte, about string) ([]byte, error) {
	out, err := v.client.Decrypt(ctx, &kms.DecryptInput{KeyId: &v.key, CiphertextBlob: sealed, EncryptionContext: map[string]string{aboutField: about}})
	if err != nil {
		return nil, fmt.Errorf("decrypt with the key %s: %w", v.key, classify(err))
	}
	return out.Plaintext, nil
}

// classify returns an error that asks the client to try again if the failure is temporary.
// Any other failure is for an operator.
func classify(err error) error {
	var network net.Error
	var internal *types.KMSInternalException
	var dependency *types.DependencyTimeoutException
	var unavailable *types.KeyUnavailableException
	throttled := retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err).Bool()
	if throttled || errors.As(err, &network) || errors.As(err, &internal) || errors.As(err, &dependency) || errors.As(err, &unavailable) {
		return apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "Secrets cannot be encrypted or decrypted right now. Try again.").WithCause(err)
	}
	return err
}
