package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"docent/client"
)

type usageCmd struct {
	serverFlags
	Start       string   `placeholder:"TIME" without:"the usual length" help:"Start of the report: a date or a time (RFC 3339), at most 400 days back (default: 30 days, 48 hours or 12 months ago)."`
	End         string   `placeholder:"TIME" without:"now" help:"End of the report, exclusive (default: now)."`
	Granularity string   `enum:"hour,day,month" default:"day" placeholder:"UNIT" help:"What a line of the report covers: hour, day or month (default ${default})."`
	TimeZone    string   `name:"time-zone" default:"UTC" placeholder:"ZONE" help:"IANA name of the time zone of the days; quotas use America/Los_Angeles (default ${default})."`
	GroupBy     []string `name:"group-by" enum:"feature,user,apiKey,client,collection,dataSource" placeholder:"WHAT" help:"What to count separately: feature, user, apiKey or client, two at most; or collection or dataSource, alone or with feature."`
	Feature     string   `placeholder:"NAME" without:"every feature" help:"Only this feature, such as answers or context.search."`
	CSV         bool     `name:"csv" xor:"form" help:"Print CSV with every number."`
	JSON        bool     `name:"json" xor:"form" help:"Print the API's JSON, its pages joined."`
}

// Help is the long help of docent usage.
func (c *usageCmd) Help() string {
	return `An admin's personal key and a team key report on the whole team, a member's key on its user. On a terminal, each line has a bar of its requests if there is room, and columns in which nothing is counted are omitted.

Examples:

    export DOCENT_API_KEY=docent_team_...
    docent usage
    docent usage --granularity hour --group-by feature
    docent usage --start 2026-11-01 --group-by user --csv > november.csv`
}

// Run reads the report and prints it.
func (c *usageCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return fmt.Errorf("--time-zone: %q is not an IANA name of a time zone", c.TimeZone)
	}
	query := url.Values{"start": {c.Start}, "granularity": {c.Granularity}, "timeZone": {c.TimeZone}, "groupBy": c.GroupBy, "limit": {"200"}}
	if c.Start == "" {
		query.Set("start", c.begin(con.now().In(zone)).Format(time.RFC3339))
	}
	for name, value := range map[string]string{"end": c.End, "feature": c.Feature} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if c.CSV {
		return c.csv(ctx, con, api, query)
	}
	report, err := api.Usage(ctx, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, report)
	}
	return c.table(con.out, report, zone, terminalWidth(con.out))
}

// begin returns the start of a report whose --start is not given.
func (c *usageCmd) begin(now time.Time) time.Time {
	switch c.Granularity {
	case "hour":
		return now.Add(-47 * time.Hour)
	case "month":
		return time.Date(now.Year(), now.Month()-11, 1, 0, 0, 0, 0, now.Location())
	default:
		return now.AddDate(0, 0, -29)
	}
}

// csv prints the pages as one table.
func (c *usageCmd) csv(ctx context.Context, con *console, api *client.Client, query url.Values) error {
	var head []byte
	return api.UsageCSV(ctx, query, func(page []byte) error {
		columns, rows, _ := bytes.Cut(page, []byte("\n"))
		switch {
		case len(page) == 0:
			return nil
		case head == nil:
			head, rows = columns, page
		case !bytes.Equal(head, columns):
			return errors.New("the pages of the report have different columns")
		}
		_, err := con.out.Write(rows)
		return err
	})
}

// usageColumns are the numbers of a group that a line of the table shows after its dimensions.
var usageColumns = []struct{ title, metric string }{
	{"requests", "requests"}, {"asked", "accepted"}, {"answered", "completed"}, {"not found", "noAnswer"}, {"failed", "failed"},
	{"refused", "refused"}, {"errors", "error"}, {"p50 ms", "latencyMsP50"}, {"p95 ms", "latencyMsP95"},
}

// The width of the longest bar, in characters. If there is less room than the minimum, there is no chart.
const (
	chartWidth = 24
	leastChart = 8
)

// gap is the number of blanks between two columns of the table.
const gap = 2

// terminalWidth returns how many characters a line of the terminal w has, or 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd())) //nolint:forcetypeassert // isTerminal has looked
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// usageLine is a line of the table.
type usageLine struct {
	cells    []string
	requests int64
}

// table prints a line for each bucket and group. On a terminal, width is its number of characters: table omits columns
// in which nothing is counted, and adds a bar to each line if there is room. With width 0, for programs, it prints
// every column.
func (c *usageCmd) table(w io.Writer, report client.Usage, zone *time.Location, width int) error {
	var lines []usageLine
	var most int64
	for _, bucket := range report.Buckets {
		start, err := time.Parse(time.RFC3339, bucket.Start)
		if err != nil {
			return fmt.Errorf("read the report: %w", err)
		}
		label := start.In(zone).Format(map[string]string{"hour": "2006-01-02 15:04", "day": time.DateOnly, "month": "2006-01"}[c.Granularity])
		results := bucket.Results
		if len(results) == 0 {
			results = []map[string]json.RawMessage{nil} // nothing, on a line that shows it
		}
		for _, result := range results {
			line, err := c.line(label, result)
			if err != nil {
				return err
			}
			lines, most = append(lines, line), max(most, line.requests)
		}
	}
	titles := append([]string{"start"}, c.GroupBy...)
	for _, column := range usageColumns {
		titles = append(titles, column.title)
	}
	chart := 0
	if width > 0 {
		titles, lines = c.counted(titles, lines)
		if chart = min(chartWidth, width-tableWidth(titles, lines)); chart < leastChart {
			chart = 0
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
	if err := printf(t, "%s\n", strings.Join(titles, "\t")); err != nil {
		return err
	}
	for _, line := range lines {
		cells := line.cells
		if chart > 0 {
			cells = append(cells, bar(line.requests, most, int64(chart)))
		}
		if err := printf(t, "%s\n", strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printf(w, "Counted until %s; days and hours of %s.\n", client.Printable(report.DataThrough), client.Printable(report.TimeZone))
}

// counted returns the table without the number columns that are 0 on every line. It keeps the column requests.
func (c *usageCmd) counted(titles []string, lines []usageLine) ([]string, []usageLine) {
	always := 1 + len(c.GroupBy) + 1
	var keep []int
	for i := range titles {
		if i < always || slices.ContainsFunc(lines, func(l usageLine) bool { return l.cells[i] != "0" }) {
			keep = append(keep, i)
		}
	}
	kept := func(cells []string) []string {
		out := make([]string, len(keep))
		for to, from := range keep {
			out[to] = cells[from]
		}
		return out
	}
	fewer := make([]usageLine, len(lines))
	for i, l := range lines {
		fewer[i] = usageLine{kept(l.cells), l.requests}
	}
	return kept(titles), fewer
}

// tableWidth returns the length of a line in characters, with the gap after it.
func tableWidth(titles []string, lines []usageLine) int {
	total := 0
	for i, title := range titles {
		widest := utf8.RuneCountInString(title)
		for _, l := range lines {
			widest = max(widest, utf8.RuneCountInString(l.cells[i]))
		}
		total += widest + gap
	}
	return total
}

// line returns the line for a group of the bucket that label names.
func (c *usageCmd) line(label string, result map[string]json.RawMessage) (usageLine, error) {
	line := usageLine{cells: []string{label}}
	for _, dimension := range c.GroupBy {
		var value *string
		if text := result[dimensionMember[dimension]]; text != nil {
			if err := json.Unmarshal(text, &value); err != nil {
				return line, fmt.Errorf("read the report: %w", err)
			}
		}
		cell := "-"
		if value != nil && *value != "" {
			cell = client.Printable(*value)
		}
		line.cells = append(line.cells, cell)
	}
	var metrics map[string]json.RawMessage
	if text := result["metrics"]; text != nil {
		if err := json.Unmarshal(text, &metrics); err != nil {
			return line, fmt.Errorf("read the report: %w", err)
		}
	}
	for _, column := range usageColumns {
		var n int64
		if text := metrics[column.metric]; text != nil {
			if err := json.Unmarshal(text, &n); err != nil {
				return line, fmt.Errorf("read the report: %w", err)
			}
		}
		if column.metric == "requests" {
			line.requests = n
		}
		line.cells = append(line.cells, fmt.Sprint(n))
	}
	return line, nil
}

// dimensionMember maps a dimension to its name in a result.
var dimensionMember = map[string]string{"feature": "feature", "user": "userId", "apiKey": "apiKeyId", "client": "client",
	"collection": "collectionId", "dataSource": "dataSourceId"}

// bar draws n of most in eighths of a character; most takes width characters.
func bar(n, most, width int64) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	eighths := max(n*width*8/most, 1)
	parts := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	return strings.Repeat("█", int(eighths/8)) + parts[eighths%8]
}
