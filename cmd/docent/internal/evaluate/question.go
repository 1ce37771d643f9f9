// Package evaluate measures how well a server finds documents and answers questions whose answers are known.
package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a file of questions.
const (
	maxLine     = 1 << 20
	maxQuestion = 10_000 // characters, the server's own
)

// Question is one line of a file.
type Question struct {
	Text     string
	Expected []string // the URIs of the documents that answer it, distinct, at least one
	Gold     []string // texts of which an answer contains one; empty: not judged
	Line     int
}

// texts is a JSON string or a list of strings.
type texts []string

// UnmarshalJSON reads either form.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// Read returns the questions of a file: one JSON object per line with question, expected and optionally answer.
// Empty lines are skipped. An error names the line.
func Read(file io.Reader) ([]Question, error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	var all []Question
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		q, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		q.Line = n
		all = append(all, q)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: is longer than 1 MiB", n+1)
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, errors.New("there are no questions in it")
	}
	return all, nil
}

func parse(line []byte) (Question, error) {
	var in struct {
		Question *string `json:"question"`
		Expected texts   `json:"expected"`
		Answer   texts   `json:"answer"`
	}
	if !utf8.Valid(line) {
		return Question{}, errors.New("is not UTF-8")
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(line, &in); {
	case errors.As(err, &wrong) && wrong.Field == "":
		return Question{}, errors.New("must be an object, with expected and answer as a text or a list of texts")
	case errors.As(err, &wrong):
		return Question{}, fmt.Errorf("%s is of the wrong type: question is a text, expected and answer are a text or a list of texts", wrong.Field)
	case err != nil:
		return Question{}, fmt.Errorf("is not JSON: %w", err)
	}
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	switch {
	case in.Question == nil:
		return Question{}, errors.New("question is missing")
	case empty(*in.Question):
		return Question{}, errors.New("question is empty")
	case utf8.RuneCountInString(*in.Question) > maxQuestion:
		return Question{}, fmt.Errorf("question is longer than %d characters", maxQuestion)
	case len(in.Expected) == 0:
		return Question{}, errors.New("expected is missing: name the URI of each document that answers the question")
	case slices.ContainsFunc(in.Expected, empty):
		return Question{}, errors.New("expected has an empty URI")
	case slices.ContainsFunc(in.Answer, empty):
		return Question{}, errors.New("answer has an empty text")
	}
	q := Question{Text: *in.Question, Gold: in.Answer}
	for _, uri := range in.Expected {
		if !slices.Contains(q.Expected, uri) {
			q.Expected = append(q.Expected, uri)
		}
	}
	return q, nil
}
