package gitlab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// folders are the folders of the parts in URIs.
var folders = map[string]string{issues: "issues/", merges: "merge_requests/", wiki: "wikis/", files: "blob/"}

// PartContains reports whether the item of uri belongs to a part.
func (c *Connector) PartContains(settings source.Settings, part, uri string) bool {
	s, err := c.open(source.Access{Settings: settings}, part)
	return err == nil && strings.HasPrefix(uri, s.html+folders[s.kind])
}

// IsDeleted asks GitLab for one issue or merge request. It is never called for a wiki
// page or a file, because their full scans are exact.
func (c *Connector) IsDeleted(ctx context.Context, a source.Access, part, uri string) (bool, error) {
	s, err := c.open(a, part)
	if err != nil {
		return false, err
	}
	number, err := strconv.Atoi(path.Base(uri))
	if err != nil || uri != s.uri(number) {
		return false, nil // not a URI of GitLab, so GitLab cannot be asked
	}
	_, _, err = rest.Get[struct{}](ctx, s.api, "/"+s.kind+"/"+strconv.Itoa(number))
	var failed *source.SyncError
	if err == nil || !errors.As(err, &failed) || failed.Code != source.NotThere {
		return false, err
	}
	// If the project cannot be read either, the record may still exist.
	if _, _, err := rest.Get[about](ctx, s.api, ""); err != nil {
		return false, fmt.Errorf("read the project: %w", err)
	}
	return true, nil
}
