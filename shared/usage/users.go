package usage

import (
	"context"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
)

// User has the activity of one user in a span of time.
type User struct {
	UserID                      string
	Questions, ContextCalls     int64
	ActiveDays                  int       // UTC
	FirstActiveAt, LastActiveAt time.Time // to the hour
	Features                    []string
	days                        map[string]bool
	features                    map[string]bool
}

// UserQuery selects users in a span of time.
type UserQuery struct {
	Start, End time.Time
	UserID     string // only this user; empty: all
	After      string // only users whose id is higher; empty: all
	Limit      int    // the most users, at least 1
}

// Users returns the activity of the users of q in the order of their ids, and whether there are more than its limit. now is the time of
// the request.
func (c *Counter) Users(ctx context.Context, teamID string, now time.Time, q UserQuery) ([]User, bool, error) {
	span := Query{Start: q.Start, End: q.End, Granularity: Hour}
	if q.After != "" {
		span.After = q.Start
	}
	if err := span.check(now); err != nil {
		return nil, false, err
	}
	users := map[string]*User{}
	err := c.userRows(ctx, teamID, userSpan{q.Start, q.End, q.UserID, q.After, q.Limit + 1}, func(r row) {
		u := users[r.user]
		if u == nil {
			u = &User{UserID: r.user, FirstActiveAt: r.hour, days: map[string]bool{}, features: map[string]bool{}}
			users[r.user] = u
		}
		u.add(r)
	})
	if err != nil {
		return nil, false, err
	}
	var page []User
	for _, id := range sortedKeys(users) {
		if id <= q.After {
			continue
		}
		if len(page) == q.Limit {
			return page, true, nil
		}
		u := *users[id]
		u.ActiveDays, u.Features = len(u.days), sortedKeys(u.features)
		page = append(page, u)
	}
	return page, false, nil
}

func (u *User) add(r row) {
	u.Questions += r.numbers[Accepted]
	if strings.HasPrefix(r.feature, contextPrefix) {
		u.ContextCalls += r.numbers[OK] + r.numbers[Refused] + r.numbers[Error]
	}
	if r.hour.Before(u.FirstActiveAt) {
		u.FirstActiveAt = r.hour
	}
	if r.hour.After(u.LastActiveAt) {
		u.LastActiveAt = r.hour
	}
	u.days[r.hour.Format(time.DateOnly)] = true
	u.features[r.feature] = true
}

// ParseZone returns the time zone with an IANA name. An invalid name, Local included, is an
// *apierr.Error.
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	// Local and, with a small letter, localtime, posix/ and right/ are what some machines have besides.
	if err != nil || name == "Local" || name != "" && (name[0] < 'A' || name[0] > 'Z') || slices.Contains(strings.Split(name, "/"), "..") {
		return nil, apierr.BadField("/query/timeZone", "must be the IANA name of a time zone")
	}
	return zone, nil
}

// ParseTime parses a time as jsoninput.ParseQueryTime does, or a date in zone.
func ParseTime(field, text string, zone *time.Location) (time.Time, error) {
	if t, err := jsoninput.ParseQueryTime(text); err == nil && t.Year() > 0 && t.Year() < 9999 {
		return t, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, text, zone)
	if err != nil || t.Year() < 1 || t.Year() > 9998 {
		return t, apierr.BadField("/query/"+field, "must be an RFC 3339 time or a date")
	}
	return t, nil
}
