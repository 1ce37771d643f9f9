package backtick_test

import (
	"strings"
	"testing"

	"docent/shared/backtick"
	"docent/shared/growthtest"
)

func TestAFenceIsLongerThanAnyRunInTheCode(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines []string
		want  int
	}{
		"no line":              {nil, 3},
		"no backtick":          {[]string{"a", "~~~~"}, 3},
		"short runs":           {[]string{"`a` ``b``"}, 3},
		"a fence":              {[]string{"a", "```", "b"}, 4},
		"a long run at an end": {[]string{"a ````` b ``", "``````"}, 7},
		"runs of other lines":  {[]string{"```", "```"}, 4},
		"after other letters":  {[]string{"é````é"}, 5},
	} {
		if got := backtick.Fence(tt.lines...); got != strings.Repeat("`", tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAFenceCostsAsMuchAsItsCode(t *testing.T) {
	growthtest.Linear(t, 20_000, func(n int) { backtick.Fence(strings.Repeat("`", n)) })
}
