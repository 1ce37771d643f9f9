package search_test

import (
	"strings"
	"testing"

	"docent/shared/search"
)

func TestWhatIsGivenSaysEachHeadingOnce(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, title, body, question, want string }{
		{"a heading path", "Runbook", "## Deploying\n\n### Rolling back\n\nRun undo.", "rolling back",
			"Runbook\nDeploying > Rolling back\nRun undo."},
		{"a first heading that is the title", "Runbook", "# Runbook\n\nRun undo.", "undo", "Runbook\nRun undo."},
		{"the title, then a section", "Runbook", "# Runbook\n\n## Rolling back\n\nRun undo.", "undo", "Runbook\nRolling back\nRun undo."},
		{"a first heading that is not the title", "Runbook", "# Undoing\n\nRun undo.", "undo", "Runbook\n# Undoing\n\nRun undo."},
		{"plain text", "", "Run undo.", "undo", "Run undo."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, lib, _ := newIndex(t)
			publish(t, x, lib, doc("wiki", c.title, c.body, 1))
			_, r := ask(t, x, search.Query{Text: c.question})
			if len(r.Best) != 1 {
				t.Fatalf("%d passages", len(r.Best))
			}
			if got := strings.ReplaceAll(r.Best[0].Standalone(), "\n\n", "\n"); got != strings.ReplaceAll(c.want, "\n\n", "\n") {
				t.Errorf("given:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
