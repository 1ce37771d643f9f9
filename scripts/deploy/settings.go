package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// settings are values of -c, as in infra.
type settings map[string]string

// add reads KEY=VALUE.
func (s settings) add(pair string) error {
	key, value, ok := strings.Cut(pair, "=")
	if !ok {
		return errors.New("it is not KEY=VALUE")
	}
	s[key] = value
	return nil
}

// stackName returns the name of the stack that the values mean.
func (s settings) stackName() string {
	name := s["name"]
	if name == "" {
		name = "docent"
	}
	if s["stage"] != "" {
		name += "-" + s["stage"]
	}
	return name
}

// nothingChosen are the values that name a stack or a restored moment: who gives only these has not said how the stack is to be.
var nothingChosen = []string{"name", "stage", "restored"}

// keptOf returns the settings with which a stack was deployed. A stack of version 0.1 does not say them. Without any given ones, its domain,
// its model and who gets its alarms would be removed, so that is an error.
func keptOf(there *types.Stack, given settings) (settings, error) {
	kept, text := settings{}, output(there, "Settings")
	if text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return nil, fmt.Errorf("read the settings of the stack %s: %w", aws.ToString(there.StackName), err)
		}
		return kept, nil
	}
	for key := range given {
		if !slices.Contains(nothingChosen, key) {
			return kept, nil
		}
	}
	return nil, fmt.Errorf("the stack %s is of a version that does not say with which settings it was deployed, and those that are not given, such as a "+
		"domain, would be removed: give all of them this time, or if all are defaults one of these: CONTEXT='-c logLevel=info', with its name and stage",
		aws.ToString(there.StackName))
}

// remember writes the settings with which the stack was deployed to a file, so that the next deployment keeps those that
// are not given. Without a stack, and for one that an older version deployed, there are none.
func (a *account) remember(ctx context.Context, given settings, file string, out io.Writer) error {
	fmt.Fprintf(out, "The account %s, %s.\n", a.id, a.region)
	there, err := a.stack(ctx, given.stackName())
	if err != nil {
		return err
	}
	kept := settings{}
	if there != nil {
		if err := a.usable(there); err != nil {
			return err
		}
		if kept, err = keptOf(there, given); err != nil {
			return err
		}
		if output(there, "Settings") == "" {
			fmt.Fprintf(out, "The stack %s does not say with which settings it was deployed: those that are not given get their defaults.\n", aws.ToString(there.StackName))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		switch value, ok := given[key]; {
		case !ok:
			fmt.Fprintf(out, "Kept: %s=%s\n", key, kept[key])
		case value != kept[key]:
			fmt.Fprintf(out, "Changed: %s=%s, was %s\n", key, value, kept[key])
		}
	}
	if err := a.fitting(ctx, there, given, kept); err != nil {
		return err
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
