package markdown_test

import (
	"testing"

	"docent/shared/extract/readers/markdown"
)

func TestWhatIsStruckThroughHasMarks(t *testing.T) {
	t.Parallel()
	type run struct {
		text   string
		struck bool
	}
	for want, runs := range map[string][]run{
		"":                        nil,
		"now 40":                  {{"now ", false}, {"40", false}},
		"~~old 50~~ now 40":       {{"old ", true}, {"50 ", true}, {"now 40", false}},
		"a ~~b~~ ~~c~~":           {{"a ", false}, {"b", true}, {" ", false}, {"c", true}},
		" \n":                     {{" \n", true}},
		"~~one~~\n\n ~~two~~ ":    {{"one\n\n two ", true}},
		"a ~~ b":                  {{"a ~~ b", true}},
		"~~[a](https://a.test)~~": {{"[a](https://a.test)", true}},
	} {
		var r markdown.Runs
		for _, run := range runs {
			r.Add(run.text, run.struck)
		}
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
