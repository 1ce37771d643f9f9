package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/app"
	"docent/shared/app/parts/operator"
	"docent/shared/pause"
	"docent/shared/search"
	"docent/shared/team"
)

// indexFlags name the indexes that a command works on.
type indexFlags struct {
	installationFlags
	Team string `placeholder:"ID" without:"every team" help:"Only this team (default: every team)."`
}

// open runs do on the installation; local is nil on AWS.
func (f indexFlags) open(ctx context.Context, do func(teams []string, r app.Rebuilds, local *app.Local) error) error {
	if !f.AWS {
		return f.withExisting(ctx, func(local *app.Local) error {
			teams, err := f.ids(ctx, local.Teams)
			if err != nil {
				return err
			}
			return do(teams, local.Rebuilds(), local)
		})
	}
	stack, err := operator.Open(ctx, stackName(f.Stack))
	if err != nil {
		return err
	}
	rebuilds, err := stack.Rebuilds()
	if err != nil {
		return err
	}
	teams, err := f.ids(ctx, stack.Teams)
	if err != nil {
		return err
	}
	return do(teams, rebuilds, nil)
}

// ids returns the ids of the teams to work on.
func (f indexFlags) ids(ctx context.Context, teams *team.Service) ([]string, error) {
	if f.Team != "" {
		t, err := teams.Team(ctx, f.Team)
		return []string{t.ID}, err
	}
	all, err := teams.Teams(ctx)
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	return ids, err
}

type indexStatusCmd struct {
	indexFlags
	JSON bool `name:"json" help:"Print JSON: the spaces of each team's sources."`
}

// Help is the long help of docent index status.
func (c *indexStatusCmd) Help() string {
	return `Shows, for each space of each source, how many segments of words and of vectors there are, their version of the text analysis, and the progress of a rebuild. Segments are outdated if an older version of Docent wrote them, if they are damaged, or if docent index rebuild was run. They are rebuilt in the background. Until then they are searched, unless they are damaged.

Examples:

    docent index status
    docent index status --aws --stack docent --team ID --json`
}

// teamStatus is the JSON of docent index status for one team.
type teamStatus struct {
	Team     string                `json:"team"`
	Families []search.FamilyStatus `json:"families"`
}

// Run shows the status.
func (c *indexStatusCmd) Run(ctx context.Context, con *console) error {
	return c.open(ctx, func(teams []string, r app.Rebuilds, _ *app.Local) error {
		all := []teamStatus{}
		for _, id := range teams {
			families, err := r.Status(ctx, id)
			if err != nil {
				return err
			}
			all = append(all, teamStatus{id, families})
		}
		if c.JSON {
			return printJSON(con.out, all)
		}
		for _, t := range all {
			if err := printf(con.out, "Team %s\n", t.Team); err != nil {
				return err
			}
			for _, f := range t.Families {
				if err := printf(con.out, "  %s\n", familyLine(f)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// familyLine describes one space of a source in one line.
func familyLine(f search.FamilyStatus) string {
	of := string(f.Space)
	if f.Vectors {
		of += ", vectors"
	}
	line := fmt.Sprintf("%s %s: %d segments, %d documents, %d passages, %d bytes", f.Source, of, f.Segments, f.Documents, f.Passages, f.Bytes)
	var parts []string
	for version, n := range f.Analyses {
		parts = append(parts, fmt.Sprintf("%d of analysis %d", n, version))
	}
	slices.Sort(parts)
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	parts = nil
	for why, n := range f.Outdated {
		parts = append(parts, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(parts)
	if len(parts) > 0 {
		line += "; outdated: " + strings.Join(parts, ", ")
	}
	if f.Newer > 0 {
		line += fmt.Sprintf("; %d of a newer Docent", f.Newer)
	}
	if r := f.Rebuild; r != nil {
		line += fmt.Sprintf("; rebuilt: %d of %d documents since %s", r.Done, r.Total, r.Since.Format(time.RFC3339))
		if r.Error != nil {
			line += fmt.Sprintf("; failed at %s: %s", r.Error.At.Format(time.RFC3339), r.Error.Text)
		}
	}
	return line
}

type indexRebuildCmd struct {
	indexFlags
	Wait bool `default:"true" negatable:"" help:"On AWS: show the progress until everything is rebuilt (default)."`
}

// Help is the long help of docent index rebuild.
func (c *indexRebuildCmd) Help() string {
	return `Rebuilds the search index from the stored documents, including documents that are in no segment. The old segments are searched until they are replaced. Progress is saved: an interrupted rebuild continues when this is run again or when a server starts on the data.

Data sources with damaged items are read again from their providers as soon as a server runs on the data, and a paused one when it is resumed.

On AWS, the functions of the installation do the work. This command starts it and shows the progress; interrupting the command does not stop the work.

Examples:

    docent index rebuild
    docent index rebuild --aws --stack docent --team ID`
}

// Run rebuilds the index of each team.
func (c *indexRebuildCmd) Run(ctx context.Context, con *console) error {
	return c.open(ctx, func(teams []string, r app.Rebuilds, local *app.Local) error {
		return forEachTeam(ctx, teams, func(id string) error { return c.rebuild(ctx, con, id, r, local) })
	})
}

// forEachTeam calls do for all teams, also after one that fails, until ctx ends.
func forEachTeam(ctx context.Context, teams []string, do func(id string) error) error {
	var failed []error
	for _, id := range teams {
		if err := do(id); err != nil {
			failed = append(failed, fmt.Errorf("team %s: %w", id, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// rebuild starts the rebuild of a team and shows its progress.
func (c *indexRebuildCmd) rebuild(ctx context.Context, con *console, teamID string, r app.Rebuilds, local *app.Local) error {
	families, err := r.Start(ctx, teamID)
	if err != nil {
		return err
	}
	show := progressOf(con, teamID)
	switch {
	case local != nil:
		err = local.DoRebuilds(ctx, teamID, show)
	case c.Wait:
		err = waitForRebuilds(ctx, r, teamID, show)
	}
	if err != nil {
		return err
	}
	done := "rebuilt"
	if local == nil && !c.Wait {
		done = "to be rebuilt"
	}
	if err := printf(con.out, "Team %s: %d spaces of sources %s\n", teamID, families, done); err != nil || local == nil {
		return err
	}
	return readDamagedAgain(ctx, con, teamID, local)
}

// readDamagedAgain has the team's sources with damaged items read again, and says so.
func readDamagedAgain(ctx context.Context, con *console, teamID string, local *app.Local) error {
	sources, paused, err := local.ReadDamagedAgain(ctx, teamID)
	if err != nil || sources == 0 {
		return err
	}
	return printf(con.out, "Team %s: %s\n", teamID, readAgain(sources, paused))
}

// readAgain says when data sources with damaged items are read again.
func readAgain(sources, paused int) string {
	text := fmt.Sprintf("%d data sources have damaged items, and are read again when docent serve runs", sources)
	if paused > 0 {
		text += fmt.Sprintf("; %d of them are paused, and are read again when they are resumed", paused)
	}
	return text
}

// rebuildPoll is how often the progress of a rebuild on AWS is read.
const rebuildPoll = 5 * time.Second

// waitForRebuilds shows the progress of a team's rebuilds until they have ended.
func waitForRebuilds(ctx context.Context, r app.Rebuilds, teamID string, show func([]search.FamilyStatus) error) error {
	for {
		families, err := r.Status(ctx, teamID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(families, func(f search.FamilyStatus) bool { return f.Rebuild != nil }) {
			return nil
		}
		if err := errors.Join(show(families), pause.For(ctx, rebuildPoll)); err != nil {
			return err
		}
	}
}

// progressOf prints the progress of a team's rebuilds if it has changed.
func progressOf(con *console, teamID string) func([]search.FamilyStatus) error {
	last := ""
	return func(families []search.FamilyStatus) error {
		done, total, failure := int64(0), int64(0), ""
		for _, f := range families {
			if f.Rebuild == nil {
				continue
			}
			done, total = done+f.Rebuild.Done, total+f.Rebuild.Total
			if f.Rebuild.Error != nil {
				failure = "; last error: " + f.Rebuild.Error.Text
			}
		}
		line := fmt.Sprintf("Team %s: %d of %d documents%s\n", teamID, done, total, failure)
		if total == 0 || line == last {
			return nil
		}
		last = line
		return printf(con.err, "%s", line)
	}
}
