package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"docent/client"
	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/source"
)

// The exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type commands struct {
	Serve   serveCmd   `cmd:"" group:"server" help:"Run the server until it is interrupted."`
	Open    openCmd    `cmd:"" group:"server" help:"Open the dashboard in the browser, signed in."`
	Signin  signinCmd  `cmd:"" group:"server" help:"Print a one-time link that signs in to the dashboard."`
	Backup  backupCmd  `cmd:"" group:"server" help:"Write a backup of the data folder, also while the server runs."`
	Restore restoreCmd `cmd:"" group:"server" help:"Restore a backup into an empty data folder."`
	Openapi openapiCmd `cmd:"" group:"server" help:"Print the OpenAPI document of the API as YAML."`
	Team    struct {
		Create teamCreateCmd `cmd:"" help:"Create a team with its first admin, and print the admin's key."`
		Saml   struct {
			Set    samlSetCmd    `cmd:"" help:"Set the team's SAML identity provider from its metadata."`
			Show   samlShowCmd   `cmd:"" help:"Show the team's SAML identity provider."`
			Remove samlRemoveCmd `cmd:"" help:"Remove the team's SAML identity provider."`
		} `cmd:"" group:"client" help:"The team's SAML identity provider, which SCIM needs."`
	} `cmd:"" group:"data" help:"Teams, in the data folder of this machine or on AWS."`
	Key struct {
		Create keyCreateCmd `cmd:"" help:"Create an API key and print it once."`
		List   keyListCmd   `cmd:"" help:"List a team's API keys."`
		Revoke keyRevokeCmd `cmd:"" help:"Revoke an API key."`
	} `cmd:"" group:"data" help:"API keys, in the data folder of this machine or on AWS."`
	Queue struct {
		Redrive queueRedriveCmd `cmd:"" help:"Move dead-letter messages back to their queue."`
	} `cmd:"" group:"aws" help:"The queues of an installation on AWS."`
	Export exportCmd `cmd:"" group:"aws" help:"Copy an installation on AWS into a data folder."`
	Import importCmd `cmd:"" group:"aws" help:"Copy a data folder into an installation on AWS, also while a server runs on it."`
	Index  struct {
		Check   indexCheckCmd   `cmd:"" help:"Check the search index against the documents, in the data folder of this machine."`
		Status  indexStatusCmd  `cmd:"" help:"Show the segments of the search index and the progress of their rebuilds."`
		Rebuild indexRebuildCmd `cmd:"" help:"Rebuild the search index from the documents."`
	} `cmd:"" group:"data" help:"The search index, in the data folder of this machine or on AWS."`
	Model struct {
		Fetch modelFetchCmd `cmd:"" help:"Download the weights of the embedding model, once."`
		Show  modelShowCmd  `cmd:"" help:"Show the embedding model and check its weights."`
	} `cmd:"" group:"server" help:"The embedding model, which runs in the server's process."`
	Scim struct {
		Setup scimSetupCmd `cmd:"" help:"Create a SCIM key and print what to paste into Okta or Entra ID."`
	} `cmd:"" group:"client" help:"Provisioning of users and groups by an identity provider."`
	Source struct {
		Add    sourceAddCmd    `cmd:"" group:"client" help:"Connect a data source."`
		List   sourceListCmd   `cmd:"" group:"client" help:"List data sources and their sync progress."`
		Import sourceImportCmd `cmd:"" group:"client" help:"Import items from a file: JSON Lines, or the archive of a Slack export."`
		Set    sourceSetCmd    `cmd:"" group:"client" help:"Change a data source: its name, settings and secrets."`
		Pause  sourcePauseCmd  `cmd:"" group:"client" help:"Stop syncing a data source until it is resumed."`
		Resume sourceResumeCmd `cmd:"" group:"client" help:"Sync a paused data source again."`
		Remove sourceRemoveCmd `cmd:"" group:"client" help:"Disconnect a data source and remove its items."`
		Sync   sourceSyncCmd   `cmd:"" group:"data" help:"Read data sources now, in the data folder of this machine."`
	} `cmd:"" group:"client" help:"Data sources: repositories, messages, web pages and imported items."`
	Search   searchCmd   `cmd:"" group:"client" help:"Search collections and data sources."`
	Research researchCmd `cmd:"" group:"client" help:"Answer a question from collections and data sources, with its sources."`
	Get      getCmd      `cmd:"" group:"client" help:"Print the content of URLs."`
	Put      putCmd      `cmd:"" group:"client" help:"Put files and folders of Markdown, text, reStructuredText, HTML, PDF and Office files into a collection."`
	Ask      askCmd      `cmd:"" group:"client" help:"Ask a question and print the answer with its references."`
	Eval     evalCmd     `cmd:"" group:"client" help:"Measure search and answers on questions whose answers are known."`
	Usage    usageCmd    `cmd:"" group:"client" help:"Print a usage report of the team or your user."`
	Events   struct {
		Follow eventsFollowCmd `cmd:"" help:"Print the team's security events as they arrive, one JSON object per line."`
	} `cmd:"" group:"client" help:"The team's security events, for a SIEM."`
	Version versionCmd `cmd:"" group:"server" help:"Print the version, the commit and its date."`
}

// console holds the outputs of a command, its clock, and the connectors of data sources.
type console struct {
	out, err io.Writer
	now      func() time.Time
	connect  app.Connect
	// ask asks the person at the terminal and returns the line typed, which is not shown
	// while it is typed if it is secret; nil: there is no terminal.
	ask func(question string, secret bool) (string, error)
}

// errReported ends a command whose failure its output already describes.
var errReported = errors.New("reported")

// usageError is a mistake in the command line or its environment variables that only the running command finds.
type usageError struct{ error }

// Unwrap returns the mistake.
func (e usageError) Unwrap() error { return e.error }

// run parses args, runs the command until it or ctx ends, and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	done := false // by a flag such as --help
	providers := app.Providers()
	var all commands
	all.Source.Add.setUp(providers)
	all.Source.Set.setUp(providers)
	parser, err := kong.New(&all,
		kong.Name("docent"),
		kong.Description("Docent answers questions from a team's own documents and says where each answer comes from.\n\n"+
			"The exit status is 0 when all was done, 1 when something failed or was stopped, and 2 for a mistake in the command line or its environment variables."),
		kong.Writers(out, errOut),
		kong.NamedMapper("existingfile", kong.MapperFunc(existingFile)),
		kong.Exit(func(int) { done = true }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "server", Title: "The server:"},
			{Key: "data", Title: "Its data (with --data, while no server runs on it; teams, keys and the index also with --aws):"},
			{Key: "aws", Title: "An installation on AWS:"},
			{Key: "client", Title: "Using a server:"},
		}),
		kong.Vars{"server": client.DefaultServer, "configured": providerNames(providers, func(p source.Provider) bool {
			return len(p.Settings) > 0 || p.Webhook != nil
		})},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&console{out: out, err: errOut, now: time.Now, connect: connectors.Public, ask: asker(ctx, errOut)}),
	)
	if err != nil {
		panic(err) // the command tree itself is wrong
	}
	chosen, err := parser.Parse(inOurForm(args))
	if done {
		return exitOK
	}
	if err == nil {
		err = emptyValue(chosen)
	}
	if err != nil {
		_, _ = fmt.Fprintf(errOut, "docent: %s\nRun \"%s --help\" for help.\n", inPlainWords(err), helped(chosen, err))
		return exitUsage
	}
	err = chosen.Run()
	var mistake usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &mistake):
		_, _ = fmt.Fprintf(errOut, "docent: %s\nRun \"%s --help\" for help.\n", err, helped(chosen, err))
		return exitUsage
	case isStopped(ctx, err):
		_, _ = fmt.Fprintln(errOut, "docent: stopped before it was done")
	case !errors.Is(err, errReported):
		_, _ = fmt.Fprintf(errOut, "docent: %s\n", explain(err, time.Now(), chosen.Selected().FullPath()))
	}
	return exitFailed
}

// inOurForm returns args in a form that the parser accepts. It does not know docent alone, docent help COMMAND and docent --version, which
// people also type.
func inOurForm(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(inOurForm(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// parserWords are phrases in which the parser speaks of Go types, with plain ones to replace them.
var parserWords = []struct {
	said  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`expected a valid \d+ bit u?int but got`), "must be a whole number, not"},
	{regexp.MustCompile(`expected duration but got ("[^"]*").*`), "must be a time such as 30s or 5m, not $1"},
	{regexp.MustCompile(`expected "<key>=<value>" but got`), "must be NAME=VALUE, not"},
	{regexp.MustCompile(`^expected "(<[^"]*)"`), "$1 is missing"},
	{regexp.MustCompile(`^missing flags: `), "missing: "},
}

// inPlainWords returns the text of err, an error of the parser, without its terms of Go.
func inPlainWords(err error) string {
	text := err.Error()
	for _, w := range parserWords {
		text = w.said.ReplaceAllString(text, w.plain)
	}
	var failed *kong.ParseError
	if strings.HasPrefix(text, "unexpected argument") && errors.As(err, &failed) {
		if command := failed.Context.Selected(); command != nil && len(command.Positional) > 0 {
			text += "; put a text of several words in quotes"
		}
	}
	return text
}

// isStopped reports whether err only says that ctx has ended, such as after an interrupt.
func isStopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// helped returns the name of the command to whose help an error in the arguments refers: the parsed command, or docent if none was parsed.
func helped(chosen *kong.Context, err error) string {
	var failed *kong.ParseError
	if errors.As(err, &failed) {
		chosen = failed.Context
	}
	if chosen == nil || chosen.Selected() == nil {
		return "docent"
	}
	return chosen.Selected().FullPath()
}

// printHelp prints kong's help. It shows --collection and --collection-name as alternatives: exactly one of them is required.
func printHelp(o kong.HelpOptions, of *kong.Context) error {
	var text bytes.Buffer
	out := of.Stdout
	of.Stdout = &text
	err := kong.DefaultHelpPrinter(o, of)
	of.Stdout = out
	_, printed := io.WriteString(out, strings.Replace(text.String(), "--collection=ID --collection-name=NAME", "(--collection=ID | --collection-name=NAME)", 1))
	return errors.Join(err, printed)
}

// existingFile takes the name of a file, or - for standard input. An empty name is left to emptyValue: the parser's own
// check would take it for the current folder.
func existingFile(ctx *kong.DecodeContext, target reflect.Value) error {
	var name string
	if err := ctx.Scan.PopValueInto("file", &name); err != nil {
		return err
	}
	if name != "" && name != "-" {
		name = kong.ExpandPath(name)
		switch info, err := os.Stat(name); {
		case err != nil:
			return err
		case info.IsDir():
			return fmt.Errorf("%s is a folder, not a file", name)
		}
	}
	target.SetString(name)
	return nil
}

// emptyValue returns an error for an argument, a list flag, or a flag with the tag "without" whose value is empty, as from an unset shell
// variable. An empty value must not count as absent, and an empty path not as the current folder, because many commands then do more, not
// less. The tag says what they do without the flag.
func emptyValue(chosen *kong.Context) error {
	for _, p := range chosen.Path {
		switch f := p.Flag; {
		case p.Positional != nil && isEmpty(p.Positional.Target):
			return fmt.Errorf("<%s> is empty", p.Positional.Name)
		case f == nil, f.Target.Kind() != reflect.Slice && !f.Tag.Has("without"), !isEmpty(f.Target):
		case f.Tag.Has("without"):
			return fmt.Errorf("--%s is empty; leave it out for %s", f.Name, f.Tag.Get("without"))
		default:
			return fmt.Errorf("--%s is empty", f.Name)
		}
	}
	return nil
}

// isEmpty reports whether a text, or an element of a list, is empty, or the list has none.
func isEmpty(v reflect.Value) bool {
	if v.Kind() != reflect.Slice {
		return v.IsZero()
	}
	for i := range v.Len() {
		if v.Index(i).IsZero() {
			return true
		}
	}
	return v.Len() == 0
}
