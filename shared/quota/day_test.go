package quota_test

import (
	"testing"
	"time"

	"docent/shared/quota"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func TestDayOfAnInstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, instant, date, start, reset string }{
		{"just before midnight, winter", "2026-01-15T07:59:59.999999999Z", "2026-01-14", "2026-01-14T08:00:00Z", "2026-01-15T08:00:00Z"},
		{"midnight, winter", "2026-01-15T08:00:00Z", "2026-01-15", "2026-01-15T08:00:00Z", "2026-01-16T08:00:00Z"},
		{"just before midnight, summer", "2026-07-15T06:59:59Z", "2026-07-14", "2026-07-14T07:00:00Z", "2026-07-15T07:00:00Z"},
		{"midnight, summer", "2026-07-15T07:00:00Z", "2026-07-15", "2026-07-15T07:00:00Z", "2026-07-16T07:00:00Z"},
		{"the day of 23 hours", "2026-03-08T20:00:00Z", "2026-03-08", "2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z"},
		{"the day of 25 hours", "2026-11-01T20:00:00Z", "2026-11-01", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"},
		{"the repeated hour, first", "2026-11-01T08:30:00Z", "2026-11-01", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"},
		{"the repeated hour, second", "2026-11-01T09:30:00Z", "2026-11-01", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"},
		{"last day of a year", "2028-01-01T07:00:00Z", "2027-12-31", "2027-12-31T08:00:00Z", "2028-01-01T08:00:00Z"},
		{"leap day", "2028-02-29T12:00:00Z", "2028-02-29", "2028-02-29T08:00:00Z", "2028-03-01T08:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := quota.Window{Date: c.date, Start: at(t, c.start), Reset: at(t, c.reset)}
			if got := quota.Day(at(t, c.instant)); got != want {
				t.Errorf("Day = %+v, want %+v", got, want)
			}
			elsewhere := time.FixedZone("elsewhere", 5*3600+45*60)
			if got := quota.Day(at(t, c.instant).In(elsewhere)); got != want {
				t.Errorf("Day of the same instant in another zone = %+v, want %+v", got, want)
			}
		})
	}
}

func TestResetEpochs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		instant, date string
		reset         int64
	}{
		{"2026-11-22T07:59:59Z", "2026-11-21", 1795334400},
		{"2026-11-22T08:00:00Z", "2026-11-22", 1795420800},
	} {
		w := quota.Day(at(t, c.instant))
		if w.Date != c.date || w.Reset.Unix() != c.reset {
			t.Errorf("%s: day %s, reset %d; want %s, %d", c.instant, w.Date, w.Reset.Unix(), c.date, c.reset)
		}
	}
}

func TestLengthOfTheDay(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]int64{"2026-03-08": 82800, "2026-11-01": 90000, "2026-11-21": 86400} {
		w := quota.Day(at(t, date+"T20:00:00Z"))
		if w.Date != date || w.Seconds() != want {
			t.Errorf("%s: got %s with %d s, want %d s", date, w.Date, w.Seconds(), want)
		}
	}
}

// TestEverySeventeenMinutes checks twenty years: every instant is in its window, and
// windows follow each other without gap or overlap.
func TestEverySeventeenMinutes(t *testing.T) {
	t.Parallel()
	first, end := at(t, "2020-01-01T00:00:00Z"), at(t, "2040-01-01T00:00:00Z")
	before := quota.Day(first)
	instants, days := 0, 1
	for now := first; now.Before(end); now = now.Add(17 * time.Minute) {
		instants++
		w := quota.Day(now)
		if now.Before(w.Start) || !now.Before(w.Reset) {
			t.Fatalf("%s is outside of its window %+v", now, w)
		}
		if w == before {
			continue
		}
		days++
		if !w.Start.Equal(before.Reset) || now.Before(before.Reset) || w.Date <= before.Date {
			t.Fatalf("%s: window %+v follows %+v", now, w, before)
		}
		if last := quota.Day(before.Reset.Add(-time.Nanosecond)); last != before {
			t.Fatalf("the last instant of %+v is in %+v", before, last)
		}
		if next := quota.Day(before.Reset); next != w {
			t.Fatalf("the reset of %+v is in %+v, not in %+v", before, next, w)
		}
		before = w
	}
	if instants != 618_777 || days != 7306 {
		t.Errorf("walked %d instants in %d days, want 618777 in 7306", instants, days)
	}
}
