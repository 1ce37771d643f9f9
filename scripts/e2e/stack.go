package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"docent/testkit/ministack"
	"docent/testkit/serving"
)

// templateFile and stackName are the names that make synth gives.
const (
	templateFile = "Docent.template.json"
	stackName    = "docent"
	isSealed     = "DOCENT_SECRETS_KEY" // set if functions have a key
)

// deployed deploys the template in the folder assembly to its own local AWS, creates the teams with the command
// line, and puts a proxy between the functions and AWS. stop ends all of it.
func deployed(ctx context.Context, program, assembly, folder string, out io.Writer) (h Target, stop func() error, err error) {
	template, err := os.ReadFile(filepath.Join(assembly, templateFile))
	if err != nil {
		return h, nil, fmt.Errorf("there is no template in %s: run make e2e", assembly)
	}
	log, err := os.Create(filepath.Join(folder, "ministack.log"))
	if err != nil {
		return h, nil, err
	}
	t, err := newFaultProxy(ctx)
	if err != nil {
		return h, nil, errors.Join(err, log.Close())
	}
	server, err := ministack.Start(ctx, ".", t.URL, log)
	if err != nil {
		return h, nil, errors.Join(err, t.Close(), log.Close())
	}
	stop = func() error { return errors.Join(server.Stop(), t.Close(), log.Close()) }
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	if err := t.forwardTo(server.Endpoint); err != nil {
		return h, stop, err
	}
	outputs, changes, err := server.Deploy(ctx, assembly, templateFile, stackName)
	if err != nil {
		return h, stop, err
	}
	h = Target{Name: "stack", Base: outputs["BaseURL"], Fault: t.fault, Refusals: t.refusals,
		Unsealed: !bytes.Contains(template, []byte(isSealed))}
	for name, key := range map[string]*string{ours: &h.Admin, theirs: &h.Rival} {
		environment := append(server.Environment(), "PATH="+os.Getenv("PATH"))
		made, err := serving.NewTeamIn(ctx, environment, program, name, "--aws", "--stack", stackName)
		if err != nil {
			return h, stop, err
		}
		*key = made.AdminKey
	}
	base, err := url.Parse(h.Base)
	if err != nil {
		return h, stop, fmt.Errorf("base URL of the stack: %w", err)
	}
	api, _, _ := strings.Cut(base.Host, ".")
	h.At = server.Endpoint + "/_aws/execute-api/" + api + base.Path
	fmt.Fprintf(out, "%s: the template on MiniStack %s, which checks each call against the policy of its function; %s stands for %s\n",
		h.Name, server.Version(), h.At, h.Base)
	for _, line := range changes {
		fmt.Fprintf(out, "%s: changed for it: %s\n", h.Name, line)
	}
	return h, stop, nil
}
