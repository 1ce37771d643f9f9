package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"docent/shared/search"
)

// sourceTypes are the types of the items of a space.
var sourceTypes = map[search.Space]string{search.Code: "code", search.PRs: "pull_request", search.Issues: "issue",
	search.Documentation: "documentation", search.Messages: "message"}

// writeSets writes sets below folder in the forms of docent source import and docent eval. Gold answers are written for
// the questions that have some.
func writeSets(folder, only string, all []*set) error {
	for _, s := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		dir := filepath.Join(folder, s.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		items, questions, err := s.lines()
		if err != nil {
			return fmt.Errorf("write %s: %w", s.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "items.jsonl"), items, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "questions.jsonl"), questions, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// address is the URI of a document of the set.
func (s *set) address(id string) string { return "https://docs.example/" + s.name + "/" + id }

// lines returns the documents and the questions of s.
func (s *set) lines() (items, questions []byte, err error) {
	var documents, asked bytes.Buffer
	out := json.NewEncoder(&documents)
	for _, d := range s.docs {
		title := d.Title
		if title == "" {
			title = "-" // not a word
		}
		if err := out.Encode(map[string]string{"uri": s.address(s.idOf[d.ID]), "title": title, "body": d.Body, "sourceType": sourceTypes[s.space]}); err != nil {
			return nil, nil, err
		}
	}
	answers := map[string][]string{}
	for _, g := range s.answers {
		answers[g.ID] = g.Answers
	}
	out = json.NewEncoder(&asked)
	for _, q := range s.queries {
		relevant := slices.Sorted(maps.Keys(s.relevant[q.ID]))
		if len(relevant) == 0 {
			continue
		}
		for i, id := range relevant {
			relevant[i] = s.address(id)
		}
		line := map[string]any{"question": q.Text, "expected": relevant}
		if gold := answers[q.ID]; len(gold) > 0 {
			line["answer"] = gold
		}
		if err := out.Encode(line); err != nil {
			return nil, nil, err
		}
	}
	return documents.Bytes(), asked.Bytes(), nil
}
