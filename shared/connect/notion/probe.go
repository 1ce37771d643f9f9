package notion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/connect"
	"docent/shared/connect/rest"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Probe asks Notion whether the token is accepted, something is shared with the
// integration, and its text can be read, and for each root page.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	if a.Settings.Text(access) == "" {
		return nil
	}
	c := open(f, time.Now)
	c.Pause = connect.AtOnce
	return c.Probe(ctx, a)
}

// Probe is connect.Prober's.
func (c *Connector) Probe(ctx context.Context, a source.Access) error {
	s := c.open(a)
	if err := s.probe(ctx); err != nil {
		return source.BadSetting(err, map[string]string{source.Unauthorized: accessToken})
	}
	for i, address := range a.Settings.List(roots) {
		err := s.lookUpRoot(ctx, address)
		if i > 0 && ctx.Err() != nil {
			return nil // the first sync checks the rest
		}
		if err != nil {
			return source.BadSetting(err, map[string]string{source.Unauthorized: accessToken, source.NotThere: fmt.Sprintf("%s/%d", roots, i)})
		}
	}
	return nil
}

func (s *session) probe(ctx context.Context) error {
	some, _, err := rest.Post[results](ctx, s.api, "v1/search", map[string]any{"page_size": 1, "filter": map[string]string{"property": "object", "value": "page"}})
	if err != nil {
		return err
	}
	if len(some.Results) == 0 && len(s.roots) == 0 {
		return apierr.BadField("/settings/"+accessToken, "is accepted, but no page is shared with the integration yet; open a page in Notion and add the integration in its menu under Connections")
	}
	for _, o := range some.Results {
		_, err := s.part(ctx, o.ID)
		var failed *source.SyncError
		if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
			continue
		}
		return err
	}
	return nil
}
