package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"docent/shared/extract"
	"docent/shared/pause"
	"docent/testkit/serving"
)

// addressOf is the URI of the document that has a file.
func addressOf(file string) string { return "https://files.example/" + file }

// indexTime bounds how long all files are read and indexed.
const indexTime = 20 * time.Minute

// installation is docent serve on data of its own.
type installation struct {
	server  *serving.Server
	key     string
	data    string
	meaning bool
}

// install starts docent serve with a team.
func install(ctx context.Context, program string, meaning bool) (_ *installation, err error) {
	i := &installation{meaning: meaning}
	if i.data, err = os.MkdirTemp("", "benchextract"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close())
		}
	}()
	team, err := serving.NewTeam(ctx, program, "Acme", "--data", i.data)
	if err != nil {
		return nil, fmt.Errorf("make a team (make bin/docent builds the program): %w", err)
	}
	if i.key, err = serving.NewTeamKey(ctx, program, i.data, team.ID, "benchextract"); err != nil {
		return nil, err
	}
	var flags []string
	if !meaning {
		flags = append(flags, "--no-meaning")
	}
	i.server, err = serving.Start(ctx, serving.Options{Program: program, Data: i.data, Flags: flags})
	return i, err
}

func (i *installation) close() error {
	var err error
	if i.server != nil {
		err = i.server.Stop()
	}
	return errors.Join(err, os.RemoveAll(i.data))
}

// put puts files, each titled with its name, and waits until all of them are found.
func (i *installation) put(ctx context.Context, names []string) error {
	var collection struct{ ID string }
	if err := i.call(ctx, http.MethodPost, "/collections", map[string]string{"name": "files", "description": "Public PDF files"}, &collection); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	var ids []string
	for _, name := range names {
		id, err := i.putFile(ctx, collection.ID, name)
		if err != nil {
			return fmt.Errorf("put %s: %w", filepath.Base(name), err)
		}
		ids = append(ids, id)
	}
	for n, id := range ids {
		for {
			done, err := i.found(ctx, id)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(names[n]), err)
			}
			if done {
				break
			}
			if err := pause.For(ctx, time.Second/2); err != nil {
				return fmt.Errorf("%s is not indexed: %w", filepath.Base(names[n]), err)
			}
		}
	}
	return nil
}

func (i *installation) putFile(ctx context.Context, collectionID, name string) (string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	base := filepath.Base(name)
	var put struct{ ID string }
	err = i.call(ctx, http.MethodPut, "/documents", map[string]string{"collectionId": collectionID, "title": base, "uri": addressOf(base),
		"mediaType": extract.PDF, "body": base64.StdEncoding.EncodeToString(content)}, &put)
	return put.ID, err
}

// source is a result of a search.
type source struct{ URL, Content string }

func (i *installation) search(ctx context.Context, question string) ([]source, error) {
	var found struct{ Sources []source }
	err := i.call(ctx, http.MethodPost, "/context/search", map[string]any{"query": question, "limit": asMany}, &found)
	return found.Sources, err
}

// call sends a request, with in as JSON unless it is nil, and decodes the reply.
func (i *installation) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, i.server.Base+path, &body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+i.key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %.300s", method, path, res.Status, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// found reports whether a document is found by its words and, if the installation is to search so, by its meaning.
func (i *installation) found(ctx context.Context, id string) (bool, error) {
	var d struct {
		Indexing struct {
			State, Meaning string
			Error          json.RawMessage
		}
	}
	if err := i.call(ctx, http.MethodGet, "/documents/"+id, nil, &d); err != nil {
		return false, err
	}
	switch {
	case d.Indexing.State == "failed":
		return false, fmt.Errorf("its text cannot be read: %s", d.Indexing.Error)
	case d.Indexing.State != "indexed":
		return false, nil
	case i.meaning && d.Indexing.Meaning == "":
		return false, errors.New("docent serve has no embedding model: run make weights")
	default:
		return !i.meaning || d.Indexing.Meaning == "done", nil
	}
}
