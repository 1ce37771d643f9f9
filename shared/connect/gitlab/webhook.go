package gitlab

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"docent/shared/source"
)

// The headers of a delivery.
const (
	tokenHeader = "X-Gitlab-Token"
	eventHeader = "X-Gitlab-Event"
	idHeader    = "Idempotency-Key" // the same for every attempt of a delivery
)

// verify reports whether the delivery carries the source's secret. It takes constant
// time.
func verify(d source.Delivery, secrets source.Secrets, _ time.Time) bool {
	given, want := sha256.Sum256([]byte(d.Header(tokenHeader))), sha256.Sum256([]byte(secrets[webhookSecret]))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1 && secrets[webhookSecret] != ""
}

// readEvent requests a sync for every event that changes what is read. A delivery has no
// comments but one, so it does not contain the item as it is now.
func readEvent(ctx context.Context, d source.Delivery) (source.Event, error) {
	var e struct {
		Kind    string `json:"object_kind"`
		Ref     string `json:"ref"` // of a push
		Project struct {
			Path   string `json:"path_with_namespace"`
			Branch string `json:"default_branch"`
		} `json:"project"`
	}
	if err := source.DecodeDelivery(ctx, d.Body, &e); err != nil {
		return source.Event{}, err
	}
	kind := map[string]string{"issue": issues, "work_item": issues, "merge_request": merges, "wiki_page": wiki, "note": anyKind, "push": files}[e.Kind]
	if kind == files && e.Ref != "refs/heads/"+e.Project.Branch {
		kind = ""
	}
	return source.Event{Sync: kind != "", Concerns: func(s source.Settings) bool {
		return slices.ContainsFunc(s.List(projects), func(p string) bool { return strings.EqualFold(p, e.Project.Path) }) &&
			(kind == anyKind || slices.Contains(kindsOf(s), kind))
	}}, nil
}

const anyKind = "any" // of a comment: on an issue or a merge request
