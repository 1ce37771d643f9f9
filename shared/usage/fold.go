package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/shared/table"
)

// Rows are written by the hour, so that a call costs one add, and a report of one user would read
// what the whole team did. Fold copies the rows of past days, ordered by user, and marks the day
// when its copy is complete. A day without a mark is read from the rows by the hour: today, a day
// of few rows, and a day whose fold was interrupted or did not run.

const (
	// MinFolded is the number of rows from which Fold folds a day: to read fewer costs little.
	MinFolded = 200
	// maxFolded bounds the memory of a fold. A day of more rows is not folded.
	maxFolded = 50_000
	// maxPart bounds one item of a user's day, so that a Write of table.MaxOps items fits.
	maxPart = 30_000
)

const day = 24 * time.Hour

func userPartition(teamID string, at time.Time) string {
	return teamID + "/users/" + at.UTC().Format("2006-01")
}

func foldedPartition(teamID string) string { return teamID + "/folded" }

// foldedRow is a row per key of a user, as Fold stores it.
type foldedRow struct {
	Hour    int              `json:"hour"` // of the day
	Feature string           `json:"feature"`
	Key     string           `json:"key"`
	Client  string           `json:"client"`
	Numbers map[string]int64 `json:"numbers"`
}

// Fold orders the usage of the last days before end, a UTC midnight, by user, unless that is done or
// not worth it. Nothing of these days may be counted any more, except latencies. It is idempotent, and may run
// twice at the same time.
func (c *Counter) Fold(ctx context.Context, teamID string, end time.Time, days int) error {
	start := end.Add(-time.Duration(days) * day)
	folded, err := c.folded(ctx, teamID, start, end)
	if err != nil {
		return err
	}
	for at := start; at.Before(end); at = at.Add(day) {
		if folded[at.Format(time.DateOnly)] {
			continue
		}
		if err := c.foldDay(ctx, teamID, at); err != nil {
			return fmt.Errorf("fold the usage of %s: %w", at.Format(time.DateOnly), err)
		}
	}
	return nil
}

func (c *Counter) foldDay(ctx context.Context, teamID string, at time.Time) error {
	n := 0
	users := map[string][][]byte{} // the bodies of their items
	var failed error
	err := c.rows(ctx, teamID, at, at.Add(day), func(r row) (next bool) {
		if n++; r.user != "" {
			users[r.user], failed = withRow(users[r.user], r)
		}
		return failed == nil && n <= maxFolded
	})
	if err = errors.Join(err, failed); err != nil || n < MinFolded || n > maxFolded {
		return err
	}
	var ops []table.Op
	for _, user := range sortedKeys(users) {
		for part, body := range users[user] {
			ops = append(ops, table.Put{Item: foldedItem(teamID, user, at, part, body)})
		}
	}
	for some := range slices.Chunk(ops, table.MaxOps) {
		if err := c.Table.Write(ctx, some...); err != nil {
			return err
		}
	}
	return c.Table.Write(ctx, table.Put{Item: table.Item{Expires: foldExpires(at),
		Key: table.Key{Table: table.Usage, Partition: foldedPartition(teamID), Sort: at.Format(time.DateOnly)}}})
}

// foldExpires returns when nobody can ask for a day any more.
func foldExpires(at time.Time) time.Time { return at.Add(day + MaxAge + pagesFor) }

// withRow appends a row to the last of bodies, or to a new one.
func withRow(bodies [][]byte, r row) ([][]byte, error) {
	line, err := json.Marshal(foldedRow{r.hour.Hour(), r.feature, r.key, r.client, r.numbers})
	if last := len(bodies) - 1; last >= 0 && len(bodies[last])+len(line) < maxPart {
		bodies[last] = append(append(bodies[last], '\n'), line...)
		return bodies, err
	}
	return append(bodies, line), err
}

// foldedItem returns a part of a user's day.
func foldedItem(teamID, user string, at time.Time, part int, body []byte) table.Item {
	return table.Item{Body: body, Expires: foldExpires(at), Key: table.Key{Table: table.Usage, Partition: userPartition(teamID, at),
		Sort: fmt.Sprintf("%s#%s#%04d", user, at.Format(time.DateOnly), part)}}
}

// rowsFromFold returns the rows of an item of a user's day.
func rowsFromFold(item table.Item) ([]row, error) {
	parts := strings.Split(item.Sort, "#")
	if len(parts) != 3 {
		return nil, fmt.Errorf("folded usage %q has an unknown form", item.Sort)
	}
	at, err := time.Parse(time.DateOnly, parts[1])
	if err != nil {
		return nil, fmt.Errorf("folded usage %q: %w", item.Sort, err)
	}
	var rows []row
	for line := range strings.Lines(string(item.Body)) {
		var r foldedRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("folded usage %q: %w", item.Sort, err)
		}
		rows = append(rows, row{hour: at.Add(time.Duration(r.Hour) * time.Hour), feature: r.Feature, key: r.Key, user: parts[0], client: r.Client, numbers: r.Numbers})
	}
	return rows, nil
}

// folded returns the days from start to end, exclusive, that are folded.
func (c *Counter) folded(ctx context.Context, teamID string, start, end time.Time) (map[string]bool, error) {
	days := map[string]bool{}
	for item, err := range table.All(ctx, c.Table, table.Query{Table: table.Usage, Partition: foldedPartition(teamID),
		From: start.UTC().Format(time.DateOnly), To: end.UTC().Add(-time.Nanosecond).Format(time.DateOnly)}) {
		if err != nil {
			return nil, fmt.Errorf("read which usage is folded: %w", err)
		}
		days[item.Sort] = true
	}
	return days, nil
}

// userSpan selects rows of users in the hours from start to end, exclusive.
type userSpan struct {
	start, end time.Time
	user       string // only this user; empty: all after the next field
	after      string
	limit      int // with all: every row of the first users, at least this many, and perhaps some of others
}

func (s userSpan) wants(r row) bool {
	return r.user != "" && (s.user == "" && r.user > s.after || s.user != "" && r.user == s.user) &&
		!r.hour.Before(s.start) && r.hour.Before(s.end)
}

// userRows calls yield with the rows of s, in any order. It reads what these users did on folded
// days, and what the team did on the others.
func (c *Counter) userRows(ctx context.Context, teamID string, s userSpan, yield func(row)) error {
	s.start, s.end = s.start.UTC().Truncate(time.Hour), s.end.UTC()
	folded, err := c.folded(ctx, teamID, s.start, s.end)
	if err != nil {
		return err
	}
	isFolded := func(at time.Time) bool { return folded[at.Format(time.DateOnly)] }
	months := map[string]bool{}
	for at := s.start; at.Before(s.end); {
		next := at.Truncate(day).Add(day)
		if isFolded(at) {
			months[userPartition(teamID, at)] = true
			at = next
			continue
		}
		for next.Before(s.end) && !isFolded(next) {
			next = next.Add(day)
		}
		if err := c.rows(ctx, teamID, at, earlier(next, s.end), func(r row) bool {
			if s.wants(r) {
				yield(r)
			}
			return true
		}); err != nil {
			return err
		}
		at = next
	}
	for _, partition := range slices.Sorted(maps.Keys(months)) {
		if err := c.foldedRows(ctx, partition, s, folded, yield); err != nil {
			return err
		}
	}
	return nil
}

// foldedRows calls yield with the rows of s in one month that are of folded days.
func (c *Counter) foldedRows(ctx context.Context, partition string, s userSpan, folded map[string]bool, yield func(row)) error {
	q := table.Query{Table: table.Usage, Partition: partition}
	switch {
	case s.user != "":
		q.From, q.To = s.user+"#"+s.start.Format(time.DateOnly), s.user+"#"+s.end.Format(time.DateOnly)+"~"
	case s.after != "":
		q.From = s.after + "$" // the character after #
	}
	if s.user == "" {
		q.Limit = min(s.limit, 1000) + 1
	}
	users, last := 0, ""
	for item, err := range table.All(ctx, c.Table, q) {
		if err != nil {
			return fmt.Errorf("read folded usage: %w", err)
		}
		rows, err := rowsFromFold(item)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !s.wants(r) || !folded[r.hour.Format(time.DateOnly)] {
				continue
			}
			if r.user != last {
				if users++; s.user == "" && users > s.limit {
					return nil
				}
				last = r.user
			}
			yield(r)
		}
	}
	return nil
}

// rowsOfUser returns a function like Counter.rows for the rows of one user.
func (c *Counter) rowsOfUser(user string) func(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error {
	return func(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error {
		var found []row
		if err := c.userRows(ctx, teamID, userSpan{start: start, end: end, user: user}, func(r row) { found = append(found, r) }); err != nil {
			return err
		}
		slices.SortStableFunc(found, func(a, b row) int { return a.hour.Compare(b.hour) })
		for _, r := range found {
			if !yield(r) {
				break
			}
		}
		return nil
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
