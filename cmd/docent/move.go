package main

import (
	"context"
	"fmt"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/operator"
	"docent/shared/moving"
)

// moveFlags name the two homes of a move.
type moveFlags struct {
	dataFlags
	Stack  string `placeholder:"NAME" without:"docent" help:"The stack (default docent)."`
	Finish bool   `help:"The last run, when nothing writes to the original any more: copy the rest, compare everything, and bring the copy to life."`
	JSON   bool   `name:"json" help:"Print JSON with the numbers of items and objects."`
}

// run moves, and prints the result.
func (f moveFlags) run(ctx context.Context, con *console, move func(context.Context, string, app.MoveOptions) (moving.Report, error)) error {
	stack, err := operator.Open(ctx, stackName(f.Stack))
	if err != nil {
		return err
	}
	o, err := stack.Move()
	if err != nil {
		return err
	}
	o.Finish, o.Tell = f.Finish, moveProgress(con)
	report, err := move(ctx, f.Data, o)
	if err != nil {
		return ofData(err, f.Data)
	}
	if f.JSON {
		return printJSON(con.out, report)
	}
	next := "Run it again to copy what has changed, and at last with --finish.\n"
	if f.Finish {
		next = "Counts and digests agree. The copy is alive.\n"
	}
	return printf(con.out, "%d items and %d objects: %d copied, %d removed. %s", report.Items, report.Objects, report.Copied, report.Removed, next)
}

// moveEvery is how often the progress of a move is printed.
const moveEvery = 5 * time.Second

func moveProgress(con *console) func(moving.Progress) {
	last := con.now()
	return func(p moving.Progress) {
		if now := con.now(); now.Sub(last) >= moveEvery {
			last = now
			// A line that cannot be written must not stop the run.
			_, _ = fmt.Fprintf(con.err, "%s: %d compared, %d copied\n", p.Stage, p.Looked, p.Copied)
		}
	}
}

const moveHelp = `Everything is copied: teams, users, groups, keys, collections, documents, sources, answers, usage, the feed of security events, webhooks, the search index, and pending work. Nobody gets a new key, and cursors continue. Secrets are encrypted for the new home on the way and never written in clear. It uses the region and credentials of the AWS command line. They must allow reading and writing the stack's tables and bucket, and using its key.

The original may serve while it is copied. An interrupted run is repeated; each run copies only what is missing or has changed. Until the run with --finish, the copy serves nobody and does no work. That run compares all counts and digests, and fails if something still writes to the original.`

type exportCmd struct{ moveFlags }

// Help is the long help of docent export.
func (c *exportCmd) Help() string {
	return `Copies an installation on AWS into a data folder, which is empty at first, for docent serve. ` + moveHelp + `

Before the run with --finish, stop all writes: infra/README.md says how.

Examples:

    docent export --stack docent --data ./home
    docent export --stack docent --data ./home --finish
    docent serve --data ./home`
}

// Run exports.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, app.Export)
}

type importCmd struct{ moveFlags }

// Help is the long help of docent import.
func (c *importCmd) Help() string {
	return `Copies a data folder into an installation on AWS that has no teams yet. ` + moveHelp + `

Before the run with --finish, stop docent serve. Afterwards the folder is not opened any more, because what happens on AWS is not in it. For items of a data source, see docent source import.

Examples:

    docent import --stack docent --data /var/lib/docent
    docent import --stack docent --data /var/lib/docent --finish`
}

// Run imports.
func (c *importCmd) Run(ctx context.Context, con *console) error {
	if err := c.exists(); err != nil {
		return err
	}
	return c.run(ctx, con, app.Import)
}
