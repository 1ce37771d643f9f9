package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"docent/client"
	"docent/shared/app"
	"docent/shared/source"
)

type sourceSyncCmd struct {
	ID string `arg:"" optional:"" help:"The data source (default: every one that has a connector)."`
	dataFlags
}

// Help is the long help of docent source sync.
func (c *sourceSyncCmd) Help() string {
	return `Reads data sources now, in the data folder of this machine, while no server runs on it; a server syncs web pages daily and all others every 15 minutes, at once after a webhook, and when the dashboard or POST /data-sources/{id}/sync asks for it. An interrupted sync continues where it stopped, here or in the server. What blocks a sync, such as a rate limit of the provider, is shown here and in docent source list.

The exit status is 1 if a data source could not be brought up to date.`
}

// Run syncs.
func (c *sourceSyncCmd) Run(ctx context.Context, con *console) error {
	return c.openExisting(ctx, app.LocalOptions{Parts: app.Parts{Connect: con.connect}}, func(local *app.Local) error {
		teams, err := local.Teams.Teams(ctx)
		if err != nil {
			return err
		}
		found, failed := false, false
		for _, t := range teams {
			synced, current, err := c.syncTeam(ctx, con, local, t.ID)
			if err != nil {
				return err
			}
			found, failed = found || synced, failed || !current
		}
		switch {
		case !found && c.ID != "":
			return errors.New("there is no such data source, or it has no connector")
		case !found:
			return printf(con.out, "No data source has a connector.\n")
		case failed:
			return errReported
		}
		return nil
	})
}

// syncTeam syncs the requested data sources of a team. It reports whether there was one, and whether all are up to
// date now.
func (c *sourceSyncCmd) syncTeam(ctx context.Context, con *console, local *app.Local, teamID string) (found, current bool, err error) {
	sources, err := local.SyncedSources(ctx, teamID)
	if err != nil {
		return false, false, err
	}
	current = true
	for _, d := range sources {
		if c.ID != "" && c.ID != d.ID {
			continue
		}
		found = true
		ok, err := c.sync(ctx, con, local, teamID, d)
		if err != nil {
			return found, false, err
		}
		current = current && ok
	}
	return found, current, nil
}

// sync syncs one data source and reports whether it is up to date now.
func (c *sourceSyncCmd) sync(ctx context.Context, con *console, local *app.Local, teamID string, d source.DataSource) (bool, error) {
	tell, end := syncProgress(con, d.Name)
	p, err := local.SyncSource(ctx, teamID, d.ID, tell)
	end()
	var held *source.LeaseHeldError
	if errors.As(err, &held) {
		return false, printf(con.err, "docent: %s: another sync is running, or was stopped; try again at %s\n", d.Name, held.Until.Local().Format(time.TimeOnly))
	}
	if err != nil {
		return false, fmt.Errorf("sync %s: %w", d.Name, err)
	}
	if err := printf(con.out, "%s: %d read, %d removed, %d left out\n", d.Name, p.Read, p.Removed, p.Rejected); err != nil {
		return false, err
	}
	sources, err := local.SyncedSources(ctx, teamID)
	if err != nil {
		return false, err
	}
	for _, after := range sources {
		if after.ID == d.ID && after.LastError != nil {
			return false, printf(con.err, "docent: %s: %s\n", d.Name, client.Printable(after.LastError.Detail))
		}
	}
	return true, nil
}

// syncProgress shows the progress of a sync: a spinner on a terminal, else a line now and then.
func syncProgress(con *console, name string) (tell func(source.Progress), end func()) {
	if !isTerminal(con.err) {
		last := con.now()
		return func(p source.Progress) {
			if now := con.now(); now.Sub(last) >= 5*time.Second {
				last = now
				// A line that cannot be written must not stop the run.
				_, _ = fmt.Fprintf(con.err, "%s: %s %s, %d read\n", name, p.State, p.Part, p.Read)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(con.err), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("items"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(p source.Progress) {
		bar.Describe(name + ": " + p.State + " " + p.Part)
		_ = bar.Set(p.Read)
	}, func() { _ = bar.Clear() }
}
