package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"docent/client"
	"docent/cmd/docent/internal/put"
)

const maxParallel = 64

// serverFlags name the server to call, and the key to use.
type serverFlags struct {
	Server string `env:"DOCENT_SERVER" default:"${server}" placeholder:"URL" help:"Address of the API (default ${default})."`
	Key    string `env:"DOCENT_API_KEY" placeholder:"KEY" help:"API key."`
}

// client returns a client of the server. It says once on con that a server which does not answer is tried again.
func (f serverFlags) client(con *console) (*client.Client, error) {
	c, err := client.New(f.Server, f.Key)
	if errors.Is(err, client.ErrNoKey) {
		return nil, usageError{errors.New("no API key: give --key or set DOCENT_API_KEY")}
	}
	if err != nil {
		return nil, usageError{err}
	}
	c.UserAgent = "docent/" + versionText()
	var once sync.Once
	c.Retrying = func(err error) {
		var away *client.NoReplyError
		if errors.As(err, &away) {
			once.Do(func() { fmt.Fprintf(con.err, "docent: %v; trying again\n", err) })
		}
	}
	return c, nil
}

type putCmd struct {
	Paths          []fileName `arg:"" name:"path" help:"Files and folders."`
	Collection     string     `placeholder:"ID" xor:"collection" required:"" help:"The collection, by its id."`
	CollectionName string     `placeholder:"NAME" xor:"collection" required:"" help:"The collection, by its name; it is created if no collection has it."`
	Description    string     `placeholder:"TEXT" help:"Description for a collection that is created."`
	serverFlags
	Metadata         map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"Metadata of every document, which filters can select by; may be repeated. A number, true, false or a JSON list of strings keeps its type."`
	AccessUser       []string          `placeholder:"USER" sep:"none" help:"Who may read the documents, by userName or id; repeat it for several."`
	AccessGroup      []string          `placeholder:"GROUP" sep:"none" help:"Which groups may read the documents, by displayName, externalId or id; repeat it for several."`
	CollectionAccess bool              `help:"Remove the access of documents for which neither these flags nor front matter name readers: then everyone who may read the collection can read them."`
	BaseURI          string            `name:"base-uri" placeholder:"URI" without:"file: URIs" help:"A file's URI is this and its path below the given folder (default: the file: URI of its absolute path)."`
	Parallel         int               `default:"8" placeholder:"N" help:"Files sent at a time, 1 to 64 (default ${default})."`
	Delete           bool              `help:"Remove documents of the collection whose URI is below a given folder and whose file is gone. Does not ask for confirmation."`
	DryRun           bool              `help:"Show what would be done, and do nothing."`
	Force            bool              `help:"Send unchanged files too."`
	NoWait           bool              `help:"Do not wait until Docent has read the text of PDF and Office files."`
	JSON             bool              `name:"json" help:"Print the summary as JSON."`
}

// Help is the long help of docent put.
func (c *putCmd) Help() string {
	return `Folders are searched for Markdown (.md .markdown .mdx), text (.txt .text), reStructuredText (.rst), HTML (.html .htm), PDF (.pdf) and Office files (.docx .xlsx .pptx, with macros .docm .xlsm .pptm .ppsm, templates and shows .dotx .dotm .xltx .xltm .potx .potm .ppsx). Hidden files and folders and node_modules below them are skipped. Symbolic links are followed; each file is put once. HTML is converted to Markdown without scripts, navigation and forms, reStructuredText without what only a build of the documentation fills in, such as tables of contents. Text is UTF-8, or UTF-16 with a byte order mark; a text over 10 MB or in another encoding is counted as failed, and the run continues. Docent reads the text of PDF and Office files, which may have up to 100 MB, after they are put; those over 4 MB are sent to a one-time address. docent put waits until their text is read; a file whose text cannot be read is counted as failed with the reason, though its document stays, and is sent again by the next run. With --no-wait, or after ten minutes in which no file was read, the next run reports what could not be read.

The title of a document is its first level-1 heading, the title of its front matter or its HTML title, else its file's name. Everything else in the front matter of a Markdown file becomes metadata: texts, numbers, dates, true and false, and lists. It takes precedence over --metadata. But access with lists of users and groups says who may read the document, in place of --access-user and --access-group; without any of them a document keeps the access that it has, also if it was set elsewhere, and a new one is read by whoever may read the collection. --collection-access removes the access that a document has. A file whose access cannot be read is not put. What metadata cannot hold is left out, with a warning: nested values, names with other characters than letters, digits and _, texts over 256 characters. Of front matter in TOML, between lines of +++, only the title is read, and a file is not put if access is in it.

Files that have not changed since the last run are not sent again. docent remembers them in its folder of the user's cache, and skips a file only while the server still lists the document as it was put. After an interruption, run the same command again to continue.

The exit status is 1 if anything failed.

Examples:

    export DOCENT_API_KEY=docent_team_...
    docent put --collection-name handbook docs
    docent put --collection-name handbook --base-uri https://wiki.example/ --delete docs
    docent put --collection-name api --metadata product=api --metadata version=3 docs
    docent put --collection-name people --access-group HR docs/people
    docent put --collection ID --dry-run notes README.md`
}

// Validate checks what the types of the flags cannot.
func (c *putCmd) Validate() error {
	if c.Parallel < 1 || c.Parallel > maxParallel {
		return fmt.Errorf("--parallel must be 1 to %d", maxParallel)
	}
	if c.Collection == "" && c.CollectionName == "" {
		return errors.New("give --collection or --collection-name; neither may be empty")
	}
	if utf8.RuneCountInString(c.CollectionName) > 32 {
		return errors.New("--collection-name must have 1 to 32 characters")
	}
	if utf8.RuneCountInString(c.Description) > 4096 {
		return errors.New("--description must have at most 4096 characters")
	}
	if c.CollectionAccess && c.access() != nil {
		return errors.New("--collection-access cannot be combined with --access-user and --access-group")
	}
	_, err := metadataFlag(c.Metadata)
	return err
}

// Run puts the files.
func (c *putCmd) Run(ctx context.Context, con *console) error {
	metadata, err := metadataFlag(c.Metadata)
	if err != nil {
		return err
	}
	api, err := c.client(con)
	if err != nil {
		return err
	}
	config := put.Config{
		Client: api, CollectionID: c.Collection, CollectionName: c.CollectionName, Description: c.Description,
		Metadata: metadata, Access: c.access(), CollectionAccess: c.CollectionAccess, Paths: namesOf(c.Paths), BaseURI: c.BaseURI, Parallel: c.Parallel,
		DryRun: c.DryRun, Delete: c.Delete, Force: c.Force, NoWait: c.NoWait,
		Warn:   func(s string) { _ = printf(con.err, "docent: %s\n", s) },
		Now:    con.now,
		Reason: func(err error) string { return inTypedWords(err, "docent put") },
	}
	if config.Description == "" {
		config.Description = fmt.Sprintf("Documents of %s.", c.CollectionName)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		config.StateDir = filepath.Join(cache, "docent")
	} else {
		config.Warn(fmt.Sprintf("what is sent cannot be remembered; all files are sent now and next time: %v", err))
	}
	end := func() {}
	if isTerminal(con.err) {
		config.Progress, end = put.Bar(con.err, "put", "files")
	} else {
		config.Progress = put.Lines(con.err, con.now, "files")
	}
	sum, err := put.Run(ctx, config)
	end()
	return c.report(con, sum, err)
}

// access returns who may read the documents according to the flags; nil: the flags do not say.
func (c *putCmd) access() *client.Access {
	if len(c.AccessUser)+len(c.AccessGroup) == 0 {
		return nil
	}
	return &client.Access{Users: append([]string{}, c.AccessUser...), Groups: append([]string{}, c.AccessGroup...)}
}

// report prints the summary, unless nothing was started, and turns failures into the exit status.
func (c *putCmd) report(con *console, sum put.Summary, err error) error {
	if err != nil && sum.Put+sum.Unchanged+sum.Failed+sum.Deleted == 0 {
		return err
	}
	var printErr error
	if c.JSON {
		printErr = printJSON(con.out, sum)
	} else {
		printErr = sum.Print(con.out)
	}
	switch {
	case err != nil:
		return err
	case printErr != nil:
		return fmt.Errorf("print the summary: %w", printErr)
	case sum.Failed > 0:
		return errReported
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fileName is the name of a file, byte for byte as the system has it. In a plain string kong replaces bytes that are
// not UTF-8, so the file would not be found.
type fileName string

// Decode takes the argument as it is.
func (n *fileName) Decode(ctx *kong.DecodeContext) error {
	name, ok := ctx.Scan.Pop().Value.(string)
	if !ok {
		return errors.New("it is not the name of a file")
	}
	*n = fileName(name)
	return nil
}

func namesOf(names []fileName) (all []string) {
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}
