package jira

import (
	"context"
	"time"

	"docent/shared/connect"
	"docent/shared/connect/atlassian"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Probe asks Jira for each project. For the first one alone it also asks whether it can be searched and whether its
// readers are known, because the answer is the same for most projects.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{atlassian.Client{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce}}
	return atlassian.Probe(ctx, a, projects, func(project string, first bool) error {
		r := c.open(a, project)
		if err := r.readProject(ctx); err != nil || !first {
			return err
		}
		return r.probeFirst(ctx)
	})
}

func (r *reading) probeFirst(ctx context.Context) error {
	if _, err := r.search(ctx, r.begin(checkpoint{Full: true}), 1); err != nil {
		return err
	}
	if _, err := r.browsers(ctx); err != nil || r.Notice == nil {
		return err
	}
	return r.Notice
}
