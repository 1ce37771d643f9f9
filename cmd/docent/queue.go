package main

import (
	"context"
	"strings"

	"docent/shared/app/parts/operator"
)

type queueRedriveCmd struct {
	Queue     string `arg:"" enum:"questions,documents,extractions,syncs,rebuilds,embeddings,deliveries" help:"The queue: questions, documents, extractions, syncs, rebuilds, embeddings or deliveries."`
	Stack     string `placeholder:"NAME" without:"docent" help:"The stack (default docent)."`
	PerSecond int32  `name:"per-second" placeholder:"N" help:"Move at most N messages per second, 1 to 500 (default: as fast as AWS can)."`
}

// Help is the long help of docent queue redrive.
func (c *queueRedriveCmd) Help() string {
	return `After a worker has failed a message five times, the message becomes a dead letter of its queue. When the cause is fixed, this command makes AWS move the dead letters back, so that they are tried again. It is safe to repeat: finished work is not repeated.

It uses the region and credentials of the AWS command line.

Examples:

    docent queue redrive questions
    docent queue redrive documents --stack docent-beta --per-second 10`
}

// Run starts the move.
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
		return printf(con.out, "There are no dead letters in the %s queue.\n", c.Queue)
	}
	return printf(con.out, "About %d messages are moving back to the %s queue.\n", messages, c.Queue)
}
