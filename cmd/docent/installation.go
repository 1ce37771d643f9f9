package main

import (
	"cmp"
	"context"
	"errors"

	"docent/shared/app"
	"docent/shared/app/parts/operator"
	"docent/shared/team"
)

// installationFlags name the installation that a command works on: on this machine or on AWS.
type installationFlags struct {
	dataFlags
	AWS   bool   `name:"aws" help:"Work on an installation on AWS instead. It uses the region and credentials of the AWS command line."`
	Stack string `placeholder:"NAME" without:"docent" help:"Name of its stack (default docent)."`
}

// Validate checks what the types of the flags cannot.
func (f installationFlags) Validate() error {
	if f.Stack != "" && !f.AWS {
		return errors.New("--stack requires --aws")
	}
	return nil
}

// teams runs do on the teams of the installation. A missing data folder is created.
func (f installationFlags) teams(ctx context.Context, do func(*team.Service) error) error {
	if f.AWS {
		return f.deployed(ctx, do)
	}
	return f.with(ctx, func(local *app.Local) error { return do(local.Teams) })
}

// existing is teams for commands that make no sense on an empty folder.
func (f installationFlags) existing(ctx context.Context, do func(*team.Service) error) error {
	if f.AWS {
		return f.deployed(ctx, do)
	}
	return f.withExisting(ctx, func(local *app.Local) error { return do(local.Teams) })
}

func (f installationFlags) deployed(ctx context.Context, do func(*team.Service) error) error {
	stack, err := operator.Open(ctx, stackName(f.Stack))
	if err != nil {
		return err
	}
	return do(stack.Teams)
}

func stackName(given string) string { return cmp.Or(given, operator.DefaultStack) }
