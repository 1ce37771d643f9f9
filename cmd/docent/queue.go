package main

import (
	"context"
	"strings"

	"docent/shared/app/parts/operator"
)

type queueRedriveCmd struct {
	Queue     string `arg:"" enum:"questions,documents,syncs,rebuilds" help:"The queue: questions, documents, syncs or rebuilds."`
	Stack     string `placeholder:"NAME" help:"The stack (default docent)."`
	PerSecond int32  `name:"per-second" placeholder:"N" help:"Move at most so many messages a second, 1 to 500 (default: as fast as AWS will)."`
}

// Help is the long help of docent queue redrive.
func (c *queueRedriveCmd) Help() string {
	return `Messages that a worker has failed five times wait among the dead letters of its queue. Once their cause is mended, this has AWS move them back, so that they are tried again. It is safe to repeat: work that is done already is left alone.

Region and credentials are those of the AWS command line.

Examples:

    docent queue redrive questions
    docent queue redrive documents --stack docent-beta --per-second 10`
}

// Run starts the moving.
func (c *queueRedriveCmd) Run(ctx context.Context, con *console) error {
	stack, err := operator.Open(ctx, stackName(c.Stack))
	if err != nil {
		return err
	}
	messages, err := stack.Redrive(ctx, strings.ToUpper(c.Queue[:1])+c.Queue[1:], c.PerSecond)
	if err != nil {
		return err
	}
	if messages == 0 {
		return printf(con.out, "There are no dead letters of %s.\n", c.Queue)
	}
	return printf(con.out, "About %d messages move back to the queue of %s.\n", messages, c.Queue)
}
