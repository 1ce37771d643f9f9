package gitlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"docent/shared/connect"
	"docent/shared/connect/rest"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Probe asks GitLab for each project, and whether the chosen parts of the first one can
// be read.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce}
	for i, project := range a.Settings.List(projects) {
		at := map[string]string{source.Unauthorized: accessToken, source.Blocked: baseURL, source.NotThere: fmt.Sprintf("%s/%d", projects, i)}
		err := c.probe(ctx, a, project, i == 0)
		if i > 0 && ctx.Err() != nil {
			return nil // the first sync checks the rest
		}
		if err != nil {
			return source.BadSetting(err, at)
		}
	}
	return nil
}

// probe looks up a project and, if parts is set, reads little of each part.
func (c *Connector) probe(ctx context.Context, a source.Access, project string, parts bool) error {
	s, err := c.open(a, project)
	if err != nil {
		return err
	}
	if s.about, err = s.lookUp(ctx); err != nil || !parts {
		return err
	}
	for _, kind := range kindsOf(a.Settings) {
		if s.about.level(kind) == disabled {
			continue
		}
		path := map[string]string{issues: "/issues?per_page=1", merges: "/merge_requests?per_page=1", wiki: "/wikis", files: "/repository/tree?per_page=1"}[kind]
		_, _, err := rest.Get[json.RawMessage](ctx, s.api, path)
		var failed *source.SyncError
		if errors.As(err, &failed) && failed.Code == source.NotThere {
			continue // a repository without a commit
		}
		if s.isClosed(err) && a.Settings.List(include) == nil {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
