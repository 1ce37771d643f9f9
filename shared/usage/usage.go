// Package usage counts what a team does with Docent, by the hour, and reports it.
//
// Counting is one atomic add for each row of a call. It is tried once, has a time
// limit, never changes a reply, and runs in parallel with the call: see Counter.Begin.
// Usage is a report, not a limit, so it needs no stream, queue or deduplication: a
// total is wrong by at most the number of failed adds, which Count and End return.
// Limits are counted exactly, by package quota.
//
// Hours are UTC; days and months of any time zone are sums of hours, so one read of a
// month's partition is enough for every report. A report of single users or of a key reads past days
// from copies in the order of users and of keys: see Fold.
package usage

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"docent/shared/table"
)

// MaxAge is how long usage is kept.
const MaxAge = 400 * 24 * time.Hour

// Features that are counted. The feature of a context operation is "context." and its path
// with dots.
const (
	Answers        = "answers"
	Documents      = "documents"
	Collections    = "collections"
	SCIM           = "scim"
	SecurityEvents = "security_events"
	Usage          = "usage"
	Admin          = "admin"
	contextPrefix  = "context."
)

// Features lists every feature.
var Features = []string{Answers, "context.search", "context.search.code", "context.search.prs", "context.search.issues",
	"context.search.documentation", "context.search.messages", "context.research", "context.query.issues",
	"context.query.prs", "context.get", Documents, Collections, SCIM, SecurityEvents, Usage, Admin}

// Clients that are counted separately.
const (
	ClientAPI = "api"
	ClientCLI = "cli"
	ClientMCP = "mcp"
	// ClientDashboard is a signed-in browser.
	ClientDashboard = "dashboard"
)

// ClientOf returns the client of a request, by its user agent and path.
func ClientOf(userAgent, path string) string {
	switch {
	case path == "/mcp":
		return ClientMCP
	case strings.HasPrefix(userAgent, "docent/"):
		return ClientCLI
	default:
		return ClientAPI
	}
}

// Fields of a row: outcomes of calls, outcomes of one feature, and sums.
const (
	OK      = "ok"
	Refused = "refused" // 4xx
	Error   = "error"   // 5xx

	Accepted  = "accepted" // answers
	Replayed  = "replayed"
	Rejected  = "rejected"
	Polled    = "polled"
	Completed = "completed"
	Failed    = "failed"
	NoAnswer  = "noAnswer"

	Created   = "created" // documents
	Replaced  = "replaced"
	Unchanged = "unchanged"
	Deleted   = "deleted"

	Empty = "empty" // context

	Bytes        = "bytes"
	References   = "references"
	Sources      = "sources"
	InputTokens  = "inputTokens"
	OutputTokens = "outputTokens"
	CostMicroUSD = "costMicroUsd"
)

// Call is a call, or a piece of a worker's work, to be counted.
type Call struct {
	At            time.Time
	Feature       string
	KeyID         string
	UserID        string // of a personal key
	Client        string // empty: ClientAPI
	Numbers       map[string]int64
	Latency       time.Duration // of the request; 0: not a request
	AnswerLatency time.Duration // from accepting a question to the end of its answer; 0: no answer ended
	Source        string        // the collection or data source that the call was about, if one
}

const hourLayout = "2006-01-02T15"

func partition(teamID string, at time.Time) string {
	return teamID + "/" + at.UTC().Format("2006-01")
}

func (c Call) row(teamID, rest string, by map[string]int64) table.Add {
	hour := c.At.UTC().Truncate(time.Hour)
	return table.Add{
		Key: table.Key{Table: table.Usage, Partition: partition(teamID, hour), Sort: hour.Format(hourLayout) + rest},
		By:  by, Expires: hour.Add(MaxAge + pagesFor), Once: true,
	}
}

func (c Call) keyRow(teamID string) table.Add {
	by := c.sums()
	if c.Latency > 0 {
		by[latencyField(c.Latency)]++
	}
	if c.AnswerLatency > 0 {
		by["e"+strconv.Itoa(bucketOf(c.AnswerLatency))]++
	}
	return c.row(teamID, "#K#"+c.caller(), by)
}

// caller identifies a row per key within its hour.
func (c Call) caller() string {
	return strings.Join([]string{c.Feature, c.KeyID, cmp.Or(c.UserID, "-"), cmp.Or(c.Client, ClientAPI)}, "#")
}

func (c Call) sourceRow(teamID string) table.Add {
	return c.row(teamID, strings.Join([]string{"#S", c.Feature, c.Source}, "#"), c.sums())
}

func (c Call) sums() map[string]int64 {
	by := make(map[string]int64, len(c.Numbers)+2)
	for name, n := range c.Numbers {
		if n != 0 {
			by[name] = n
		}
	}
	return by
}

// row is a row that was read.
type row struct {
	hour                       time.Time
	feature, key, user, client string // of a row per key
	source                     string // of a row per source
	numbers                    map[string]int64
}

func rowFrom(item table.Item) (row, error) {
	var parts [7]string // without an allocation, because a report reads very many
	n := 0
	for rest, more := item.Sort, true; more && n < len(parts); n++ {
		parts[n], rest, more = strings.Cut(rest, "#")
	}
	r := row{numbers: item.Numbers}
	var err error
	if r.hour, err = time.Parse(hourLayout, parts[0]); err != nil {
		return row{}, fmt.Errorf("usage row %q: %w", item.Sort, err)
	}
	switch {
	case n == 6 && parts[1] == "K":
		r.feature, r.key, r.user, r.client = parts[2], parts[3], parts[4], parts[5]
		if r.user == "-" {
			r.user = ""
		}
	case n == 4 && parts[1] == "S":
		r.feature, r.source = parts[2], parts[3]
	default:
		return row{}, fmt.Errorf("usage row %q has an unknown form", item.Sort)
	}
	return r, nil
}

// rows calls yield with the rows of the hours from start to end, exclusive, hour by hour, until it returns false.
func (c *Counter) rows(ctx context.Context, teamID string, start, end time.Time, yield func(row) (next bool)) error {
	start, end = start.UTC().Truncate(time.Hour), end.UTC()
	for month := start; month.Before(end); month = time.Date(month.Year(), month.Month()+1, 1, 0, 0, 0, 0, time.UTC) {
		q := table.Query{Table: table.Usage, Partition: partition(teamID, month),
			From: start.Format(hourLayout), To: end.Add(-time.Nanosecond).Format(hourLayout) + "~"}
		for item, err := range table.All(ctx, c.Table, q) {
			if err != nil {
				return fmt.Errorf("read usage: %w", err)
			}
			r, err := rowFrom(item)
			if err != nil {
				return err
			}
			if !yield(r) {
				return nil
			}
		}
	}
	return nil
}
