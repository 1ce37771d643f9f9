// Command deploy deploys the stack that make synth has written to the account
// and region of the environment, or removes it from there. Before it changes
// anything it checks whether it can, and says in one line what is missing.
//
//	deploy -look
//	deploy [-assembly FOLDER]
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
	look := flags.Bool("look", false, "only say which account and region it is")
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
	if *look {
		fmt.Fprintf(out, "The account %s, %s.\n", a.id, a.region)
		return nil
	}
	if *destroy != "" {
		return a.destroy(ctx, *destroy, out)
	}
	name, err := stackName(*assembly)
	if err != nil {
		return err
	}
	if _, err := os.Stat(*cdk); err != nil {
		return errors.New("the CDK's command line is not installed: run make deploy, which installs it")
	}
	return a.deploy(ctx, name, *assembly, *cdk, out)
}
