// Command infra writes the AWS stack of Docent as a CloudFormation template with
// its assets: a cloud assembly, which the CDK command line deploys. It asks AWS
// nothing and needs Node, in which the CDK's library runs.
//
//	infra [-o FOLDER] [-last FILE] [-c KEY=VALUE]...
//
// README.md in this folder lists the values of -c. The file has the values of the last deployment, as JSON; one that is not
// given again is kept.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run writes the assembly.
func run(args []string) error {
	given := map[string]string{}
	flags := flag.NewFlagSet("infra", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	folder := flags.String("o", "cdk.out", "where the assembly is written")
	last := flags.String("last", "", "a file with the values of the last deployment")
	flags.Func("c", "a value of the stack, KEY=VALUE", func(pair string) error {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return errors.New("it is not KEY=VALUE")
		}
		given[key] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not an argument", flags.Arg(0))
	}
	if *last != "" {
		text, err := os.ReadFile(*last)
		if err != nil {
			return fmt.Errorf("read the values of the last deployment: %w", err)
		}
		kept := map[string]string{}
		if err := json.Unmarshal(text, &kept); err != nil {
			return fmt.Errorf("read the values of the last deployment in %s: %w", *last, err)
		}
		given = remembered(given, kept)
	}
	s, err := parse(given)
	if err != nil {
		return err
	}
	if errs := s.checkRegion(cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))); errs != nil {
		return errors.Join(errs...)
	}
	if s.told() == nobody && s.local == "" {
		fmt.Fprintln(os.Stderr, "infra: alarms are sent to nobody; set -c alarmsEmail=ops@example.com or -c alarmsTopic=ARN")
	}
	if err := s.built(); err != nil {
		return err
	}
	if err := findNode(context.Background()); err != nil {
		return err
	}
	out, err := filepath.Abs(*folder)
	if err != nil {
		return err
	}
	defer jsii.Close()
	newStack(newApp(out), s).app.Synth(nil)
	fmt.Println(filepath.Join(out, templateFile))
	return nil
}

// newApp returns an application that is written to the folder out.
func newApp(out string) awscdk.App {
	return awscdk.NewApp(&awscdk.AppProps{
		Outdir:             jsii.String(out),
		AnalyticsReporting: jsii.Bool(false),
		TreeMetadata:       jsii.Bool(false), // 400 KB for a viewer that is not used
	})
}
