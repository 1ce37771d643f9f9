package question

import (
	"strings"
	"time"

	"docent/shared/search"
)

// dated takes a date with its preposition.
func dated(r *reader) int {
	span, n := r.dateFrom(0)
	if n == 0 {
		return 0
	}
	r.put(r.verb, span)
	return n
}

// put narrows the span of field, which is created, updated or completed.
func (r *reader) put(field string, s Span) {
	to := &r.filter.Created
	switch field {
	case "updated":
		to = &r.filter.Updated
	case "completed":
		to = &r.filter.Completed
	}
	if !s.After.IsZero() {
		to.After = s.After
	}
	if !s.Before.IsZero() {
		to.Before = s.Before
	}
}

// dateFrom reads a date and its preposition at n, and returns how many words they
// are; 0 for none.
func (r *reader) dateFrom(n int) (Span, int) {
	at := func(n int, bare bool) (period, int) {
		if i := r.at + n; i < len(r.lower) {
			return dateAt(r.lower[i:], r.now, bare)
		}
		return period{}, 0
	}
	two := func(skip int, joint ...string) (Span, int) {
		p, a := at(n+skip, true)
		if a == 0 || r.any(n+skip+a, joint...) == 0 {
			return Span{}, 0
		}
		q, b := at(n+skip+a+1, true)
		if b == 0 {
			return Span{}, 0
		}
		return Span{p.begin, q.end}, skip + a + 1 + b
	}
	one := func(span func(period) Span) (Span, int) {
		p, a := at(n+1, true)
		if a == 0 {
			return Span{}, 0
		}
		return span(p), 1 + a
	}
	within := func(p period) Span { return Span{p.begin, p.end} }
	switch r.peek(n) {
	case "since":
		return one(func(p period) Span { return Span{After: p.begin} })
	case "after":
		return one(func(p period) Span { return Span{After: p.end} })
	case "before":
		return one(func(p period) Span { return Span{Before: p.begin} })
	case "until", "till":
		return one(func(p period) Span { return Span{Before: p.end} })
	case "between":
		return two(1, "and")
	case "from":
		if s, taken := two(1, "to", "until", "till"); taken > 0 {
			return s, taken
		}
		return one(within)
	case "in", "on", "during", "within", "over", "for":
		return one(within)
	case "older", "newer":
		if r.peek(n+1) == "than" {
			return r.aged(n)
		}
	case "the":
		return Span{}, 0
	}
	p, taken := at(n, false)
	if taken == 0 {
		return Span{}, 0
	}
	return within(p), taken
}

// aged reads "older than 30 days" and "newer than March".
func (r *reader) aged(n int) (Span, int) {
	older := r.peek(n) == "older"
	if count, ok := countOf(r.peek(n + 2)); ok {
		if unit, ok := units[r.peek(n+3)]; ok {
			border := back(day(r.now), count, unit)
			if older {
				return Span{Before: border}, 4
			}
			return Span{After: border}, 4
		}
	}
	if i := r.at + n + 2; i < len(r.lower) {
		if p, taken := dateAt(r.lower[i:], r.now, true); taken > 0 {
			if older {
				return Span{Before: p.begin}, 2 + taken
			}
			return Span{After: p.end}, 2 + taken
		}
	}
	return Span{}, 0
}

// qualifier takes name:value.
func qualifier(r *reader) int {
	name, value, ok := strings.Cut(r.text(0), ":")
	if !ok || value == "" || strings.HasPrefix(value, "//") {
		return 0
	}
	name = strings.ToLower(name)
	switch low := strings.ToLower(value); name {
	case "is", "state", "status":
		to, known := states[low]
		if known && (to != merged || r.space == search.PRs) {
			r.filter.State = to
			return 1
		}
		if name == "is" && (low == "issue" || low == "pr") {
			return 1
		}
		return 0
	case "author", "user", "assignee":
		r.filter.User, r.filter.Role = strings.TrimLeft(value, "@"), Role(name)
		if name == "user" {
			r.filter.Role = ""
		}
		if strings.EqualFold(r.filter.User, Me) {
			r.filter.User = Me
		}
		if r.filter.User == "" {
			r.filter.Role = ""
			return 0
		}
		return 1
	case "label":
		r.filter.Labels = append(r.filter.Labels, value)
		return 1
	case "repo", "repository", "project":
		r.filter.Projects = append(r.filter.Projects, value)
		return 1
	case "sort":
		for _, o := range []Order{ByRelevance, ByCreated, ByUpdated} {
			if low == string(o) || low == string(o)+"-desc" {
				r.filter.Sort = o
				return 1
			}
		}
		return 0
	case "created", "updated", "closed", "merged", "completed":
		span, ok := comparison(low, r.now)
		if !ok {
			return 0
		}
		if name == "closed" || name == "merged" {
			name = "completed"
		}
		r.put(name, span)
		return 1
	}
	return 0
}

// comparison reads ">=2026-03-01", "<2026-04", "2026-03-01..2026-03-31" and
// "2026-03".
func comparison(text string, now time.Time) (Span, bool) {
	read := func(text string) (period, bool) {
		if !isoDate.MatchString(text) {
			return period{}, false
		}
		p, n := dateAt([]string{text}, now, false)
		return p, n == 1
	}
	if from, to, ok := strings.Cut(text, ".."); ok {
		p, first := read(from)
		q, second := read(to)
		return Span{p.begin, q.end}, first && second
	}
	for _, sign := range []string{">=", "<=", ">", "<", ""} {
		rest, ok := strings.CutPrefix(text, sign)
		if !ok {
			continue
		}
		p, ok := read(rest)
		switch sign {
		case ">=":
			return Span{After: p.begin}, ok
		case "<=":
			return Span{Before: p.end}, ok
		case ">":
			return Span{After: p.end}, ok
		case "<":
			return Span{Before: p.begin}, ok
		default:
			return Span{p.begin, p.end}, ok
		}
	}
	return Span{}, false
}
