package models

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"docent/shared/llm"
)

// keyAge is how long a key is used before it is read again.
const keyAge = 5 * time.Minute

// keyed is a model whose key is stored in Parameter Store, so that it is not in the
// environment or a template.
type keyed struct {
	secret func(context.Context) (string, error) // reads the key
	now    func() time.Time
	open   func(key string) (llm.Composer, error)

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

// current returns the model, with a key read within keyAge. If the key cannot be read
// again, the old one is used.
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
	key = strings.TrimSpace(key)        // it may have been set from a file that ends with a line break
	if k.model == nil || key != k.key { // an unchanged key keeps the model, which has learned about its server
		if k.model, err = k.open(key); err != nil {
			return nil, err
		}
		k.key = key
	}
	return k.model, nil
}
