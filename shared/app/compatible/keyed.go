package compatible

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"docent/shared/llm"
)

// keyAge is how long a key is used before it is read again, which is the longest
// that one which was replaced goes on being sent.
const keyAge = 5 * time.Minute

// keyed is a model whose server's key is a parameter of AWS Systems Manager, so that
// it stands in no environment and no template.
type keyed struct {
	parameters *ssm.Client
	parameter  string // name or ARN
	now        func() time.Time
	open       func(key string) (llm.Composer, error)

	mu    sync.Mutex
	key   string
	model llm.Composer // opened with key; nil: not yet
	read  time.Time    // when key was
}

// Compose implements llm.Composer.
func (k *keyed) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	model, err := k.current(ctx)
	if err != nil {
		return llm.Draft{}, err
	}
	return model.Compose(ctx, r)
}

// current is the model, opened with a key of at most keyAge. When a key can not be
// read again the old one is tried.
func (k *keyed) current(ctx context.Context) (llm.Composer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.model != nil && k.now().Sub(k.read) < keyAge {
		return k.model, nil
	}
	key, err := k.secret(ctx)
	if err != nil {
		if k.model != nil {
			return k.model, nil
		}
		return nil, fmt.Errorf("read the key of the model's server: %w", err)
	}
	k.read = k.now()
	if k.model == nil || key != k.key { // a model keeps what it has learned of its server
		if k.model, err = k.open(key); err != nil {
			return nil, err
		}
		k.key = key
	}
	return k.model, nil
}

// secret reads the parameter. One that is kept in clear is refused.
func (k *keyed) secret(ctx context.Context) (string, error) {
	out, err := k.parameters.GetParameter(ctx, &ssm.GetParameterInput{Name: &k.parameter, WithDecryption: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	if out.Parameter == nil || out.Parameter.Type != types.ParameterTypeSecureString {
		return "", errors.New("the parameter is no SecureString")
	}
	return strings.TrimSpace(aws.ToString(out.Parameter.Value)), nil // a file that it was set from may end a line
}
