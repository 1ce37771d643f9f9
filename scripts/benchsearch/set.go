package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"docent/shared/search"
)

// set is one test collection: corpus.jsonl, queries.jsonl and qrels.tsv, optionally qa.jsonl with gold answers and
// groups.tsv with groups of documents. Each may be compressed, with the suffix ".gz".
type set struct {
	name     string
	space    search.Space
	docs     []search.Document
	idOf     map[uuid.UUID]string // of a document, in the set's files
	queries  []query
	relevant map[string]map[string]bool // by question
	answers  []gold
	group    map[string]string // by document
}

type query struct{ ID, Text string }

type gold struct {
	ID, Text, Doc string
	Answers       []string
	Impossible    bool
}

// sets returns the sets below folder; spaces gives the space of those that are not documentation.
func sets(folder string, spaces map[string]search.Space) ([]*set, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*set
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s, err := readSet(filepath.Join(folder, e.Name()), spaces[e.Name()])
		if errors.Is(err, fs.ErrNotExist) {
			continue // another kind of folder
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Name(), err)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no set in %s", folder)
	}
	return all, nil
}

func readSet(dir string, space search.Space) (*set, error) {
	if space == "" {
		space = search.Documentation
	}
	s := &set{name: filepath.Base(dir), space: space, idOf: map[uuid.UUID]string{}, relevant: map[string]map[string]bool{}, group: map[string]string{}}
	err := errors.Join(
		eachLine(dir, "corpus.jsonl", true, func(line []byte) error {
			var d struct{ ID, Title, Text string }
			if err := json.Unmarshal(line, &d); err != nil {
				return err
			}
			id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(d.ID))
			s.idOf[id] = d.ID
			s.docs = append(s.docs, search.Document{ID: id, Version: 1, Source: s.name, Space: space, Title: d.Title, Body: d.Text})
			return nil
		}),
		eachLine(dir, "queries.jsonl", true, func(line []byte) error {
			var q query
			err := json.Unmarshal(line, &q)
			s.queries = append(s.queries, q)
			return err
		}),
		eachLine(dir, "qrels.tsv", true, func(line []byte) error {
			f := strings.Split(string(line), "\t")
			if len(f) < 2 {
				return fmt.Errorf("judgement %q", line)
			}
			if s.relevant[f[0]] == nil {
				s.relevant[f[0]] = map[string]bool{}
			}
			s.relevant[f[0]][f[1]] = true
			return nil
		}),
		eachLine(dir, "qa.jsonl", false, func(line []byte) error {
			var g gold
			err := json.Unmarshal(line, &g)
			s.answers = append(s.answers, g)
			return err
		}),
		eachLine(dir, "groups.tsv", false, func(line []byte) error {
			doc, group, ok := strings.Cut(string(line), "\t")
			if !ok {
				return fmt.Errorf("group %q", line)
			}
			s.group[doc] = group
			return nil
		}))
	return s, err
}

// eachLine calls f with every line of a file, or of its compressed form with the suffix ".gz".
func eachLine(dir, name string, required bool, f func(line []byte) error) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = readGzip(filepath.Join(dir, name+".gz")); errors.Is(err, fs.ErrNotExist) && !required {
			return nil
		}
	}
	if err != nil {
		return err
	}
	for i, line := range bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n")) {
		if err := f(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, i+1, err)
		}
	}
	return nil
}

func readGzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}
