package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/usage"
)

// get calls path with a query.
func (a *api) get(key, path string, query url.Values, accept string) response {
	a.t.Helper()
	return a.do(call{"GET", path + "?" + query.Encode(), key, nil, map[string]string{"Accept": accept}})
}

func TestBadUsageReports(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	hours := url.Values{"start": {"2026-11-20"}, "granularity": {"hour"}, "limit": {"1"}}
	cursor := func(key string, query url.Values) string {
		return a.get(key, "/usage", query, "").want(t, 200).text(t, "nextCursor")
	}
	own, foreign := cursor(acme.key, hours), cursor(rival.key, hours)
	other := cursor(acme.key, url.Values{"start": {"2026-11-19"}, "granularity": {"hour"}, "limit": {"1"}})
	long := strings.Repeat("x", 2000)
	for name, query := range map[string]url.Values{
		"no start":                  {"start": nil},
		"an empty start":            {"start": {""}},
		"a start that is none":      {"start": {"yesterday"}},
		"a day that is none":        {"start": {"2026-02-30"}},
		"a start without a zone":    {"start": {"2026-11-20T10:00:00"}},
		"401 days back":             {"start": {"2025-10-16"}},
		"years back":                {"start": {"1999-01-01"}},
		"an end that is none":       {"end": {"soon"}},
		"end before start":          {"end": {"2026-11-19"}},
		"end at start":              {"end": {"2026-11-20"}},
		"years ahead":               {"end": {"9998-12-31"}},
		"ahead, without an end":     {"start": {"2027-01-01"}},
		"granularity":               {"granularity": {"week"}},
		"no zone":                   {"timeZone": {"Mars/Olympus"}},
		"the zone of the process":   {"timeZone": {"Local"}},
		"a path as a zone":          {"timeZone": {"../../etc/passwd"}},
		"a zone of half hours":      {"timeZone": {"Asia/Kolkata"}},
		"a long zone":               {"timeZone": {long}},
		"unknown grouping":          {"groupBy": {"colour"}},
		"a grouping twice":          {"groupBy": {"user", "user"}},
		"three groupings":           {"groupBy": {"user", "feature", "client"}},
		"collection and user":       {"groupBy": {"collection", "user"}},
		"collection and dataSource": {"groupBy": {"collection", "dataSource"}},
		"unknown feature":           {"feature": {"cooking"}},
		"collection of a user":      {"collectionId": {numberedID(1)}, "userId": {acme.admin.ID}},
		"collection of a key":       {"collectionId": {numberedID(1)}, "apiKeyId": {acme.keyID}},
		"limit 0":                   {"limit": {"0"}},
		"limit 201":                 {"limit": {"201"}},
		"limit of letters":          {"limit": {"ten"}},
		"a cursor that is none":     {"after": {"nonsense"}},
		"a damaged cursor":          {"after": {own[:len(own)-2]}},
		"a foreign cursor":          {"after": {foreign}},
		"another report's cursor":   {"after": {other}},
		"a long cursor":             {"after": {long}},
	} {
		merged := url.Values{"start": {"2026-11-20"}, "granularity": {"hour"}, "limit": {"1"}}
		for parameter, values := range query {
			merged[parameter] = values
		}
		if reply := a.get(acme.key, "/usage", merged, ""); reply.StatusCode != 400 {
			t.Errorf("%s: %d %s", name, reply.StatusCode, reply.body)
		}
	}
	for name, query := range map[string]url.Values{
		"no start": {}, "start": {"start": {"x"}}, "end": {"start": {"2026-11-20"}, "end": {"2026-11-01"}}, "years ahead": {"start": {"2026-11-20"}, "end": {"9998-12-31"}},
		"limit": {"start": {"2026-11-20"}, "limit": {"201"}}, "cursor": {"start": {"2026-11-20"}, "after": {own}},
	} {
		if reply := a.get(acme.key, "/usage/users", query, ""); reply.StatusCode != 400 {
			t.Errorf("users, %s: %d %s", name, reply.StatusCode, reply.body)
		}
	}
	hours.Set("after", own)
	a.get(acme.key, "/usage", hours, "").want(t, 200)
}

// TestDaysOfAZone: days are those of the zone, with 23 or 25 hours when its clocks change, and
// there are no gaps between pages.
func TestDaysOfAZone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, c := range []struct{ zone, start, end, want string }{
		{"America/Los_Angeles", "2026-03-07", "2026-03-10", "2026-03-07T08:00 2026-03-08T08:00 2026-03-09T07:00 2026-03-10T07:00"},
		{"America/Los_Angeles", "2026-10-31", "2026-11-03", "2026-10-31T07:00 2026-11-01T07:00 2026-11-02T08:00 2026-11-03T08:00"},
		{"Europe/Berlin", "2026-03-28", "2026-03-31", "2026-03-27T23:00 2026-03-28T23:00 2026-03-29T22:00 2026-03-30T22:00"},
		{"UTC", "2026-11-19T13:45:00Z", "2026-11-20T00:30:00Z", "2026-11-19T00:00 2026-11-20T00:00 2026-11-21T00:00"},
	} {
		var edges []string
		query := url.Values{"start": {c.start}, "end": {c.end}, "timeZone": {c.zone}, "limit": {"2"}, "groupBy": {"feature"}}
		for pages := 1; ; pages++ {
			reply := a.get(acme.key, "/usage", query, "").want(t, 200)
			var page struct {
				Buckets    []struct{ Start, End string }
				NextCursor *string
				HasMore    bool
			}
			reply.json(t, &page)
			for _, b := range page.Buckets {
				if len(edges) == 0 {
					edges = append(edges, b.Start[:16])
				} else if edges[len(edges)-1] != b.Start[:16] {
					t.Errorf("%s: a bucket from %s after one to %s", c.zone, b.Start, edges[len(edges)-1])
				}
				edges = append(edges, b.End[:16])
			}
			link := reply.Header.Get("Link")
			if page.HasMore != (page.NextCursor != nil) || page.HasMore != strings.Contains(link, `rel="next"`) {
				t.Fatalf("%s: %s, Link %q", c.zone, reply.body, link)
			}
			if !page.HasMore || pages > 5 {
				break
			}
			target, _, _ := strings.Cut(strings.TrimPrefix(link, "<"+baseURL+"/usage?"), ">")
			next, err := url.ParseQuery(target)
			if err != nil || next.Get("after") != *page.NextCursor {
				t.Fatalf("Link %q: %v", link, err)
			}
			query = next
		}
		if got := strings.Join(edges, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.zone, got, c.want)
		}
	}
}

// TestNoCellIsAFormula has users whose names spreadsheets would compute.
func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)"} {
		acme, admin, err := a.local.Teams.CreateTeam(t.Context(), "acme", name)
		if err != nil {
			t.Fatal(err)
		}
		_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "personal", UserID: admin.ID})
		a.do(call{"GET", "/collections", key, nil, nil}).want(t, 200)
		a.clock.Advance(time.Minute) // the calls before it are in the report
		rows, err := csv.NewReader(strings.NewReader(string(a.get(key, "/usage/users", url.Values{"start": {"2026-11-21"}}, "text/csv").want(t, 200).body))).ReadAll()
		if err != nil || len(rows) != 2 || rows[1][1] != "'"+name {
			t.Errorf("%q: %q, %v", name, rows, err)
		}
	}
}

// TestUsageAsTables: CSV and JSON Lines have the same values as the JSON, and no cell is a formula.
func TestUsageAsTables(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, admin, err := a.local.Teams.CreateTeam(t.Context(), "acme", `=HYPERLINK("https://evil.test")`)
	if err != nil {
		t.Fatal(err)
	}
	_, key := a.newKey(acme.ID, team.NewKey{Kind: team.KindPersonal, Name: "personal", UserID: admin.ID})
	for range 3 {
		a.do(call{"GET", "/collections", key, nil, nil}).want(t, 200)
	}
	a.clock.Advance(time.Minute)
	users := url.Values{"start": {"2026-11-21"}}
	reply := a.get(key, "/usage/users", users, "text/csv").want(t, 200)
	rows, err := csv.NewReader(strings.NewReader(string(reply.body))).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][1] != "userName" || rows[1][1] != `'=HYPERLINK("https://evil.test")` || reply.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("%v, %v, %s", rows, err, reply.Header.Get("Content-Type"))
	}
	if got := a.get(key, "/usage/users", users, "").want(t, 200); !strings.Contains(string(got.body), `"userName":"=HYPERLINK(\"https://evil.test\")"`) {
		t.Errorf("%s", got.body)
	}
	report := url.Values{"start": {"2026-11-21"}, "groupBy": {"feature"}, "feature": {"collections"}}
	rows, err = csv.NewReader(strings.NewReader(string(a.get(key, "/usage", report, "text/csv").want(t, 200).body))).ReadAll()
	if err != nil || len(rows) != 2 || strings.Join(rows[0][:5], " ") != "start end feature requests ok" || strings.Join(rows[1][2:5], " ") != "collections 3 3" {
		t.Errorf("%v, %v", rows, err)
	}
	var line struct {
		Feature  string
		Requests int
	}
	if got := a.get(key, "/usage", report, "application/x-ndjson").want(t, 200); json.Unmarshal(got.body, &line) != nil || line.Feature != "collections" || line.Requests != 3 {
		t.Errorf("%s", got.body)
	}
	_, shared := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "shared"})
	a.do(call{"GET", "/usage/quotas", shared, nil, nil}).want(t, 200)
	byUser := url.Values{"start": {"2026-11-21"}, "groupBy": {"user"}, "feature": {"usage"}}
	if got := a.get(key, "/usage", byUser, "application/x-ndjson").want(t, 200); strings.Contains(string(got.body), `""`) || !strings.Contains(string(got.body), `"userId":null`) {
		t.Errorf("usage of no user: %s", got.body)
	}
	if got := a.get(key, "/usage", byUser, "").want(t, 200); !strings.Contains(string(got.body), `"userId":null`) {
		t.Errorf("usage of no user, as JSON: %s", got.body)
	}
	for accept, want := range map[string]string{"": "application/json", "*/*": "application/json", "text/html": "application/json",
		"application/json, text/csv;q=0.5": "application/json", "text/csv;q=0.9, application/json;q=0.8": "text/csv; charset=utf-8",
		"text/csv;q=0": "application/json", "text/csv;q=x": "application/json", "application/x-ndjson, text/csv": "application/x-ndjson"} {
		if got := a.get(key, "/usage", report, accept).want(t, 200).Header.Get("Content-Type"); got != want {
			t.Errorf("Accept %q: %s, want %s", accept, got, want)
		}
	}
	for _, test := range []struct {
		path   string
		query  url.Values
		column []string // the first ones, also where there is no row
	}{
		{"/usage", url.Values{}, []string{"start", "end", "activeUsers", "requests"}},
		{"/usage", url.Values{"groupBy": {"user", "client"}}, []string{"start", "end", "userId", "client", "requests"}},
		{"/usage", url.Values{"collectionId": {numberedID(1)}}, []string{"start", "end", "requests"}},
		{"/usage/users", url.Values{}, []string{"userId", "userName", "questions"}},
	} {
		read := func(day string) []string {
			query := maps.Clone(test.query)
			query.Set("start", day)
			query.Set("end", day+"T23:59:59Z")
			body := a.get(key, test.path, query, "text/csv").want(t, 200).body
			rows, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
			if err != nil || len(rows) == 0 {
				t.Fatalf("%s: %v: %q", test.path, err, body)
			}
			return rows[0]
		}
		empty := read("2026-11-01")
		if !slices.Equal(empty[:len(test.column)], test.column) || !slices.Equal(empty, read("2026-11-21")) {
			t.Errorf("%s %v: columns %q without rows", test.path, test.query, empty)
		}
	}
}

// TestNamesOfUsersAreReadTogether: a report of many users takes as many round trips to the store as that of one.
func TestNamesOfUsersAreReadTogether(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	report := func(users int) int {
		t.Helper()
		a.log.Reset()
		reply := a.get(acme.key, "/usage/users", url.Values{"start": {"2026-11-01"}}, "").want(t, 200)
		if got := strings.Count(string(reply.body), `"userName":"`); got != users {
			t.Fatalf("%d users with a name, want %d: %s", got, users, reply.body)
		}
		_, trips, _ := strings.Cut(a.log.String(), `"roundTrips":`)
		n, err := strconv.Atoi(strings.FieldsFunc(trips, func(r rune) bool { return !unicode.IsDigit(r) })[0])
		if err != nil || n == 0 {
			t.Fatalf("the log: %s, %v", a.log, err)
		}
		return n
	}
	a.do(call{"GET", "/collections", acme.pat, nil, nil}).want(t, 200)
	a.clock.Advance(time.Minute) // the call before it is in the report
	report(1)                    // the key is known from here on
	one := report(1)
	for range 9 {
		a.do(call{"GET", "/collections", a.newMember(acme), nil, nil}).want(t, 200)
	}
	if ten := report(10); ten != one {
		t.Errorf("%d round trips for ten users, %d for one", ten, one)
	}
}

// TestAReportIsReadToItsEnd: time passes between the pages of a report that begins as early as one may.
func TestAReportIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	for _, key := range []string{acme.pat, a.newMember(acme)} {
		a.do(call{"GET", "/collections", key, nil, nil}).want(t, 200)
	}
	now := a.clock.Now()
	for _, path := range []string{"/usage", "/usage/users"} {
		query := url.Values{"start": {now.Add(-usage.MaxAge).Format(time.RFC3339Nano)}, "limit": {"1"}}
		var page struct{ NextCursor string }
		if err := json.Unmarshal(a.get(acme.key, path, query, "").want(t, 200).body, &page); err != nil || page.NextCursor == "" {
			t.Fatalf("%s: %q, %v", path, page.NextCursor, err)
		}
		a.clock.Advance(time.Minute)
		a.get(acme.key, path, query, "").want(t, 400)
		query.Set("after", page.NextCursor)
		a.get(acme.key, path, query, "").want(t, 200)
		a.clock.Advance(24 * time.Hour)
		a.get(acme.key, path, query, "").want(t, 400)
		now = now.Add(24*time.Hour + time.Minute)
	}
}

// TestAMonthOfManyUsersFitsReplies: a bucket of more results than a reply can have goes on in the next page.
func TestAMonthOfManyUsersFitsReplies(t *testing.T) {
	t.Parallel()
	const users = 9000
	a := newAPI(t)
	acme := a.newTenant("acme")
	numbers := map[string]int64{}
	for _, name := range []string{usage.OK, usage.Refused, usage.Error, usage.Accepted, usage.Replayed, usage.Rejected, usage.Polled, usage.Completed, usage.Failed, usage.NoAnswer,
		usage.Created, usage.Replaced, usage.Unchanged, usage.Deleted, usage.Empty, usage.Bytes, usage.References, usage.Sources, usage.InputTokens, usage.OutputTokens, usage.CostMicroUSD} {
		numbers[name] = 123_456_789
	}
	hour := a.clock.Now().Truncate(time.Hour).Add(-24 * time.Hour)
	for first := 0; first < users; first += table.MaxOps {
		var ops []table.Op
		for n := range table.MaxOps {
			id := numberedID(first + n)
			ops = append(ops, table.Add{Key: table.Key{Table: table.Usage, Partition: acme.ID + "/" + hour.Format("2006-01"),
				Sort: hour.Format("2006-01-02T15") + "#K#context.search.documentation#" + id + "#" + id + "#api"}, By: numbers})
		}
		if err := a.local.Teams.Table.Write(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	query := url.Values{"start": {hour.Format(time.DateOnly)}, "end": {hour.Add(24 * time.Hour).Format(time.DateOnly)}, "granularity": {"month"},
		"groupBy": {"user", "apiKey"}, "feature": {"context.search.documentation"}}
	seen, pages := map[string]bool{}, 0
	for more := true; more; pages++ {
		reply := a.get(acme.key, "/usage", query, "").want(t, 200)
		if len(reply.body) > 6_000_000 {
			t.Errorf("a page of %d bytes", len(reply.body))
		}
		var page struct {
			Buckets    []struct{ Results []struct{ UserID string } }
			NextCursor string
			HasMore    bool
		}
		reply.json(t, &page)
		for _, b := range page.Buckets {
			for _, r := range b.Results {
				if seen[r.UserID] {
					t.Fatalf("user %s again", r.UserID)
				}
				seen[r.UserID] = true
			}
		}
		query.Set("after", page.NextCursor)
		more = page.HasMore
	}
	if len(seen) != users || pages != 2 {
		t.Errorf("%d users on %d pages", len(seen), pages)
	}
}

// TestWhoSeesUsage: a member sees its own usage, an admin and a team key see all, and a restricted
// key or one of an identity provider sees none.
func TestWhoSeesUsage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	member := a.newMember(acme)
	wiki := a.newCollection(acme.key, "wiki")
	_, narrow := a.newKey(acme.ID, team.NewKey{Kind: team.KindTeam, Name: "narrow", DataSourceIDs: []string{wiki}})
	for _, key := range []string{acme.key, acme.pat, member, rival.key} {
		a.do(call{"GET", "/answers", key, nil, nil}).want(t, 200)
	}
	a.clock.Advance(time.Minute)
	report := url.Values{"start": {"2026-11-21"}, "feature": {"answers"}}
	for name, c := range map[string]struct {
		key  string
		want string
	}{"member": {member, `"requests":1`}, "admin": {acme.pat, `"requests":3`}, "team": {acme.key, `"requests":3`}, "rival": {rival.key, `"requests":1`}} {
		if got := a.get(c.key, "/usage", report, "").want(t, 200); !strings.Contains(string(got.body), c.want) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	a.get(narrow, "/usage", report, "").want(t, 403)
	a.get(narrow, "/usage/users", report, "").want(t, 403)
	a.get(acme.scim, "/usage", report, "").want(t, 403)
	a.get(member, "/usage", url.Values{"start": {"2026-11-21"}, "userId": {acme.admin.ID}}, "").want(t, 403)
	a.get(member, "/usage", url.Values{"start": {"2026-11-21"}, "collectionId": {wiki}}, "").want(t, 403)
	for _, source := range []string{"collection", "dataSource"} {
		a.get(member, "/usage", url.Values{"start": {"2026-11-21"}, "groupBy": {source}}, "").wantCode(t, 403, "admin-required")
	}
	if got := a.get(member, "/usage/users", url.Values{"start": {"2026-11-21"}}, "").want(t, 200); strings.Count(string(got.body), `"userId"`) != 1 {
		t.Errorf("%s", got.body)
	}
	a.clock.Advance(24 * time.Hour)
	if got := a.get(acme.key, "/usage", url.Values{"start": {"2026-11-22"}, "feature": {"answers"}}, "").want(t, 200); strings.Contains(string(got.body), "requests") {
		t.Errorf("the next day: %s", got.body)
	}
}
