package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// toolkit is the stack with which an account is bootstrapped for the CDK.
const toolkit = "CDKToolkit"

// nobody is the output AlarmsTold of a stack whose alarms only show in AWS.
const nobody = "nobody"

// stackName reads the name of the stack from the assembly, and the region of the stack with the copies, or "" without one.
func stackName(assembly string) (name, backupRegion string, err error) {
	text, err := os.ReadFile(filepath.Join(assembly, "manifest.json"))
	if err != nil {
		return "", "", fmt.Errorf("there is no stack in %s: run make synth", assembly)
	}
	var manifest struct {
		Artifacts map[string]struct {
			Type        string
			Environment string
			Properties  struct{ StackName string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return "", "", fmt.Errorf("read %s: %w", assembly, err)
	}
	name = manifest.Artifacts[constructID].Properties.StackName
	if name == "" {
		return "", "", fmt.Errorf("there is no stack in %s: run make synth", assembly)
	}
	environment := manifest.Artifacts[backupsID].Environment // aws://ACCOUNT/REGION
	return name, environment[strings.LastIndexByte(environment, '/')+1:], nil
}

// The stacks in the assembly; see infra.
const (
	constructID = "Docent"
	backupsID   = "DocentBackups"
)

// deploy checks whether the stack can be deployed, lets the CDK deploy it, and prints its URL.
func (a *account) deploy(ctx context.Context, name, backupRegion, assembly, cdk string, out io.Writer) error {
	if backupRegion == a.region {
		return fmt.Errorf("backupRegion=%s is the region of the stack: choose another one", backupRegion)
	}
	there, err := a.stack(ctx, name)
	if err != nil {
		return err
	}
	if there != nil {
		if err := a.usable(there); err != nil {
			return err
		}
	}
	bootstrapped, err := a.stack(ctx, toolkit)
	if err != nil {
		return err
	}
	if bootstrapped == nil {
		return fmt.Errorf("the region %s of the account %s is not prepared for the CDK: run make bootstrap",
			a.region, a.id)
	}
	fmt.Fprintf(out, "Deploying %s to %s in the account %s.\n", name, a.region, a.id)
	if backupRegion != "" {
		fmt.Fprintf(out, "Copies of the data go to %s.\n", backupRegion)
	}
	if err := a.warnOfConcurrency(ctx, assembly, out); err != nil {
		return err
	}
	program := exec.CommandContext(ctx, cdk, "deploy", "--app", assembly, "--all", "--require-approval", "never", "--no-notices")
	program.Env = append(os.Environ(), "CDK_DISABLE_CLI_TELEMETRY=true")
	program.Stdout, program.Stderr = out, os.Stderr
	if err := program.Run(); err != nil {
		return fmt.Errorf("cdk deploy: %w", err)
	}
	if there, err = a.stack(ctx, name); err != nil {
		return err
	}
	if there == nil {
		return fmt.Errorf("the stack %s is not there", name)
	}
	base := output(there, "BaseURL")
	if base == "" {
		return errors.New("the stack has no output BaseURL")
	}
	fmt.Fprintf(out, "\nThe API is at %s\nNext, the first team and its admin's key, which is shown once:\n\n"+
		"  AWS_REGION=%s bin/docent team create --aws --stack %s --name Acme --admin ada@acme.example\n", base, a.region, name)
	if output(there, "AlarmsTold") == nobody {
		fmt.Fprint(out, "\nAlarms are sent to nobody: run make deploy CONTEXT='-c alarmsEmail=ops@example.com' or '-c alarmsTopic=ARN'.\n")
	}
	return nil
}
