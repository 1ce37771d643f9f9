package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"docent/cmd/docent/internal/client"
)

type eventsFollowCmd struct {
	serverFlags
	CursorFile string        `name:"cursor-file" required:"" placeholder:"FILE" help:"Where the place in the feed is kept between runs."`
	Since      string        `placeholder:"TIME" help:"Where to begin when there is no cursor file yet: a time (RFC 3339) or the id of an event (default: the oldest event)."`
	Format     string        `enum:"native,ocsf" default:"native" help:"native or ocsf (OCSF 1.8.0)."`
	Once       bool          `help:"Stop at the end of the feed instead of waiting for more."`
	Every      time.Duration `default:"10s" placeholder:"TIME" help:"How often to look for more (default ${default})."`
}

// Help is the long help of docent events follow.
func (c *eventsFollowCmd) Help() string {
	return `Prints one JSON object a line. The cursor is saved only after the lines before it are written, so nothing is lost when the command is stopped in any way; what was printed and not saved is printed again, with the same id.

Example:

    export DOCENT_API_KEY=docent_team_...
    docent events follow --cursor-file /var/lib/docent/events.cursor | forwarder`
}

// Validate checks what the flags' types can not.
func (c *eventsFollowCmd) Validate() error {
	if c.Every <= 0 {
		return errors.New("--every must be more than 0")
	}
	return nil
}

// maxCursor bounds a cursor file.
const maxCursor = 4096

// Run follows the feed until ctx ends.
func (c *eventsFollowCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	saved, err := os.ReadFile(c.CursorFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the cursor: %w", err)
	}
	if len(saved) > maxCursor {
		return fmt.Errorf("%s holds no cursor", c.CursorFile)
	}
	cursor := string(bytes.TrimSpace(saved))
	for {
		page, err := api.Events(ctx, cursor, c.Since, c.Format)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (c.Once || client.FailsEveryCall(err)):
			return fmt.Errorf("follow the events: %w", err)
		case err != nil:
			_, _ = fmt.Fprintf(con.err, "docent: %v; trying again\n", err)
		default:
			if err := c.pass(con, page, cursor); err != nil {
				return err
			}
			cursor = page.NextCursor
			if page.HasMore {
				continue
			}
			if c.Once {
				return nil
			}
		}
		if api.Pause(ctx, c.Every) != nil {
			return nil
		}
	}
}

// pass writes the events of a page, and only then saves the place after them.
func (c *eventsFollowCmd) pass(con *console, page client.EventPage, before string) error {
	if len(page.Events) > 0 {
		var lines bytes.Buffer
		for _, e := range page.Events {
			lines.Write(bytes.TrimSpace(e))
			lines.WriteByte('\n')
		}
		if _, err := con.out.Write(lines.Bytes()); err != nil {
			return fmt.Errorf("write events: %w", err)
		}
	}
	if page.NextCursor == "" || page.NextCursor == before {
		return nil
	}
	if err := replaceFile(c.CursorFile, page.NextCursor+"\n"); err != nil {
		return fmt.Errorf("save the cursor: %w", err)
	}
	return nil
}

// replaceFile puts text in the place of a file, so that a reader finds the old
// or the new text whole, whenever this process ends.
func replaceFile(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
