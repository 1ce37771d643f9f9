package main

import "testing"

func TestAHeadingIsPrintedOnce(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"Undo\n\n## Undo\n\nRun it.":       "## Undo\n\nRun it.",
		"Guide > Undo\n\n## Undo\n\nRun":   "Guide > Undo\n\n## Undo\n\nRun",
		"Guide > Undo\n\nRun it.\n\nThen.": "Guide > Undo\n\nRun it.\n\nThen.",
		"Undo\n\nUndo it.":                 "Undo\n\nUndo it.",
		"Undo":                             "Undo",
		"":                                 "",
	} {
		if got := withoutPath(content); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}
