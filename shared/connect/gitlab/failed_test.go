package gitlab_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

// TestARecordWhoseCommentsFailHoldsUpNoOther: it fails one sync, which says which record it is. Then only what else is known of it is
// read, and each sync tries again.
func TestARecordWhoseCommentsFailHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a failure": 500, "a refusal": 422} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) {
				for n := range 3 {
					one := gitlabtest.NewIssue(n+1, "Issue")
					one.Comments = []gitlabtest.Note{{Body: "A comment."}}
					p.Issues = append(p.Issues, one)
				}
			})
			r.server.Before(func(path string, w http.ResponseWriter) bool {
				if !strings.Contains(path, "/issues/2/notes") {
					return false
				}
				w.WriteHeader(status)
				return true
			})
			uri := r.server.URL + "/" + project + "/-/issues/2"
			_, _, _, err := r.part("issues", nil)
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.URI != uri || !strings.Contains(failed.Detail, "the comments on issue 2") {
				t.Fatalf("first: %+v %v", failed, err)
			}
			a := r.access()
			a.Failed = []string{uri}
			pages := func(at []byte) (read, failed []string, end []byte) {
				t.Helper()
				for page, err := range r.c.Read(t.Context(), a, project+" issues", at) {
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range page.Items {
						if end := strings.HasSuffix(i.URI, "/2"); i.KeepBody != (end && len(page.Failed) > 0) {
							t.Errorf("%s: KeepBody %t", i.URI, i.KeepBody)
						}
						read = append(read, r.short(i.URI))
					}
					for _, f := range page.Failed {
						failed = append(failed, f.URI)
					}
					end = page.Checkpoint
				}
				return read, failed, end
			}
			got, left, end := pages(nil)
			if slices.Sort(got); !slices.Equal(got, []string{"issues/1", "issues/2", "issues/3"}) || !slices.Equal(left, []string{uri}) {
				t.Errorf("read %q, failed %q", got, left)
			}
			r.later()
			if got, left, end = pages(end); !slices.Equal(got, []string{"issues/2"}) || !slices.Equal(left, []string{uri}) {
				t.Errorf("again read %q, failed %q", got, left)
			}
			r.server.Before(nil)
			r.later()
			if got, left, _ = pages(end); !slices.Equal(got, []string{"issues/2"}) || len(left) > 0 {
				t.Errorf("in the end read %q, failed %q", got, left)
			}
		})
	}
}
