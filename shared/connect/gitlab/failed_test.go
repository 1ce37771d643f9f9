package gitlab_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

// TestARecordWhoseCommentsFailDoesNotHoldUpOthers: it fails one sync, which says which record it is. Then only what else is known of it is
// read, and each sync tries again.
func TestARecordWhoseCommentsFailDoesNotHoldUpOthers(t *testing.T) {
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

// TestWhatTakesLongIsYieldedInParts, so that a turn that ends loses little of it: records with their comments, those that failed before, and
// changed files.
func TestWhatTakesLongIsYieldedInParts(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{"README.md": "# The API\n\nText."}
	r.put(func(p *gitlabtest.Project) {
		for n := range 12 {
			one := gitlabtest.NewIssue(n+1, "Issue")
			one.Comments = []gitlabtest.Note{{Body: "A comment."}}
			p.Issues = append(p.Issues, one)
		}
		p.Commits = append(p.Commits, gitlabtest.Commit{Files: maps.Clone(files)})
	})
	_, _, end := r.must("files", nil)
	for n := range 12 {
		files[fmt.Sprintf("%d.md", n)] = "# A page\n\nText."
	}
	r.put(func(p *gitlabtest.Project) {
		p.Commits = append(p.Commits, gitlabtest.Commit{Files: maps.Clone(files)})
	})
	r.later()
	r.server.Before(func(path string, _ http.ResponseWriter) bool {
		if strings.Contains(path, "/notes") || strings.Contains(path, "/raw") {
			r.now = r.now.Add(20 * time.Second)
		}
		return false
	})
	in := func(kind string, a source.Access, at []byte) (end []byte) {
		t.Helper()
		read := 0
		for page, err := range r.c.Read(t.Context(), a, project+" "+kind, at) {
			if err != nil {
				t.Fatal(err)
			}
			if read, end = read+len(page.Items), page.Checkpoint; len(page.Items) > 5 {
				t.Errorf("%s: %d items in a page", kind, len(page.Items))
			}
		}
		if read != 12 {
			t.Errorf("%s: %d items", kind, read)
		}
		return end
	}
	in("files", r.access(), end.Checkpoint)
	a := r.access()
	at := in("issues", a, nil)
	for n := range 12 {
		a.Failed = append(a.Failed, fmt.Sprintf("%s/%s/-/issues/%d", r.server.URL, project, n+1))
	}
	in("issues", a, at)
}
