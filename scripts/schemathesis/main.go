// Command schemathesis runs Schemathesis against docent serve: every operation of openapi.yaml with generated
// requests, good and bad, with each kind of key. The kinds run in parallel, each on its own temporary folder. It
// fails if there is a failure that schemathesis.toml does not explain.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"docent/testkit/serving"
)

// personalKeys is how many keys are used in turn: each may be used 1,000 times per day.
const personalKeys = 60

type options struct {
	docent, st, kinds string
	limit             time.Duration
	rest              []string // further arguments of Schemathesis
}

func main() {
	var o options
	flag.StringVar(&o.docent, "docent", "bin/docent", "the program")
	flag.StringVar(&o.st, "st", ".cache/schemathesis/bin/st", "Schemathesis")
	flag.StringVar(&o.kinds, "kinds", "personal,team,scim", "kinds of keys")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "how long a run may take")
	flag.Parse()
	o.rest = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed []string
	for kind := range strings.SplitSeq(o.kinds, ",") {
		all.Go(func() {
			var said bytes.Buffer
			began := time.Now()
			err := o.run(ctx, kind, &said)
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf("%s\nschemathesis: %s key: %v after %s\n\n", &said, kind, outcome(err), time.Since(began).Round(time.Second))
			if err != nil {
				failed = append(failed, kind)
			}
		})
	}
	all.Wait()
	if failed != nil {
		fmt.Fprintln(os.Stderr, "schemathesis: failed with the keys:", strings.Join(failed, ", "))
		os.Exit(1)
	}
}

func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "nothing unexplained"
}

// run tests with the keys of one kind and writes Schemathesis's output to out.
func (o options) run(ctx context.Context, kind string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "docent-schemathesis-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := start(ctx, o.docent, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	keys, err := s.prepare(ctx, kind)
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	here := filepath.Join(root, "scripts", "schemathesis")
	program, err := filepath.Abs(o.st)
	if err != nil {
		return err
	}
	args := append([]string{"--config-file", filepath.Join(here, "schemathesis.toml"), "--no-color", "run", filepath.Join(root, "openapi.yaml"), "--url", s.Base}, o.rest...)
	st := exec.CommandContext(ctx, program, args...)
	st.Dir = dir // it stores what it found in a folder there
	st.Env = append(os.Environ(), "DOCENT_KEYS="+strings.Join(keys, ","), "SCHEMATHESIS_HOOKS=keys", "PYTHONPATH="+here, "PYTHONDONTWRITEBYTECODE=1")
	st.Stdout, st.Stderr = out, out
	if err := st.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("not ended within %s", o.limit)
		}
		return err
	}
	return nil
}

// server is docent serve with a team.
type server struct {
	*serving.Server
	admin string // the personal key of the team's admin
}

func start(ctx context.Context, docent, data string) (*server, error) {
	made, err := serving.NewTeam(ctx, docent, "Acme", "--data", data)
	if err != nil {
		return nil, err
	}
	s, err := serving.Start(ctx, serving.Options{Program: docent, Data: data})
	return &server{s, made.AdminKey}, err
}

// prepare creates something of every kind for the team, and returns keys of the kind.
func (s *server) prepare(ctx context.Context, kind string) (keys []string, err error) {
	metadata, err := identityProvider()
	if err != nil {
		return nil, err
	}
	if err := s.call(ctx, "PUT", "/team/saml-metadata", "application/samlmetadata+xml", metadata, nil); err != nil {
		return nil, err
	}
	var wiki struct{ ID string }
	if err := s.json(ctx, "POST", "/collections", map[string]any{"name": "wiki", "description": "About animals"}, &wiki); err != nil {
		return nil, err
	}
	for path, body := range map[string]any{
		"PUT /documents": map[string]any{"collectionId": wiki.ID, "title": "Zebras", "body": "A zebra grazes at night.", "uri": "https://wiki.acme.test/zebras"},
		"PUT /answers/0190d2a0-0000-7000-8000-000000000001": map[string]any{"question": "When does a zebra graze?"},
		"POST /data-sources":     map[string]any{"provider": "jira", "name": "tickets"},
		"POST /scim/v2/Users":    map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:User"}, "userName": "bob@acme.test"},
		"POST /scim/v2/Groups":   map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:Group"}, "displayName": "Engineers"},
		"POST /context/research": map[string]any{"query": "zebra"},
	} {
		method, path, _ := strings.Cut(path, " ")
		if err := s.json(ctx, method, path, body, nil); err != nil {
			return nil, err
		}
	}
	var me struct{ User struct{ ID string } }
	if err := s.call(ctx, "GET", "/me", "", nil, &me); err != nil {
		return nil, err
	}
	wanted, count := map[string]any{"kind": kind, "name": "schemathesis"}, 1
	if kind == "personal" {
		wanted["userId"], count = me.User.ID, personalKeys
	}
	for range count {
		var made struct{ Secret string }
		if err := s.json(ctx, "POST", "/api-keys", wanted, &made); err != nil {
			return nil, err
		}
		keys = append(keys, made.Secret)
	}
	return keys, nil
}

func (s *server) json(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.call(ctx, method, path, "application/json", text, into)
}

func (s *server) call(ctx context.Context, method, path, media string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, reply.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(reply.Body).Decode(into)
}
