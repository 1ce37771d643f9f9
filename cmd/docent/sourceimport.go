package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"docent/client"
	"docent/cmd/docent/internal/put"
	"docent/shared/connect/slack"
	"docent/shared/source"
)

type sourceImportCmd struct {
	ID   string `arg:"" help:"The data source."`
	File string `arg:"" type:"existingfile" help:"A .zip file of a Slack export, or JSON Lines; - reads JSON Lines from standard input."`
	serverFlags
}

// Help is the long help of docent source import.
func (c *sourceImportCmd) Help() string {
	return `JSON Lines has one item per line: uri, title, body and sourceType (code, pull_request, issue, documentation or message), and optionally author, assignees, project, number, state, labels, createdAt, updatedAt, closedAt, mergedAt and metadata. From a Slack export, the messages of public channels are imported.

Requires a team admin's personal key. Importing again changes only items that are newer. The exit status is 1 if an item was rejected.

Examples:

    docent source import $SOURCE issues.jsonl
    gunzip -c issues.jsonl.gz | docent source import $SOURCE -
    docent source import $SOURCE "Acme Slack export.zip"`
}

// Bounds of one import, below the server's.
const (
	importLines = 500
	importBytes = 4 << 20
	maxLine     = 10 << 20
)

// batch is the part of an import that is sent at once.
type batch struct {
	lines [][]byte
	done  int // of total, in the unit of the file
	total int // 0: unknown, as of standard input
}

// Run imports.
func (c *sourceImportCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	if c.File == "-" {
		return c.send(ctx, con, api, lines(standardInput(ctx), 0), "bytes", "line")
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	batches, unit, each := lines(f, info.Size()), "bytes", "line"
	if strings.EqualFold(filepath.Ext(c.File), ".zip") {
		archive, err := slack.Open(f, info.Size())
		if err != nil {
			return err
		}
		batches, unit, each = messages(archive), "days", "item"
	}
	return c.send(ctx, con, api, batches, unit, each)
}

// send imports one batch after the other and reports progress in unit. A rejected item is named by each, such as "line", and its number.
func (c *sourceImportCmd) send(ctx context.Context, con *console, api *client.Client, batches iter.Seq2[batch, error], unit, each string) error {
	tell, end := put.Lines(con.err, con.now, unit), func() {}
	if isTerminal(con.err) {
		tell, end = put.Bar(con.err, "import", unit)
	}
	accepted, rejected, before := 0, 0, 0
	var failed error
	for b, err := range batches {
		if ctx.Err() != nil {
			failed = ctx.Err()
			break
		}
		if err != nil {
			_, _ = fmt.Fprintf(con.err, "docent: %s\n", client.Printable(err.Error()))
			rejected++ // counts as one: the number of its items is unknown
			if errors.Is(err, slack.ErrBomb) {
				break
			}
			continue
		}
		done, err := api.Import(ctx, c.ID, bytes.Join(b.lines, []byte("\n")))
		if err != nil {
			failed = err
			break
		}
		accepted, rejected = accepted+done.Accepted, rejected+done.Rejected
		for _, e := range done.Errors {
			_, _ = fmt.Fprintf(con.err, "docent: %s %d: %s\n", each, before+e.Line, client.Printable(e.Detail))
		}
		before += len(b.lines)
		if b.total > 0 {
			tell(b.done, rejected, b.total)
		}
	}
	end()
	if failed != nil && accepted+rejected == 0 {
		return failed
	}
	if err := printf(con.out, "%d accepted, %d rejected\n", accepted, rejected); err != nil {
		return err
	}
	if failed == nil && rejected > 0 {
		return errReported
	}
	return failed
}

// lines returns the lines of a file in batches; done counts bytes.
func lines(r io.Reader, size int64) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		b, read, held, number := batch{total: int(size)}, 0, 0, 0
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			number++
			read += len(scan.Bytes()) + 1
			line := bytes.Clone(scan.Bytes())
			if number == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff")) // programs of Windows begin a file with it
			}
			if len(b.lines) == importLines || held > 0 && held+len(line) > importBytes {
				if !yield(b, nil) {
					return
				}
				b.lines, held = nil, 0
			}
			b.lines, b.done, held = append(b.lines, line), min(read, int(size)), held+len(line)
		}
		if len(b.lines) > 0 && !yield(b, nil) {
			return
		}
		err := scan.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d MB; an item is one line", maxLine>>20)
		}
		if err != nil {
			yield(b, fmt.Errorf("read line %d of the file: %w", number+1, err))
		}
	}
}

// messages returns the messages of an archive in batches; done counts days.
func messages(a *slack.Archive) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		b := batch{total: a.Days()}
		for items, err := range a.Items() {
			b.done++
			if err != nil {
				if !yield(b, err) {
					return
				}
				continue
			}
			if !b.add(items, yield) {
				return
			}
		}
		if len(b.lines) > 0 {
			yield(b, nil)
		}
	}
}

// add adds items and yields the batch whenever it is full. It returns false if yield did, or if an item cannot be
// written as a line.
func (b *batch) add(items []source.Item, yield func(batch, error) bool) bool {
	for _, i := range items {
		line, err := i.Line()
		if err != nil {
			yield(*b, err)
			return false
		}
		if b.lines = append(b.lines, line); len(b.lines) == importLines {
			if !yield(*b, nil) {
				return false
			}
			b.lines = nil
		}
	}
	return true
}
