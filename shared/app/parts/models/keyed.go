package models

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"docent/shared/app"
	"docent/shared/embed"
	"docent/shared/llm"
)

// keyAge is how long a key is used before it is read again.
const keyAge = 5 * time.Minute

// keyed is a model of kind M whose key is stored in Parameter Store, so that it is not in the environment or a
// template.
type keyed[M any] struct {
	secret func(context.Context) (string, error) // reads the key
	now    func() time.Time
	open   func(key string) (M, error)

	mu     sync.Mutex
	key    string
	model  M // opened with key
	opened bool
	read   time.Time // when key was
}

// newKeyed returns a model that open makes, with the key in a parameter.
func newKeyed[M any](c app.Config, name string, open func(key string) (M, error)) *keyed[M] {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &keyed[M]{secret: parameter{app.AWSConfig(c), name}.secret, now: c.Now, open: open}
}

// composer is an llm.Composer with such a key.
type composer struct{ *keyed[llm.Composer] }

// Compose implements llm.Composer.
func (c composer) Compose(ctx context.Context, r llm.Request) (llm.Draft, error) {
	model, err := c.current(ctx)
	if err != nil {
		return llm.Draft{}, err
	}
	return model.Compose(ctx, r)
}

// embedder is an embed.Engine with such a key.
type embedder struct {
	*keyed[embed.Engine]
	is embed.Model
}

// Model implements embed.Engine.
func (e embedder) Model() embed.Model { return e.is }

// Embed implements embed.Engine.
func (e embedder) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	engine, err := e.current(ctx)
	if err != nil {
		return nil, err
	}
	return engine.Embed(ctx, texts, purpose)
}

// current returns the model, with a key read within keyAge. If the key cannot be read
// again, the old one is used.
func (k *keyed[M]) current(ctx context.Context) (M, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.opened && k.now().Sub(k.read) < keyAge {
		return k.model, nil
	}
	key, err := k.secret(ctx)
	if err != nil {
		if k.opened {
			return k.model, nil
		}
		return k.model, fmt.Errorf("read the key of the model's server: %w", err)
	}
	k.read = k.now()
	key = strings.TrimSpace(key)   // it may have been set from a file that ends with a line break
	if !k.opened || key != k.key { // an unchanged key keeps the model, which has learned about its server
		model, err := k.open(key)
		if err != nil {
			return k.model, err
		}
		k.model, k.opened, k.key = model, true, key
	}
	return k.model, nil
}
