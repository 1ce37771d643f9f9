package growthtest_test

import (
	"strings"
	"testing"

	"docent/shared/growthtest"
)

// recorder notes whether a test failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestTheSquareIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(n int)
		fail bool
	}{
		"appended": {func(n int) {
			var b strings.Builder
			for range n {
				b.WriteString("some text")
			}
		}, false},
		"copied for each part": {func(n int) {
			text := ""
			for range n {
				text += "some text"
			}
		}, true},
		"nothing": {func(int) {}, false},
	} {
		r := &recorder{TB: t}
		if growthtest.Linear(r, 2000, tt.do); r.failed != tt.fail {
			t.Errorf("%s: fails: %v, want %v", name, r.failed, tt.fail)
		}
	}
}
