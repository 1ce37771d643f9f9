package github_test

import (
	"testing"

	"docent/shared/connect/github/githubtest"
)

// TestWhatIsSwitchedOffIsEmpty: a repository may have no issues or no pull requests, and that is no failure of the source.
func TestWhatIsSwitchedOffIsEmpty(t *testing.T) {
	t.Parallel()
	for kind, off := range map[string]func(*githubtest.Repository){
		"issues":          func(x *githubtest.Repository) { x.NoIssues = true },
		"comments":        func(x *githubtest.Repository) { x.NoIssues = true },
		"review comments": func(x *githubtest.Repository) { x.NoPulls = true },
		"reviews":         func(x *githubtest.Repository) { x.NoPulls = true },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			pull := r.server.NewPull("acme/api", 2, "A pull request")
			r.put(func(x *githubtest.Repository) {
				x.Issues = []githubtest.Issue{r.server.NewIssue("acme/api", 1, "An issue"), pull}
				x.Comments = []githubtest.Comment{r.server.NewComment("acme/api", 3, x.Issues[0], "A comment.")}
				x.Reviews = []githubtest.Comment{r.server.NewReview("acme/api", 4, pull, "On a line.")}
				x.Verdicts = []githubtest.Review{r.server.NewVerdict(5, pull, "Well done.")}
			})
			before, _, known := r.mustRead(kind, nil)
			r.put(off)
			items, _, end, err := r.part(kind, nil)
			if len(before) == 0 || len(items) > 0 || err != nil || !end.Last || !end.Exact {
				t.Errorf("%d items before, %d now, exact %v, %v", len(before), len(items), end.Exact, err)
			}
			if _, _, end, err := r.part(kind, known); err != nil || end.Exact || string(end.Checkpoint) != string(known) {
				t.Errorf("from %s: %s, exact %v, %v", known, end.Checkpoint, end.Exact, err)
			}
			r.put(func(x *githubtest.Repository) { x.NoIssues, x.NoPulls, x.Missing = false, false, true })
			if _, _, _, err := r.part(kind, nil); err == nil {
				t.Error("a repository that is not visible is empty")
			}
		})
	}
}
