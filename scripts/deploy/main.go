// Command deploy deploys the stack that make synth has written to the account
// and region of the environment, or removes it from there. Before it changes
// anything it checks whether it can, and says in one line what is missing.
//
//	deploy -remember FILE [-c KEY=VALUE]...
//	deploy [-assembly FOLDER]
//	deploy -restore TIME [-c KEY=VALUE]...
//	deploy -continue-feeds MOMENT [-c KEY=VALUE]...
//	deploy -destroy NAME
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"docent/shared/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("deploy", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	assembly := flags.String("assembly", "infra/cdk.out", "what make synth has written")
	cdk := flags.String("cdk", ".cache/cdk/node_modules/.bin/cdk", "the CDK's command line")
	file := flags.String("remember", "", "only write the settings of the deployed stack to this file")
	given := settings{}
	flags.Func("c", "a value of the stack, KEY=VALUE", given.add)
	moment := flags.String("restore", "", "restore the tables of the stack to this moment, such as 2026-11-23T05:00:00Z, into new ones")
	continued := flags.String("continue-feeds", "", "the moment, such as 20261123T050000Z, of tables that were restored by hand and are not in use yet: only let their feeds of security events continue")
	destroy := flags.String("destroy", "", "the stack to remove")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not an argument", flags.Arg(0))
	}
	a, err := open(ctx)
	if err != nil {
		return err
	}
	if *file != "" {
		return a.remember(ctx, given, *file, out)
	}
	if *moment != "" {
		const form = "2006-01-02T15:04:05Z"
		at, err := time.Parse(form, *moment)
		if err != nil || at.Format(form) != *moment { // Parse takes fractions of a second too, which no name of a table has
			return fmt.Errorf("%q is not a moment of UTC, such as 2026-11-23T05:00:00Z", *moment)
		}
		return a.restore(ctx, given, at, time.Now(), out)
	}
	if *continued != "" {
		return a.continueFeeds(ctx, restoredNames(given.stackName(), *continued, table.Names), time.Now(), out)
	}
	if *destroy != "" {
		return a.destroy(ctx, *destroy, out)
	}
	name, backupRegion, err := stackName(*assembly)
	if err != nil {
		return err
	}
	if _, err := os.Stat(*cdk); err != nil {
		return errors.New("the CDK's command line is not installed: run make deploy, which installs it")
	}
	return a.deploy(ctx, name, backupRegion, *assembly, *cdk, out)
}
