package pause_test

import (
	"fmt"
	"testing"
	"time"

	"docent/shared/pause"
)

func TestSeldomIsDueOnceInEachPeriod(t *testing.T) {
	t.Parallel()
	var s pause.Seldom
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		name string
		at   time.Duration
		want bool
	}{
		{"a", 0, true}, {"a", 59 * time.Minute, false}, {"b", 59 * time.Minute, true},
		{"a", time.Hour, true}, {"b", time.Hour, false},
		{"a", -time.Hour, true}, // the clock was set back
		{"a", -time.Minute, false},
	} {
		if got := s.Due(step.name, start.Add(step.at), time.Hour); got != step.want {
			t.Errorf("%s after %v: %v", step.name, step.at, got)
		}
	}
}

func TestSeldomRemembersABoundedNumberOfNames(t *testing.T) {
	t.Parallel()
	var s pause.Seldom
	now, due := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 0
	for n := range 1500 {
		if s.Due(fmt.Sprint(n), now, time.Hour) {
			due++
		}
	}
	if due != 1000 {
		t.Errorf("%d were due", due)
	}
	if !s.Due("1499", now.Add(time.Hour), time.Hour) {
		t.Error("none is due an hour later")
	}
}
