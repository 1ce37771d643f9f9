package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"docent/client"
	"docent/cmd/docent/internal/evaluate"
)

type evalCmd struct {
	File string `arg:"" type:"existingfile" help:"JSON Lines of questions; - reads them from standard input."`
	serverFlags
	Collection  string `placeholder:"ID" without:"everything that the key may read" help:"Use only this collection, and check that it contains the expected documents."`
	SearchAlone bool   `help:"Measure the search alone, without answers."`
	Parallel    int    `default:"4" placeholder:"N" help:"Questions at the same time, 1 to 32 (default ${default})."`
	Compare     string `type:"existingfile" placeholder:"FILE" without:"no comparison" help:"Show the differences from an earlier report that --json wrote; - reads it from standard input."`
	JSON        bool   `name:"json" help:"Print the report as a JSON object, with the result of every question."`
}

// Help is the long help of docent eval.
func (c *evalCmd) Help() string {
	return `Measures a running server on questions whose answers you know. Each line of the file has a question, expected (the URI of the document that answers it, or a list of URIs) and optionally answer (a text that a right answer contains, or a list of which it contains one):

    {"question": "How long are logs kept?", "expected": "https://wiki.example/logs", "answer": "30 days"}

recall@k is the share of the expected documents among the k best, nDCG@10 weighs them by rank, answered is the share of questions with an answer that has sources, and gold in answer the share of those with an answer text whose answer contains it. Answers are those of docent research: they are not kept, and not counted against the questions of the day.

Examples:

    docent eval questions.jsonl
    docent eval --json questions.jsonl > before.json
    docent eval --compare before.json questions.jsonl`
}

// Validate checks what the types of the flags cannot.
func (c *evalCmd) Validate() error {
	if c.Parallel < 1 || c.Parallel > 32 {
		return errors.New("--parallel must be 1 to 32")
	}
	if c.File == "-" && c.Compare == "-" {
		return errors.New("<file> and --compare cannot both be standard input")
	}
	return nil
}

// Run asks the questions and prints the report.
func (c *evalCmd) Run(ctx context.Context, con *console) error {
	questions, err := readFile(ctx, c.File, evaluate.Read)
	if err != nil {
		return err
	}
	var before evaluate.Report
	if c.Compare != "" {
		if before, err = readFile(ctx, c.Compare, evaluate.ReadReport); err != nil {
			return err
		}
	}
	api, err := c.client(con)
	if err != nil {
		return err
	}
	now, err := evaluate.Run(ctx, api, questions, evaluate.Options{Collection: c.Collection, SearchAlone: c.SearchAlone, Parallel: c.Parallel, Now: con.now})
	if err != nil {
		return err
	}
	var changes map[string]evaluate.Change
	paired := 0
	if c.Compare != "" {
		if changes, paired = evaluate.Compare(before, now); paired == 0 {
			return fmt.Errorf("the report %s has none of these questions", c.Compare)
		}
	}
	if c.JSON {
		return printJSON(con.out, struct {
			evaluate.Report
			Compared int                        `json:"compared,omitempty"` // questions
			Changes  map[string]evaluate.Change `json:"changes,omitempty"`
		}{now, paired, changes})
	}
	if err := printReport(con, now); err != nil || c.Compare == "" {
		return err
	}
	return printChanges(con, changes, paired)
}

// readFile reads a file, or standard input if the name is -, with read, and adds its name to an error.
func readFile[T any](ctx context.Context, name string, read func(io.Reader) (T, error)) (T, error) {
	var from io.Reader
	if name == "-" {
		name, from = "standard input", standardInput(ctx)
	} else {
		f, err := os.Open(name)
		if err != nil {
			var none T
			return none, err
		}
		defer func() { _ = f.Close() }() // it was only read
		from = f
	}
	out, err := read(from)
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// slowestShown is how many slow questions a report shows.
const slowestShown = 5

func printReport(con *console, r evaluate.Report) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	if err := printf(w, "questions\t%d\n", r.Questions); err != nil {
		return err
	}
	for _, metric := range evaluate.Metrics() {
		if v, ok := r.Metrics[metric]; ok {
			if err := printf(w, "%s\t%.4f\n", metric, v); err != nil {
				return err
			}
		}
	}
	if err := printf(w, "\nslowest\tsearch\tanswer\n"); err != nil {
		return err
	}
	for _, q := range r.Slowest(slowestShown) {
		if err := printf(w, "%.60s\t%d ms\t%d ms\n", client.Printable(q.Question), q.SearchMS, q.AnswerMS); err != nil {
			return err
		}
	}
	return w.Flush()
}

func printChanges(con *console, changes map[string]evaluate.Change, paired int) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	if err := printf(w, "\n%d questions in both\tbefore\tnow\tdifference\tbetter\tworse\n", paired); err != nil {
		return err
	}
	for _, metric := range evaluate.Metrics() {
		if c, ok := changes[metric]; ok {
			if err := printf(w, "%s\t%.4f\t%.4f\t%+.4f\t%d\t%d\n", metric, c.Before, c.Now, c.Difference, c.Better, c.Worse); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
