package search_test

import (
	"fmt"
	"testing"

	"docent/shared/search"
)

// TestConfidence compares pairs of questions: the documents answer the first one and not the
// second.
func TestConfidence(t *testing.T) {
	t.Parallel()
	x, lib, _ := newIndex(t)
	publish(t, x, lib,
		doc("wiki", "rome", "Rome was founded by Romulus on the Palatine hill. "+
			"Many walls were raised later, and their gates still stand. Trade with Carthage grew, and with it the port of Ostia.", 1),
		doc("wiki", "bread", "Bread needs flour, water and salt. The oven should be hot.", 1))
	for i := range 30 {
		publish(t, x, lib, doc("guide", fmt.Sprint("note", i), fmt.Sprintf("Note %d says that water and walls are everywhere.", i), 1))
	}
	cases := []struct{ name, there, missing string }{
		{"all words against some", "Who founded Rome on the Palatine?", "Who founded the bank of Rome in Paris?"},
		{"in one sentence against far apart", "Trade with Carthage and the port of Ostia", "Romulus and the port of hot Ostia"},
		{"a name that is there against one that is not", "Which gates did Rome raise?", "Which gates did Athens raise?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, there := ask(t, x, search.Query{Text: c.there})
			_, missing := ask(t, x, search.Query{Text: c.missing})
			if !there.Found() || there.Best[0].Confidence <= missing.Best[0].Confidence {
				t.Errorf("%.3f found %v, and %.3f", there.Best[0].Confidence, there.Found(), missing.Best[0].Confidence)
			}
		})
	}
}

func TestBlockUnderTheHeadingThatAsks(t *testing.T) {
	t.Parallel()
	a := answerTo(t, "What is the app of apps pattern?",
		"Bootstrapping", "## App Of Apps Pattern\n\nYou can create an app that creates other apps, which in turn can create other apps.\n\nIt is for administrators only.\n",
		"Deletion", "## Cascading\n\nWhen working with the app of apps pattern, deletion of apps cascades.\n",
		"Other", "Apps have a health.\n")
	if len(a.References) == 0 || a.References[0].Title != "Bootstrapping" {
		t.Errorf("answered by\n%s", a.Markdown)
	}
}
