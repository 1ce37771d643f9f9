package question

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The words of dates. All dates are in UTC.
var (
	months = map[string]time.Month{"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4,
		"may": 5, "june": 6, "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sep": 9, "sept": 9,
		"october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12}
	weekdays = map[string]time.Weekday{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6}
	counts   = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
		"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
	units   = map[string]string{"day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month", "months": "month", "quarter": "quarter", "quarters": "quarter", "year": "year", "years": "year"}
	isoDate = regexp.MustCompile(`^(\d{4})-(\d{2})(?:-(\d{2}))?$`)
	year    = regexp.MustCompile(`^(?:19[7-9]\d|20\d\d)$`)
	dayNum  = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`)
)

// period is a time from begin, inclusive, to end, exclusive.
type period struct{ begin, end time.Time }

func days(begin time.Time, n int) period { return period{begin, begin.AddDate(0, 0, n)} }

func day(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }

// unitOf returns the calendar week (from Monday), month, quarter or year of t;
// otherwise its day.
func unitOf(unit string, t time.Time) period {
	t = day(t)
	switch unit {
	case "week":
		return days(t.AddDate(0, 0, -(int(t.Weekday())+6)%7), 7)
	case "month":
		begin := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		return period{begin, begin.AddDate(0, 1, 0)}
	case "quarter":
		begin := time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
		return period{begin, begin.AddDate(0, 3, 0)}
	case "year":
		begin := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		return period{begin, begin.AddDate(1, 0, 0)}
	default:
		return days(t, 1)
	}
}

// back returns t moved n units into the past.
func back(t time.Time, n int, unit string) time.Time {
	switch unit {
	case "week":
		return t.AddDate(0, 0, -7*n)
	case "month":
		return t.AddDate(0, -n, 0)
	case "quarter":
		return t.AddDate(0, -3*n, 0)
	case "year":
		return t.AddDate(-n, 0, 0)
	default:
		return t.AddDate(0, 0, -n)
	}
}

// maxCount bounds a number of units; more is not a date.
const maxCount = 1000

func countOf(word string) (int, bool) {
	if n, ok := counts[word]; ok {
		return n, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n > 0 && n <= maxCount
}

// dateAt reads the date at the start of words and returns how many words it is; 0
// for none. bare allows words with other meanings: a year, a month.
func dateAt(words []string, now time.Time, bare bool) (period, int) {
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	today := day(now)
	word := at(0)
	if word == "the" {
		p, n := dateAt(words[1:], now, bare)
		if n > 0 {
			n++
		}
		return p, n
	}
	if m := isoDate.FindStringSubmatch(word); m != nil {
		if m[3] == "" {
			t, err := time.Parse("2006-01", word)
			return unitOf("month", t), taken(err == nil, 1)
		}
		t, err := time.Parse(time.DateOnly, word)
		return days(t, 1), taken(err == nil, 1)
	}
	switch word {
	case "today":
		return days(today, 1), 1
	case "yesterday":
		return days(today.AddDate(0, 0, -1), 1), 1
	case "this", "last", "past", "previous":
		return relative(word, at, now)
	}
	if n, ok := countOf(word); ok { // "3 days ago", "a couple of weeks ago"
		i := 1
		if word == "a" {
			if more, ok := counts[at(1)]; ok && at(1) != "a" {
				n, i = more, 2
			}
		}
		if at(i) == "of" {
			i++
		}
		if unit, ok := units[at(i)]; ok && at(i+1) == "ago" {
			return days(back(today, n, unit), 1), i + 2
		}
	}
	if weekday, ok := weekdays[word]; ok {
		return days(lastWeekday(today, weekday), 1), 1
	}
	if !bare {
		return period{}, 0
	}
	if p, n := monthAt(at, now); n > 0 {
		return p, n
	}
	if year.MatchString(word) {
		t, err := time.Parse("2006", word)
		return unitOf("year", t), taken(err == nil, 1)
	}
	return period{}, 0
}

func taken(ok bool, n int) int {
	if !ok {
		return 0
	}
	return n
}

// lastWeekday returns the last such day before today.
func lastWeekday(today time.Time, weekday time.Weekday) time.Time {
	ago := (int(today.Weekday()) - int(weekday) + 7) % 7
	if ago == 0 {
		ago = 7
	}
	return today.AddDate(0, 0, -ago)
}

// relative reads "this week", "last month", "last 7 days", "past two weeks", "last
// March" and "last Monday".
func relative(word string, at func(int) string, now time.Time) (period, int) {
	if unit, ok := units[at(1)]; ok && unit != "day" {
		this := unitOf(unit, now)
		if word == "this" {
			return this, 2
		}
		if word == "past" { // the past week: seven days until now
			return period{back(day(now), 1, unit), day(now).AddDate(0, 0, 1)}, 2
		}
		return unitOf(unit, this.begin.AddDate(0, 0, -1)), 2
	}
	if word == "this" {
		return period{}, 0
	}
	if n, ok := countOf(at(1)); ok {
		i := 2
		if at(1) == "couple" && at(2) == "of" {
			i++
		}
		if unit, ok := units[at(i)]; ok {
			return period{back(day(now), n, unit), day(now).AddDate(0, 0, 1)}, i + 1
		}
		return period{}, 0
	}
	if weekday, ok := weekdays[at(1)]; ok {
		return days(lastWeekday(day(now), weekday), 1), 2
	}
	if month, ok := months[at(1)]; ok {
		return lastMonth(month, unitOf("month", now).begin.AddDate(0, 0, -1)), 2
	}
	return period{}, 0
}

// lastMonth returns the last such month that has started by now.
func lastMonth(month time.Month, now time.Time) period {
	y := now.Year()
	if month > now.Month() {
		y--
	}
	return unitOf("month", time.Date(y, month, 1, 0, 0, 0, 0, time.UTC))
}

// monthAt reads "March", "March 2025", "March 3", "March 3rd 2025", "3 March" and
// "3rd of March 2025".
func monthAt(at func(int) string, now time.Time) (period, int) {
	i, dayOfMonth := 0, 0
	if m := dayNum.FindStringSubmatch(at(0)); m != nil {
		dayOfMonth, _ = strconv.Atoi(m[1])
		if i = 1; at(1) == "of" {
			i = 2
		}
	}
	month, ok := months[at(i)]
	if !ok {
		return period{}, 0
	}
	i++
	if dayOfMonth == 0 {
		if m := dayNum.FindStringSubmatch(at(i)); m != nil {
			dayOfMonth, _ = strconv.Atoi(m[1])
			i++
		}
	}
	p := lastMonth(month, now)
	if year.MatchString(at(i)) {
		y, _ := strconv.Atoi(at(i))
		p = unitOf("month", time.Date(y, month, 1, 0, 0, 0, 0, time.UTC))
		i++
	}
	if dayOfMonth == 0 {
		return p, i
	}
	t := p.begin.AddDate(0, 0, dayOfMonth-1)
	if dayOfMonth > 31 || t.Month() != month {
		return period{}, 0
	}
	if t.After(now) && !year.MatchString(at(i-1)) {
		t = t.AddDate(-1, 0, 0)
	}
	return days(t, 1), i
}

func lower(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}
