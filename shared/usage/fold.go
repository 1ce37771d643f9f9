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
	"unicode/utf8"

	"docent/shared/table"
)

// Rows are written by the hour, so that a call costs one add, and a report of one user or key would read
// what the whole team did. Fold copies the rows of past days, ordered by user and ordered by key, and marks the day
// when its copies are complete. A day without a mark is read from the rows by the hour: today, a day
// of few rows, and a day whose fold was interrupted or did not run. The first version copied
// by user alone; a mark says whether the day has both copies.

const (
	// MinFolded is the number of rows from which Fold folds a day: to read fewer costs little.
	MinFolded = 200
	// maxFolded bounds the memory of a fold. A day of more rows is not folded.
	maxFolded = 50_000
	// maxPart bounds one item of a day of a user or key, so that a Write of table.MaxOps items fits.
	maxPart = 30_000
)

const day = 24 * time.Hour

func userPartition(teamID string, at time.Time) string {
	return teamID + "/users/" + at.UTC().Format("2006-01")
}

func keyPartition(teamID string, at time.Time) string {
	return teamID + "/keys/" + at.UTC().Format("2006-01")
}

func foldedPartition(teamID string) string { return teamID + "/folded" }

// withKeys of a mark is 1 if the day is also copied by key.
const withKeys = "keys"

// foldedRow is a row per key of a user, or per user of a key, as Fold stores it.
type foldedRow struct {
	Hour    int              `json:"hour"` // of the day
	Feature string           `json:"feature"`
	Key     string           `json:"key,omitempty"`  // in the copy by user
	User    string           `json:"user,omitempty"` // in the copy by key; empty: none
	Client  string           `json:"client"`
	Numbers map[string]int64 `json:"numbers"`
}

// Fold orders the usage of the last days before end, a UTC midnight, by user and by key, unless that is done or
// not worth it. Nothing of these days may be counted any more, except latencies. It is idempotent, and may run
// twice at the same time.
func (c *Counter) Fold(ctx context.Context, teamID string, end time.Time, days int) error {
	start := end.Add(-time.Duration(days) * day)
	folded, err := c.folded(ctx, teamID, start, end, true)
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
	users, keys := map[string][][]byte{}, map[string][][]byte{} // the bodies of their items
	var failed error
	err := c.rows(ctx, teamID, at, at.Add(day), func(r row) (next bool) {
		n++
		if r.user != "" {
			users[r.user], failed = withRow(users[r.user], foldedRow{Hour: r.hour.Hour(), Feature: r.feature, Key: r.key, Client: r.client, Numbers: r.numbers})
		}
		if r.key != "" && failed == nil {
			keys[r.key], failed = withRow(keys[r.key], foldedRow{Hour: r.hour.Hour(), Feature: r.feature, User: r.user, Client: r.client, Numbers: r.numbers})
		}
		return failed == nil && n <= maxFolded
	})
	if err = errors.Join(err, failed); err != nil || n < MinFolded || n > maxFolded {
		return err
	}
	var ops []table.Op
	for partition, bodies := range map[string]map[string][][]byte{userPartition(teamID, at): users, keyPartition(teamID, at): keys} {
		for _, id := range sortedKeys(bodies) {
			for part, body := range bodies[id] {
				ops = append(ops, table.Put{Item: foldedItem(partition, id, at, part, body)})
			}
		}
	}
	for some := range slices.Chunk(ops, table.MaxOps) {
		if err := c.Table.Write(ctx, some...); err != nil {
			return err
		}
	}
	return c.Table.Write(ctx, table.Put{Item: table.Item{Expires: foldExpires(at), Numbers: map[string]int64{withKeys: 1},
		Key: table.Key{Table: table.Usage, Partition: foldedPartition(teamID), Sort: at.Format(time.DateOnly)}}})
}

// foldExpires returns when nobody can ask for a day any more.
func foldExpires(at time.Time) time.Time { return at.Add(day + MaxAge + pagesFor) }

// withRow appends a row to the last of bodies, or to a new one.
func withRow(bodies [][]byte, r foldedRow) ([][]byte, error) {
	line, err := json.Marshal(r)
	if last := len(bodies) - 1; last >= 0 && len(bodies[last])+len(line) < maxPart {
		bodies[last] = append(append(bodies[last], '\n'), line...)
		return bodies, err
	}
	return append(bodies, line), err
}

// foldedItem returns a part of the day of a user or key.
func foldedItem(partition, id string, at time.Time, part int, body []byte) table.Item {
	return table.Item{Body: body, Expires: foldExpires(at), Key: table.Key{Table: table.Usage, Partition: partition,
		Sort: fmt.Sprintf("%s#%s#%04d", id, at.Format(time.DateOnly), part)}}
}

// rowsFromFold returns the rows of an item of the day of a user, or of a key.
func rowsFromFold(item table.Item, ofKey bool) ([]row, error) {
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
		if ofKey {
			r.Key = parts[0]
		} else {
			r.User = parts[0]
		}
		rows = append(rows, row{hour: at.Add(time.Duration(r.Hour) * time.Hour), feature: r.Feature, key: r.Key, user: r.User, client: r.Client, numbers: r.Numbers})
	}
	return rows, nil
}

// folded returns the days from start to end, exclusive, that are folded; byKey: by key too.
func (c *Counter) folded(ctx context.Context, teamID string, start, end time.Time, byKey bool) (map[string]bool, error) {
	days := map[string]bool{}
	for item, err := range table.All(ctx, c.Table, table.Query{Table: table.Usage, Partition: foldedPartition(teamID),
		From: start.UTC().Format(time.DateOnly), To: end.UTC().Add(-time.Nanosecond).Format(time.DateOnly)}) {
		if err != nil {
			return nil, fmt.Errorf("read which usage is folded: %w", err)
		}
		days[item.Sort] = !byKey || item.Numbers[withKeys] == 1
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
	folded, err := c.folded(ctx, teamID, s.start, s.end, false)
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
		rows, err := rowsFromFold(item, false)
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

// reader is a function like Counter.rows.
type reader func(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error

// rowsOfUser returns a reader of the rows of one user.
func (c *Counter) rowsOfUser(user string) reader {
	return func(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error {
		if !inRows(user) {
			return nil
		}
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

// rowsOfKey returns a reader of the rows of one key. It keeps none, because one key may be used for a whole team.
func (c *Counter) rowsOfKey(key string) reader {
	return func(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error {
		if !inRows(key) {
			return nil
		}
		start, end = start.UTC().Truncate(time.Hour), end.UTC()
		folded, err := c.folded(ctx, teamID, start, end, true)
		if err != nil {
			return err
		}
		isFolded := func(at time.Time) bool { return folded[at.Format(time.DateOnly)] }
		ended := false
		read := func(r row) (next bool) {
			ended = r.key == key && !r.hour.Before(start) && r.hour.Before(end) && !yield(r)
			return !ended
		}
		for at := start; at.Before(end) && !ended && err == nil; {
			next := at.Truncate(day).Add(day)
			for next.Before(end) && isFolded(next) == isFolded(at) && (!isFolded(at) || next.Month() == at.Month()) {
				next = next.Add(day)
			}
			if isFolded(at) {
				err = c.foldedRowsOfKey(ctx, table.Query{Table: table.Usage, Partition: keyPartition(teamID, at),
					From: key + "#" + at.Format(time.DateOnly), To: key + "#" + next.Add(-day).Format(time.DateOnly) + "~"}, read)
			} else {
				err = c.rows(ctx, teamID, at, earlier(next, end), read)
			}
			at = next
		}
		return err
	}
}

// foldedRowsOfKey calls yield with the rows of the items of a key, until it returns false.
func (c *Counter) foldedRowsOfKey(ctx context.Context, q table.Query, yield func(row) (next bool)) error {
	for item, err := range table.All(ctx, c.Table, q) {
		if err != nil {
			return fmt.Errorf("read folded usage: %w", err)
		}
		rows, err := rowsFromFold(item, true)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !yield(r) {
				return nil
			}
		}
	}
	return nil
}

// inRows reports whether a row may have the id of a user or key, which may be any text of a client.
func inRows(id string) bool { return utf8.ValidString(id) && !strings.ContainsAny(id, "#\x00") }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
