package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"docent/shared/connect"
	"docent/shared/fetch"
	"docent/shared/source"
)

// Probe asks GitHub for each repository and, because a token has the same permissions in
// all of them, whether the parts of the first one can be read.
func (opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce}
	for i, repository := range a.Settings.List(repositories) {
		s, err := c.open(a, repository)
		if err != nil {
			return err
		}
		at := map[string]string{source.Unauthorized: accessToken, source.Blocked: baseURL, source.NotThere: fmt.Sprintf("%s/%d", repositories, i)}
		branch, err := s.defaultBranch(ctx)
		if err == nil && i == 0 {
			err = s.probeParts(ctx, branch)
		}
		if i > 0 && ctx.Err() != nil {
			return nil // the first sync checks the rest
		}
		if err != nil {
			return source.BadSetting(err, at)
		}
	}
	return nil
}

// probeParts reads one record of each list, and the last commit.
func (s *session) probeParts(ctx context.Context, branch string) error {
	const one = "?sort=updated&direction=asc&per_page=1"
	at := "repos/" + s.repository
	for _, path := range []string{at + "/issues" + one + "&state=all", at + "/pulls/comments" + one, at + "/commits/" + (&url.URL{Path: branch}).EscapedPath()} {
		_, _, err := s.get(ctx, path, "", "", func() any { return new(bytes.Buffer) })
		var answered *statusError
		if errors.As(err, &answered) && answered.status != http.StatusUnauthorized && answered.status != http.StatusForbidden && answered.status < http.StatusInternalServerError {
			continue // it is empty, or switched off
		}
		if err != nil {
			return err
		}
	}
	return nil
}
