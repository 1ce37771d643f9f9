package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"docent/client"
	"docent/shared/apierr"
)

type eventsFollowCmd struct {
	serverFlags
	CursorFile string        `name:"cursor-file" required:"" placeholder:"FILE" help:"File that keeps the cursor between runs."`
	Since      string        `placeholder:"TIME" without:"the oldest event" help:"Where to start if there is no cursor file yet: a time (RFC 3339) or the id of an event (default: the oldest event)."`
	Format     string        `enum:"native,ocsf" default:"native" placeholder:"FORMAT" help:"Form of the events: native or ocsf, which is OCSF 1.8.0 (default ${default})."`
	Once       bool          `help:"Stop at the end of the feed instead of waiting for more."`
	Every      time.Duration `default:"10s" placeholder:"TIME" help:"How often to look for more (default ${default})."`
}

// Help is the long help of docent events follow.
func (c *eventsFollowCmd) Help() string {
	return `Prints one JSON object per line. The cursor is saved only after the lines before it are written, so no event is lost however the command stops. Events that were printed before the cursor was saved are printed again, with the same id.

Example:

    export DOCENT_API_KEY=docent_team_...
    docent events follow --cursor-file /var/lib/docent/events.cursor | forwarder`
}

// Validate checks what the types of the flags cannot.
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
	api, err := c.client(con)
	if err != nil {
		return err
	}
	c.CursorFile = behindLinks(c.CursorFile)
	if info, err := os.Stat(c.CursorFile); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not an ordinary file, so it cannot be replaced by a file with the cursor", c.CursorFile)
	}
	if info, err := os.Stat(filepath.Dir(c.CursorFile)); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s for the cursor", filepath.Dir(c.CursorFile)) // before events are printed
	}
	saved, err := os.ReadFile(c.CursorFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the cursor: %w", err)
	}
	if len(saved) > maxCursor {
		return fmt.Errorf("%s contains no cursor", c.CursorFile)
	}
	cursor := string(bytes.TrimSpace(saved))
	kept := false // the file was written
	for {
		page, err := api.Events(ctx, cursor, c.Since, c.Format)
		switch {
		case ctx.Err() != nil:
			return nil
		case isRefusedCursor(err):
			return fmt.Errorf("follow the events: %w\n%s has no cursor of this server's feed in this format. Name another file, or remove it to start again, with --since TIME at a time before the last event that you have", err, c.CursorFile)
		case client.IsStatus(err, http.StatusGone) && cursor != "":
			return fmt.Errorf("follow the events: %w\n%s is from before the oldest event that is kept. Name another file, or remove it to start again with the oldest event", err, c.CursorFile)
		case err != nil && (c.Once || client.FailsEveryCall(err) || isRefusedRequest(err)):
			return fmt.Errorf("follow the events: %w", err)
		case err != nil:
			_, _ = fmt.Fprintf(con.err, "docent: %v; trying again\n", err)
		default:
			if !kept && len(page.Events) > 0 {
				// A command that is restarted whenever it ends would otherwise print the same events each time.
				if err := c.keep(cursor); err != nil {
					return err
				}
				if err := endLine(con.out); err != nil {
					return fmt.Errorf("write events: %w", err)
				}
			}
			if err := c.pass(con, page, cursor); err != nil {
				return err
			}
			kept = true
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

// isRefusedCursor reports whether the server refuses the cursor, as it will the next time.
func isRefusedCursor(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Code == apierr.CodeInvalidCursor
}

// isRefusedRequest reports whether the server refuses the request itself, such as for its --since, as it will the next time. A
// refusal without a code is not the server's: a proxy may have lost the server for a while.
func isRefusedRequest(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Code != "" && (refused.Status == http.StatusBadRequest || refused.Status == http.StatusNotFound)
}

// pass writes the events of a page, and only then saves the cursor after them.
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
	return c.keep(page.NextCursor)
}

// endLine ends the line that an earlier run left unfinished in the file that out appends to, as a full disk and a kill do. The first event
// would be part of it, so that no reader understood either. Where the file cannot be read, the line is ended in any case.
func endLine(out io.Writer) error {
	file, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	last := make([]byte, 1)
	if again, err := os.Open(fmt.Sprintf("/dev/fd/%d", file.Fd())); err == nil {
		defer again.Close() // it was only read
		if _, err := again.ReadAt(last, info.Size()-1); err == nil && last[0] == '\n' {
			return nil
		}
	}
	_, err = io.WriteString(file, "\n")
	return err
}

func (c *eventsFollowCmd) keep(cursor string) error {
	if err := replaceFile(c.CursorFile, cursor+"\n"); err != nil {
		return fmt.Errorf("save the cursor: %w", err)
	}
	return nil
}

// maxLinks limits the links that behindLinks follows.
const maxLinks = 40

// behindLinks returns the file to which a link leads, which need not exist, and any other name as it is. To replace the link would leave
// the cursor where the link is, not on the disk that somebody chose for it.
func behindLinks(name string) string {
	for range maxLinks {
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(name) + string(filepath.Separator) + to
		}
		name = to
	}
	return name
}

// replaceFile replaces the content of a file. A reader finds the complete old or new text, even if this process is
// killed.
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
