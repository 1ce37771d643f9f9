package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/shared/apierr"
)

// MaxBuckets limits the buckets of one page.
const MaxBuckets = 200

// Granularities of a report.
const (
	Hour  = "hour"
	Day   = "day"
	Month = "month"
)

// Dimensions that a report groups by.
const (
	ByFeature    = "feature"
	ByUser       = "user"
	ByAPIKey     = "apiKey"
	ByClient     = "client"
	ByCollection = "collection"
	ByDataSource = "dataSource"
)

// Query selects a report.
type Query struct {
	Start, End  time.Time // at most MaxAge ago; extended to whole buckets
	Granularity string
	Zone        *time.Location
	GroupBy     []string // at most 2
	Feature     string
	UserID      string
	APIKeyID    string
	Collection  string
	Limit       int       // buckets, 1 to MaxBuckets
	MaxResults  int       // of a page; a bucket of more is divided; 0: no limit
	After       time.Time // Next of the last bucket read; zero: from Start
	AfterGroup  string    // NextGroup of the last bucket read
}

// Bucket is a span of time with its counts.
type Bucket struct {
	Start, End time.Time
	Results    []Result // in the order of their dimensions
	// Next and NextGroup are where the page after this bucket begins: at its end, or within it if it is divided.
	Next      time.Time
	NextGroup string
}

// Result is one group. A dimension is nil if the report is not grouped by it, and points
// to an empty string for calls without one, such as calls without a user.
type Result struct {
	Feature, UserID, APIKeyID, Client, CollectionID, DataSourceID *string
	ActiveUsers                                                   *int // if there is no grouping
	Metrics                                                       Metrics
}

// pagesFor is how long a report that starts at most MaxAge ago can be read, page by page; its rows are kept for that long.
const pagesFor = 24 * time.Hour

// check returns an error for a query that cannot be answered. now is the current time.
func (q Query) check(now time.Time) error {
	oldest := now.Add(-MaxAge)
	if !q.After.IsZero() {
		oldest = oldest.Add(-pagesFor)
	}
	switch {
	case q.Start.Before(oldest):
		return apierr.BadField("/query/start", "must be at most %d days ago", MaxAge/(24*time.Hour))
	case q.End.After(now.Add(MaxAge)):
		return apierr.BadField("/query/end", "must be at most %d days ahead", MaxAge/(24*time.Hour))
	case !q.End.After(q.Start):
		return apierr.BadField("/query/end", "must be after start")
	case !slices.Contains([]string{Hour, Day, Month}, q.Granularity):
		return apierr.BadField("/query/granularity", "must be hour, day or month")
	case q.Feature != "" && !slices.Contains(Features, q.Feature):
		return apierr.BadField("/query/feature", "must be one of %s", strings.Join(Features, ", "))
	case q.Collection != "" && (q.UserID != "" || q.APIKeyID != ""):
		return apierr.BadField("/query/collectionId", "must not be given with userId or apiKeyId")
	}
	return q.checkGroups()
}

func (q Query) checkGroups() error {
	bySource, byCaller := false, false
	for i, g := range q.GroupBy {
		switch g {
		case ByFeature:
		case ByUser, ByAPIKey, ByClient:
			byCaller = true
		case ByCollection, ByDataSource:
			if bySource {
				return apierr.BadField("/query/groupBy", "collection and dataSource cannot be combined")
			}
			bySource = true
		default:
			return apierr.BadField("/query/groupBy", "must be feature, user, apiKey, client, collection or dataSource; give it twice for two of them")
		}
		if slices.Contains(q.GroupBy[:i], g) {
			return apierr.BadField("/query/groupBy", "names %s twice", g)
		}
	}
	switch {
	case len(q.GroupBy) > 2:
		return apierr.BadField("/query/groupBy", "must have at most two values")
	case bySource && byCaller, q.Collection != "" && byCaller:
		return apierr.BadField("/query/groupBy", "usage per collection cannot be grouped or filtered by user, key or client")
	case bySource && (q.UserID != "" || q.APIKeyID != ""):
		return apierr.BadField("/query/groupBy", "usage per collection cannot be grouped or filtered by user, key or client")
	}
	return nil
}

// sources reports whether the rows per source answer q.
func (q Query) sources() bool {
	return q.Collection != "" || slices.Contains(q.GroupBy, ByCollection) || slices.Contains(q.GroupBy, ByDataSource)
}

func (q Query) wants(r row) bool {
	if (r.source != "") != q.sources() {
		return false
	}
	return (q.Feature == "" || q.Feature == r.feature) && (q.UserID == "" || q.UserID == r.user) &&
		(q.APIKeyID == "" || q.APIKeyID == r.key) && (q.Collection == "" || q.Collection == r.source)
}

// floor returns the start of the bucket that contains t.
func (q Query) floor(t time.Time) time.Time {
	y, m, d := t.In(q.Zone).Date()
	switch q.Granularity {
	case Day:
		return q.midnight(y, m, d)
	case Month:
		return q.midnight(y, m, 1)
	default:
		return t.UTC().Truncate(time.Hour).In(q.Zone)
	}
}

// next returns the start of the bucket after the one that starts at t.
func (q Query) next(t time.Time) time.Time {
	y, m, d := t.In(q.Zone).Date()
	switch q.Granularity {
	case Day:
		return q.midnight(y, m, d+1)
	case Month:
		return q.midnight(y, m+1, 1)
	default:
		return t.Add(time.Hour)
	}
}

// midnight returns the first instant of a day. If clocks go forward at midnight, time.Date may
// return an hour of the day before.
func (q Query) midnight(y int, m time.Month, d int) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, q.Zone)
	if noon := time.Date(y, m, d, 12, 0, 0, 0, q.Zone); t.Day() != noon.Day() {
		return t.Add(time.Hour)
	}
	return t
}

// span returns the edges of the buckets of one page, and whether more follow.
func (q Query) span() (edges []time.Time, more bool, err error) {
	at := q.floor(q.Start)
	if !q.After.IsZero() {
		at = q.After.In(q.Zone)
	}
	edges = []time.Time{at}
	for at.Before(q.End) && len(edges) <= q.Limit {
		at = q.next(at)
		edges = append(edges, at)
	}
	for _, edge := range edges {
		if _, offset := edge.Zone(); offset%3600 != 0 {
			return nil, false, apierr.BadField("/query/timeZone", "must be whole hours from UTC, because usage is counted by the hour")
		}
	}
	return edges, at.Before(q.End), nil
}

// Report returns a page of buckets, oldest first, and whether more follow. An invalid q is an
// *apierr.Error.
func (c *Counter) Report(ctx context.Context, teamID string, now time.Time, q Query) ([]Bucket, bool, error) {
	if err := q.check(now); err != nil {
		return nil, false, err
	}
	edges, more, err := q.span()
	if err != nil {
		return nil, false, err
	}
	groups := make([]map[string]*group, len(edges)-1)
	results := 0
	read := reader(c.rows)
	switch {
	case q.UserID != "":
		read = c.rowsOfUser(q.UserID)
	case q.APIKeyID != "":
		read = c.rowsOfKey(q.APIKeyID)
	}
	err = read(ctx, teamID, edges[0], edges[len(edges)-1], func(r row) (next bool) {
		if !q.wants(r) {
			return true
		}
		i, found := slices.BinarySearchFunc(edges, r.hour, time.Time.Compare)
		if !found {
			i--
		}
		if i < 0 || i >= len(groups) {
			return true
		}
		if groups[i] == nil {
			if q.MaxResults > 0 && results >= q.MaxResults {
				groups, more = groups[:i], true // rows come by time, so these are whole
				return false
			}
			groups[i] = map[string]*group{}
		}
		key := q.group(r)
		if i == 0 && q.AfterGroup != "" && key <= q.AfterGroup {
			return true
		}
		if groups[i][key] == nil {
			groups[i][key] = &group{of: r, sum: newSum()}
			results++
		}
		groups[i][key].add(r)
		return true
	})
	if err != nil {
		return nil, false, fmt.Errorf("report usage: %w", err)
	}
	report := make([]Bucket, 0, len(groups))
	left := q.MaxResults
	for i, of := range groups {
		b := Bucket{Start: edges[i].UTC(), End: edges[i+1].UTC(), Next: edges[i+1].UTC()}
		keys := sortedKeys(of)
		if q.MaxResults > 0 && len(keys) > left {
			if i > 0 {
				return report, true, nil // the bucket begins the next page
			}
			keys = keys[:left]
			b.Next, b.NextGroup = b.Start, keys[left-1]
		}
		left -= len(keys)
		b.Results = q.results(of, keys)
		report = append(report, b)
		if b.NextGroup != "" {
			return report, true, nil
		}
	}
	return report, more, nil
}

// group is the sum of rows with the same dimensions.
type group struct {
	of row // one of the rows
	*sum
}

// dimensions returns the values that r is grouped by, in the order of GroupBy.
func (q Query) dimensions(r row) []string {
	var values []string
	for _, g := range q.GroupBy {
		values = append(values, r.dimension(g))
	}
	return values
}

// dimension returns what r is grouped by.
func (r row) dimension(name string) string {
	switch name {
	case ByFeature:
		return r.feature
	case ByUser:
		return r.user
	case ByAPIKey:
		return r.key
	case ByClient:
		return r.client
	default: // ByCollection, ByDataSource
		return r.source
	}
}

// group returns the dimensions of r as one text. A report does this for each row.
func (q Query) group(r row) string {
	switch len(q.GroupBy) {
	case 0:
		return ""
	case 1:
		return r.dimension(q.GroupBy[0])
	default:
		return r.dimension(q.GroupBy[0]) + "#" + r.dimension(q.GroupBy[1])
	}
}

func (q Query) results(groups map[string]*group, keys []string) []Result {
	results := []Result{}
	for _, key := range keys {
		g := groups[key]
		result := Result{Metrics: g.metrics()}
		if q.countsUsers() {
			n := len(g.users)
			result.ActiveUsers = &n
		}
		for i, value := range q.dimensions(g.of) {
			*result.dimension(q.GroupBy[i]) = &value
		}
		results = append(results, result)
	}
	return results
}

func (q Query) countsUsers() bool { return len(q.GroupBy) == 0 && !q.sources() }

// Shape returns a Result of q without values: what every result has is not nil.
func (q Query) Shape() Result {
	var r Result
	for _, g := range q.GroupBy {
		*r.dimension(g) = new(string)
	}
	if q.countsUsers() {
		r.ActiveUsers = new(int)
	}
	return r
}

func (r *Result) dimension(name string) **string {
	return map[string]**string{ByFeature: &r.Feature, ByUser: &r.UserID, ByAPIKey: &r.APIKeyID, ByClient: &r.Client,
		ByCollection: &r.CollectionID, ByDataSource: &r.DataSourceID}[name]
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
