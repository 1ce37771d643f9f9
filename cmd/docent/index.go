package main

import (
	"context"
	"errors"
	"slices"

	"docent/shared/app"
)

type indexCheckCmd struct {
	dataFlags
	JSON bool `name:"json" help:"Print JSON: one report per team."`
}

// Help is the long help of docent index check.
func (c *indexCheckCmd) Help() string {
	return `Checks every segment of the search index: checksums, dictionary, postings, and whether each document is current and can be found. Documents that changed since their segment was written are stale. That is normal: questions skip them, and the next merge drops them.

Documents are compared with their checksums, too. One that is damaged is in no search and no list; put it again, or restore a backup. An item of a data source is stored again when its source is read as if it were new; docent index rebuild makes the next sync do so.

The exit status is 1 if a segment is damaged, a document missing or damaged, or a team cannot be checked; the other teams are checked nevertheless. docent index rebuild repairs segments, and adds what is missing.`
}

// teamReport is the JSON of docent index check for one team.
type teamReport struct {
	Team string `json:"team"`
	app.IndexReport
}

// Run checks the index of every team.
func (c *indexCheckCmd) Run(ctx context.Context, con *console) error {
	return c.withExisting(ctx, func(local *app.Local) error {
		teams, err := local.Teams.Teams(ctx)
		if err != nil {
			return err
		}
		ids := make([]string, len(teams))
		for i, t := range teams {
			ids[i] = t.ID
		}
		return c.check(ctx, con, ids, local.CheckIndex)
	})
}

// check checks and reports each team, also after one that cannot be checked.
func (c *indexCheckCmd) check(ctx context.Context, con *console, teams []string, check func(context.Context, string) (app.IndexReport, error)) error {
	reports, clean := []teamReport{}, true
	failed := forEachTeam(ctx, teams, func(id string) error {
		report, err := check(ctx, id)
		if err != nil {
			return err
		}
		reports = append(reports, teamReport{id, report})
		clean = clean && report.Clean()
		return nil
	})
	if err := c.print(con, reports); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	if !clean {
		return errReported
	}
	return nil
}

func (c *indexCheckCmd) print(con *console, reports []teamReport) error {
	if c.JSON {
		return printJSON(con.out, reports)
	}
	for _, r := range reports {
		if err := printf(con.out, "Team %s: %d segments, %d passages of %d documents, %d vectors, %d stale, %d damaged, %d missing, %d damaged documents\n",
			r.Team, r.Segments, r.Passages, r.Documents, r.Vectors, r.Stale, len(r.Damaged), len(r.Missing), len(r.DamagedDocuments)); err != nil {
			return err
		}
		for _, fault := range slices.Concat(r.Damaged, r.Missing, r.DamagedDocuments) {
			if err := printf(con.out, "  %s\n", fault); err != nil {
				return err
			}
		}
	}
	return nil
}
