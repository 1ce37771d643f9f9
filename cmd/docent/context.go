package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"docent/client"
)

// findFlags are the flags that search and research share.
type findFlags struct {
	Query string `arg:"" help:"What to look for, 1 to 10000 characters; - reads it from standard input."`
	serverFlags
	FilterFlag
	Instruction string `placeholder:"TEXT" help:"Affects ranking only, not what is searched."`
	As          string `placeholder:"USER" without:"the rights of the key" help:"Search as this user, by userName or id, with a team key that may act for people."`
	JSON        bool   `name:"json" help:"Print the reply as the API's JSON object."`
}

// searcher reads the query, if it comes from standard input, and returns the client, which acts for the user of --as.
func (f *findFlags) searcher(ctx context.Context, con *console) (*client.Client, error) {
	api, err := f.client(con)
	if err != nil {
		return nil, err
	}
	api.As = f.As
	f.Query, err = typed(ctx, "query", f.Query)
	return api, err
}

// Validate checks what the types of the flags cannot.
func (f *findFlags) Validate() error {
	if strings.TrimSpace(f.Query) == "" {
		return errors.New("the query is empty")
	}
	return checkUser(f.As)
}

type searchCmd struct {
	findFlags
	Space string `enum:"all,code,prs,issues,documentation,messages" default:"all" placeholder:"SPACE" help:"What to search: all, code, prs, issues, documentation or messages (default ${default})."`
	Limit int    `default:"10" placeholder:"N" help:"Maximum number of results, 1 to 50 (default ${default})."`

	Explain bool `help:"Print how each result is ranked: its score by words, its closeness by meaning, and the terms found."`
}

// Help is the long help of docent search.
func (c *searchCmd) Help() string {
	return `Searches the collections and connected data sources that the key may read.

Examples:

    docent search "rolling back a release"
    docent search --space prs "retry of failed uploads"
    docent search --filter '{"product": "api", "version": {"gte": 2}}' "undo a deployment"
    docent search --explain "undo a deployment"`
}

// Validate checks what the types of the flags cannot.
func (c *searchCmd) Validate() error {
	if c.Limit < 1 || c.Limit > 50 {
		return errors.New("--limit must be 1 to 50")
	}
	return c.findFlags.Validate()
}

// Run searches and prints.
func (c *searchCmd) Run(ctx context.Context, con *console) error {
	api, err := c.searcher(ctx, con)
	if err != nil {
		return err
	}
	w := client.SearchRequest{Query: c.Query, Instruction: c.Instruction, Limit: c.Limit, Space: c.Space, Explain: c.Explain, Filter: c.Filter.of}
	if c.Space == "all" {
		w.Space = ""
	}
	found, err := api.Search(ctx, w)
	if err != nil {
		return err
	}
	if c.JSON {
		return printRaw(con, found.Raw)
	}
	if len(found.Sources) == 0 {
		return printf(con.out, "Nothing was found.\n")
	}
	return printSources(con, found.Sources, true)
}

type researchCmd struct {
	findFlags
	Effort string `enum:"low,medium,high" default:"low" placeholder:"EFFORT" help:"How much is searched: low, medium or high (default ${default})."`
}

// Help is the long help of docent research.
func (c *researchCmd) Help() string {
	return `Answers from the collections and connected data sources that the key may read, and lists its sources.

Example:

    docent research --effort high "How do retries of uploads work, and who changed them last?"`
}

// Run asks and prints.
func (c *researchCmd) Run(ctx context.Context, con *console) error {
	api, err := c.searcher(ctx, con)
	if err != nil {
		return err
	}
	found, err := api.Research(ctx, client.SearchRequest{Query: c.Query, Instruction: c.Instruction, Effort: c.Effort, Filter: c.Filter.of})
	if err != nil {
		return err
	}
	if c.JSON {
		return printRaw(con, found.Raw)
	}
	if err := printf(con.out, "%s\n", client.Printable(strings.TrimRight(found.Answer, "\n"))); err != nil || len(found.Sources) == 0 {
		return err
	}
	if err := printf(con.out, "\nSources:\n"); err != nil {
		return err
	}
	return printSources(con, found.Sources, false)
}

// printSources prints the sources that were found, with the start of their content if content is set.
func printSources(con *console, sources []client.Source, content bool) error {
	var b strings.Builder
	for i, s := range sources {
		fmt.Fprintf(&b, "%d. %s (%s, %s)\n   %s\n", i+1, oneLine(s.Title, 200), s.SourceType, s.Provider, s.URL)
		if content {
			fmt.Fprintf(&b, "   %s\n", oneLine(withoutPath(s.Content), 240))
		}
		if s.Explanation != nil {
			fmt.Fprintf(&b, "   %s\n", explained(*s.Explanation))
		}
	}
	// The text of documents must not control the terminal.
	return printf(con.out, "%s", client.Printable(b.String()))
}

// withoutPath returns the content of a source without the path of headings before it, if that is the heading with which it begins.
func withoutPath(content string) string {
	path, passage, _ := strings.Cut(content, "\n\n")
	heading, _, _ := strings.Cut(passage, "\n")
	if marks, text, found := strings.Cut(heading, " "); found && text == path && strings.Trim(marks, "#") == "" {
		return passage
	}
	return content
}

// explained returns an explanation on one line.
func explained(e client.Explanation) string {
	meaning := "meaning not compared"
	if e.Cosine != nil {
		meaning = fmt.Sprintf("meaning %.2f, which counts %.0f %%", *e.Cosine, 100*e.CosineWeight)
	}
	terms := make([]string, len(e.Terms))
	for i, t := range e.Terms {
		terms[i] = fmt.Sprintf("%s ×%d", t.Term, t.Times)
	}
	if len(terms) == 0 {
		terms = []string{"none"}
	}
	return fmt.Sprintf("score %.3f: words %.3f; %s; confidence %.2f; terms: %s", e.Score, e.Words, meaning, e.Confidence, strings.Join(terms, ", "))
}

// oneLine returns text on one line, cut to at most most characters.
func oneLine(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

func printRaw(con *console, raw json.RawMessage) error { return printJSON(con.out, raw) }

type getCmd struct {
	URLs []string `arg:"" name:"url" help:"URLs, 1 to 10, http or https."`
	serverFlags
	JSON bool `name:"json" help:"Print the reply as the API's JSON object."`
}

// Help is the long help of docent get.
func (c *getCmd) Help() string {
	return `Prints the content of the URLs from collections and connected data sources or, if a team admin allowed it, from the web. The exit status is 1 if one of them could not be read.

Example:

    docent get https://github.com/acme/api/issues/42`
}

// Run reads and prints.
func (c *getCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	results, raw, err := api.Get(ctx, c.URLs)
	if err != nil {
		return err
	}
	failed := false
	for i, got := range results {
		switch {
		case got.Error != nil:
			failed = true
			_, _ = fmt.Fprintf(con.err, "docent: %s: %s\n", client.Printable(got.URL), client.Printable(got.Error.Detail))
		case !c.JSON:
			if i > 0 {
				err = printf(con.out, "\n")
			}
			err = errors.Join(err, printf(con.out, "%s\n", client.Printable(strings.TrimRight(got.Content, "\n"))))
		}
	}
	if c.JSON {
		err = printRaw(con, raw)
	}
	if err == nil && failed {
		return errReported
	}
	return err
}
