package app

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/clocktest"
	"docent/shared/logtest"
)

// TestLongJumpsOfTheClock: each step says how long the process has run, how far its clock has moved besides, and whether what has expired
// stays.
func TestLongJumpsOfTheClock(t *testing.T) {
	t.Parallel()
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	type step struct {
		running, moved time.Duration
		kept           bool
	}
	for name, steps := range map[string][]step{
		"a clock that runs":                    {{0, 0, false}, {day, 0, false}, {3 * year, 0, false}},
		"ahead by an hour, as in a short rest": {{time.Minute, time.Hour, false}, {day, time.Hour, false}},
		"a year ahead, and set right":          {{time.Minute, year, true}, {time.Hour, year, true}, {2 * time.Hour, 0, false}, {day, 0, false}},
		"a year ahead for more than a day":     {{time.Minute, year, true}, {day, year, true}, {day + time.Minute, year, false}, {2 * day, year, false}},
		"and set right then, and again ahead":  {{time.Minute, year, true}, {2 * day, year, false}, {2*day + 1, 0, false}, {3 * day, year, true}},
		"a year back, and set right":           {{time.Minute, -year, false}, {time.Hour, 0, true}, {day, 0, true}, {day + time.Hour, 0, false}},
		"ahead as the process begins":          {{0, year, true}, {day, year, true}, {day + 1, year, false}},
		"ahead twice within a day":             {{time.Minute, year, true}, {time.Hour, 2 * year, true}, {day + time.Minute, 2 * year, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := jumpWatch{begun: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}
			before := false
			for _, s := range steps {
				kept, first := w.jumped(w.begun.Add(s.running+s.moved), s.running)
				if kept != s.kept || first != (kept && !before) {
					t.Errorf("after %s with the clock moved by %s: %t, first %t", s.running, s.moved, kept, first)
				}
				before = kept
			}
		})
	}
}

// TestAClockAYearAheadRemovesNothingAtOnce: the feed of security events is there when the clock is set right.
func TestAClockAYearAheadRemovesNothingAtOnce(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC))
	log := &logtest.Buffer{}
	l, err := OpenLocal(t.Context(), t.TempDir(), LocalOptions{Log: slog.New(slog.NewTextHandler(log, nil)), Now: clock.Now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	made, _, err := l.Teams.CreateTeam(t.Context(), "acme", "ada")
	if err != nil {
		t.Fatal(err)
	}
	events := func() int {
		t.Helper()
		page, err := l.events.Feed(t.Context(), made.ID, audit.Query{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Events)
	}
	before := events()
	const ahead = 400 * 24 * time.Hour
	clock.Advance(ahead)
	for range 3 {
		l.tidy(t.Context(), l.log)
	}
	clock.Advance(-ahead)
	l.tidy(t.Context(), l.log)
	if got := events(); got != before || before == 0 {
		t.Errorf("%d events, want %d", got, before)
	}
	if n := strings.Count(log.String(), "the clock jumped ahead"); n != 1 {
		t.Errorf("%d lines of the log about it: %s", n, log)
	}
}
