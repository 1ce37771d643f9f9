package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rogpeppe/go-internal/testscript"
)

// keys creates a key of each team for a script, TEAM and RIVAL, and revokes them when the script ends.
func (p *player) keys(env *testscript.Env) error {
	for name, admin := range map[string]string{"TEAM": p.target.Admin, "RIVAL": p.target.Rival} {
		var made struct{ ID, Secret string }
		body := []byte(`{"kind":"team","name":"script ` + env.Getenv("RUN") + `"}`)
		if err := p.call("POST", "/api-keys", admin, body, http.StatusCreated, &made); err != nil {
			return fmt.Errorf("make a team key: %w", err)
		}
		env.Setenv(name, made.Secret)
		env.Defer(func() {
			_ = p.call("DELETE", "/api-keys/"+made.ID, admin, nil, http.StatusNoContent, nil) // scripts may have broken it
		})
	}
	return nil
}

// call sends one request outside of a script.
func (p *player) call(method, path, key string, body []byte, status int, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.target.At+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return err
	}
	if response.StatusCode != status {
		return fmt.Errorf("%s %s: %d %.200s", method, path, response.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New("the reply is not JSON")
	}
	return nil
}
