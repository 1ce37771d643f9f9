package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

//go:embed questions.jsonl
var questions []byte

// question is one whose answer is on known pages of a PDF.
type question struct {
	Question string `json:"question"`
	File     string `json:"file"`  // name of a PDF of files.txt
	Pages    []int  `json:"pages"` // from 1; the answer is on each of them, or goes from one to the next
}

// parseQuestions reads JSON Lines. Each question is asked once and names pages that its file has.
func parseQuestions(lines io.Reader, files []file) ([]question, error) {
	pages := map[string]int{}
	for _, f := range files {
		if f.Pages > 0 {
			pages[f.name()] = f.Pages
		}
	}
	var all []question
	seen := map[string]bool{}
	in := bufio.NewScanner(lines)
	for n := 1; in.Scan(); n++ {
		q, err := parseQuestion(in.Bytes(), pages)
		if key := strings.ToLower(q.Question); err == nil && seen[key] {
			err = errors.New("this question was asked before")
		} else {
			seen[key] = true
		}
		if err != nil {
			return nil, fmt.Errorf("questions, line %d: %w", n, err)
		}
		all = append(all, q)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("questions: %w", err)
	}
	return all, nil
}

func parseQuestion(line []byte, pages map[string]int) (question, error) {
	var q question
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return q, errors.New("more than one object")
	}
	if strings.TrimSpace(q.Question) != q.Question || q.Question == "" {
		return q, errors.New("the question is empty or begins or ends with a blank")
	}
	last, known := pages[q.File]
	if !known {
		return q, fmt.Errorf("%q is not a PDF of files.txt", q.File)
	}
	if len(q.Pages) == 0 {
		return q, errors.New("no page is named")
	}
	before := 0
	for _, p := range q.Pages {
		if p < 1 || p > last {
			return q, fmt.Errorf("page %d: %s has pages 1 to %d", p, q.File, last)
		}
		if p <= before {
			return q, fmt.Errorf("page %d is named twice or after a later one", p)
		}
		before = p
	}
	return q, nil
}
