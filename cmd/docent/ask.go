package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/client"
)

type askCmd struct {
	Question string `arg:"" help:"The question, 1 to 10000 characters; - reads it from standard input."`
	serverFlags
	FilterFlag
	As      string        `placeholder:"USER" without:"the rights of the key" help:"Ask as this user, by userName or id, with a team key that may act for people."`
	ID      string        `name:"id" placeholder:"UUID" without:"a new one" help:"Id of the question (default: a new one). Asking again with the same id costs nothing."`
	Timeout time.Duration `default:"2m" placeholder:"TIME" help:"How long to wait for the answer (default ${default})."`
	JSON    bool          `name:"json" xor:"form" help:"Print the answer as the API's JSON object."`
	Stream  bool          `xor:"form" help:"Print the answer while it is written, as is done on a terminal."`
}

// Help is the long help of docent ask.
func (c *askCmd) Help() string {
	return `The exit status is 1 when the question failed or was not answered in time; it is then still being answered: ask it again with the printed --id to wait longer.

Examples:

    export DOCENT_API_KEY=docent_team_...
    docent ask "How many questions may a team ask per day?"
    docent ask --filter '{"product": "api", "version": {"gte": 2}}' "How do I undo?"
    docent ask --json "How do I revoke a key?" | jq -r .result.answer`
}

// Validate checks what the types of the flags cannot.
func (c *askCmd) Validate() error {
	if strings.TrimSpace(c.Question) == "" {
		return errors.New("the question is empty")
	}
	if c.Timeout <= 0 {
		return errors.New("--timeout must be more than 0")
	}
	if err := checkUser(c.As); err != nil {
		return err
	}
	if c.ID == "" {
		return nil
	}
	id, err := uuid.Parse(c.ID)
	if err != nil || len(c.ID) != 36 {
		return errors.New("--id must be a UUID")
	}
	c.ID = id.String()
	return nil
}

// Run asks, waits and prints.
func (c *askCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	api.As = c.As
	if c.Question, err = typed(ctx, "question", c.Question); err != nil {
		return err
	}
	if c.ID == "" {
		c.ID = uuid.NewString()
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var answer client.Answer
	printed := &printedText{con: con}
	q := client.Question{Text: c.Question, Filter: c.Filter.of}
	if c.Stream || isTerminal(con.out) && !c.JSON {
		answer, err = api.AskStreaming(limited, c.ID, q, printed.add)
	} else if err = api.Ask(limited, c.ID, q); err == nil {
		answer, err = api.Await(limited, c.ID)
	}
	if limited.Err() != nil && err != nil {
		why := fmt.Sprintf("no answer within %s", c.Timeout)
		if ctx.Err() != nil {
			why = "stopped"
		}
		return fmt.Errorf("%s; ask the same question with --id %s to wait longer", why, c.ID)
	}
	if err != nil {
		return err
	}
	return c.show(con, answer, printed)
}

// printedText is the text of an answer that is printed while it is written.
type printedText struct {
	con  *console
	text string
	err  error // of printing
}

// add prints text. With replace, the text replaces what was printed before. A terminal cannot remove that, so a line says that it is withdrawn.
func (p *printedText) add(text string, replace bool) {
	if replace {
		p.print("\n\n---\nThe text above is withdrawn; the answer is:\n\n")
		p.text = ""
	}
	p.text += text
	p.print(text)
}

func (p *printedText) print(text string) {
	if p.err == nil {
		// The text of documents must not control the terminal.
		p.err = printf(p.con.out, "%s", client.Printable(text))
	}
}

// finish prints the rest of the whole text, and ends its line.
func (p *printedText) finish(whole string) error {
	whole = strings.TrimRight(whole, "\n")
	if rest, ok := strings.CutPrefix(whole, strings.TrimRight(p.text, "\n")); !ok {
		p.add(whole, true)
	} else if rest != "" {
		p.print(rest)
		p.text = whole
	}
	if p.text == "" || !strings.HasSuffix(p.text, "\n") {
		p.print("\n")
	}
	return p.err
}

// show prints the answer, without the part of its text that was already printed.
func (c *askCmd) show(con *console, a client.Answer, printed *printedText) error {
	if c.JSON {
		if err := printJSON(con.out, a.Raw); err != nil {
			return err
		}
	}
	switch {
	case a.State == client.StateFailed && a.Error != nil:
		return fmt.Errorf("the question failed: %s (%s)", client.Printable(a.Error.Detail), client.Printable(a.Error.Code))
	case a.State != client.StateComplete || a.Result == nil:
		return fmt.Errorf("the question ended in the state %q without an answer", a.State)
	case c.JSON:
		return nil
	}
	if err := printed.finish(a.Result.Answer); err != nil {
		return err
	}
	var b strings.Builder
	for i, r := range a.Result.References {
		if i == 0 {
			b.WriteString("\nReferences:\n")
		}
		if r.Title == "" {
			fmt.Fprintf(&b, "%d. %s\n", i+1, r.HTMLURL)
		} else {
			fmt.Fprintf(&b, "%d. %s: %s\n", i+1, r.Title, r.HTMLURL)
		}
	}
	// The text of documents must not control the terminal.
	return printf(con.out, "%s", client.Printable(b.String()))
}
