package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/audit"
)

// recipes returns the blocks of that language under a heading of the feed's README.
func recipes(t *testing.T, heading, language string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash("../../functions/securityevents/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(raw), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, part := range strings.Split(section, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	return blocks
}

func decodeRecipe(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// pair is a parameter or a column of a recipe.
type pair struct{ Key, Name, Type, Value string }

// collector is what a recipe tells a collector to do with the feed. If a recipe refers to a value that is kept
// between its runs, keep says what to send.
type collector struct {
	path, events string // the array of events, without $.
	parameters   url.Values
	keep         string // parameter with the kept value
	token        string // parameter of a page's token, none: the Link header
	tokenPath    string
	more         string // the flag for more pages, none: a token or link says it
	persistent   bool   // keep the token, else the id of the last event
	kept         string
}

func jsonPath(t *testing.T, path string) string {
	t.Helper()
	name, ok := strings.CutPrefix(path, "$.")
	if !ok {
		t.Fatalf("no path of a member: %q", path)
	}
	return name
}

func sentinel(t *testing.T) *collector {
	t.Helper()
	blocks := recipes(t, "Microsoft Sentinel", "json")
	var poller struct {
		Request struct{ APIEndpoint string }
		Paging  struct {
			PagingType, NextPageParaName, NextPageTokenJSONPath, HasNextFlagJSONPath, PageSizeParameterName string
			PageSize                                                                                        int
		}
		Response  struct{ EventsJSONPaths []string }
		DCRConfig struct{ StreamName string }
	}
	decodeRecipe(t, blocks[0], &poller)
	var rule struct {
		StreamDeclarations map[string]struct{ Columns []pair }
		DataFlows          []struct{ Streams []string }
	}
	decodeRecipe(t, blocks[1], &rule)
	stream := poller.DCRConfig.StreamName
	if !slices.Equal(rule.DataFlows[0].Streams, []string{stream}) {
		t.Errorf("stream %q flows as %q", stream, rule.DataFlows)
	}
	members := map[string]bool{}
	for field := range reflect.TypeFor[audit.Native]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members[name] = true
	}
	columns := rule.StreamDeclarations[stream].Columns
	for _, c := range columns {
		if !members[c.Name] {
			t.Errorf("an event has no %s", c.Name)
		}
		delete(members, c.Name)
	}
	for _, left := range []string{"schemaVersion", "team", "ocsf"} {
		delete(members, left)
	}
	if len(members) > 0 {
		t.Errorf("no column for %v", members)
	}
	p := poller.Paging
	return &collector{path: poller.Request.APIEndpoint, events: jsonPath(t, poller.Response.EventsJSONPaths[0]),
		parameters: url.Values{p.PageSizeParameterName: {strconv.Itoa(p.PageSize)}}, keep: p.NextPageParaName, token: p.NextPageParaName,
		tokenPath: jsonPath(t, p.NextPageTokenJSONPath), more: jsonPath(t, p.HasNextFlagJSONPath), persistent: p.PagingType == "PersistentToken"}
}

func secOps(t *testing.T) *collector {
	t.Helper()
	var feed struct {
		BaseURL        string
		PrimaryRequest struct {
			RequestSettings struct {
				EndpointPath    string
				QueryParameters []pair
			}
			ResponseMapping    struct{ TargetDataPath []string }
			PaginationStrategy struct {
				Token struct{ NextPageTokenJSONPath, QueryParam string }
			}
			Checkpointing struct {
				LatestRecordStrategy struct{ CheckpointValuePath, CheckpointVariable string }
			}
		}
	}
	decodeRecipe(t, recipes(t, "Google SecOps, custom API feed", "json")[0], &feed)
	r := feed.PrimaryRequest
	c := &collector{path: feed.BaseURL + r.RequestSettings.EndpointPath, events: jsonPath(t, r.ResponseMapping.TargetDataPath[0]),
		parameters: url.Values{}, token: r.PaginationStrategy.Token.QueryParam, tokenPath: jsonPath(t, r.PaginationStrategy.Token.NextPageTokenJSONPath)}
	for _, p := range r.RequestSettings.QueryParameters {
		if strings.Contains(p.Value, r.Checkpointing.LatestRecordStrategy.CheckpointVariable) {
			c.keep = p.Key
			continue
		}
		c.parameters.Set(p.Key, p.Value)
	}
	if path := r.Checkpointing.LatestRecordStrategy.CheckpointValuePath; path != "id" {
		t.Errorf("the checkpoint is %q", path)
	}
	return c
}

func cribl(t *testing.T) *collector {
	t.Helper()
	blocks := recipes(t, "Cribl", "json")
	var job struct {
		ID        string
		Collector struct {
			Conf struct {
				CollectURL           string
				CollectRequestParams []pair
				Pagination           struct{ Type, NextRelationAttribute string }
			}
		}
		Input struct{ BreakerRulesets []string }
	}
	decodeRecipe(t, blocks[0], &job)
	var breaker struct {
		ID    string
		Rules []struct{ JSONArrayField, TimestampAnchorRegex string }
	}
	decodeRecipe(t, blocks[1], &breaker)
	if !slices.Equal(job.Input.BreakerRulesets, []string{breaker.ID}) || !strings.Contains(breaker.Rules[0].TimestampAnchorRegex, `"recordedAt":"`) {
		t.Errorf("%+v with %+v", job, breaker)
	}
	conf := job.Collector.Conf
	if conf.Pagination.Type != "response_header_link" || conf.Pagination.NextRelationAttribute != "next" {
		t.Errorf("%+v", conf.Pagination)
	}
	c := &collector{path: strings.Trim(conf.CollectURL, "'"), events: breaker.Rules[0].JSONArrayField, parameters: url.Values{}}
	for _, p := range conf.CollectRequestParams {
		if strings.HasPrefix(p.Value, "`${state.") {
			c.keep = p.Name
			continue
		}
		c.parameters.Set(p.Name, strings.Trim(p.Value, "'"))
	}
	return c
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// poll is one round of the collector: all pages until there are no more.
func (c *collector) poll(t *testing.T, f feed, key string) (ids []string) {
	t.Helper()
	query := url.Values{c.keep: {c.kept}}
	for name, values := range c.parameters {
		query[name] = values
	}
	next := f.url + strings.TrimPrefix(c.path, "https://HOST/v1") + "?" + query.Encode()
	for pages := 0; next != "" && pages < 10; pages++ {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, next, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var page map[string]any
		err = json.NewDecoder(reply.Body).Decode(&page)
		if closeErr := reply.Body.Close(); err != nil || closeErr != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v %v %v", next, reply.StatusCode, page, err, closeErr)
		}
		events, ok := page[c.events].([]any)
		if !ok {
			t.Fatalf("no array %q: %v", c.events, page)
		}
		for _, e := range events {
			id := e.(map[string]any)["id"].(string)
			if ids = append(ids, id); !c.persistent {
				c.kept = max(c.kept, id)
			}
		}
		if c.token == "" {
			next = ""
			if link := nextLink.FindStringSubmatch(reply.Header.Get("Link")); link != nil {
				next = link[1]
			}
			continue
		}
		token, _ := page[c.tokenPath].(string)
		if c.persistent {
			c.kept = token
		}
		if next = ""; token != "" && (c.more == "" || page[c.more] == true) {
			query.Set(c.token, token)
			next = f.url + strings.TrimPrefix(c.path, "https://HOST/v1") + "?" + query.Encode()
		}
	}
	if next != "" {
		t.Fatal("the pages do not end")
	}
	return ids
}

// TestRecipesOfCollectorsThatAreNotRun checks that each recipe delivers every event once, if its collector does
// what its vendor says.
func TestRecipesOfCollectorsThatAreNotRun(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	key := f.create(450) // three pages
	all := map[string]*collector{"sentinel": sentinel(t), "secops": secOps(t), "cribl": cribl(t)}
	got := map[string][]string{}
	want := 2 + 450
	for round, more := range []int{0, 3, 0, 250} {
		if more > 0 {
			f.create(more)
			want += more
		}
		for name, c := range all {
			got[name] = append(got[name], c.poll(t, f, key)...)
			if n := len(slices.Compact(slices.Sorted(slices.Values(got[name])))); n != want || len(got[name]) != want || !slices.IsSorted(got[name]) {
				t.Errorf("round %d: %s has %d events, %d of them once, of %d", round, name, len(got[name]), n, want)
			}
		}
	}
}

// TestSplunkReadsTheFollowersLines checks that the settings find the time in a line, and that no event is cut.
func TestSplunkReadsTheFollowersLines(t *testing.T) {
	t.Parallel()
	settings := map[string]string{}
	for line := range strings.Lines(recipes(t, "Splunk", "ini")[0]) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			settings[name] = value
		}
	}
	number := func(name string) int {
		n, err := strconv.Atoi(settings[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	f := newFeed(t)
	status, out, said := docent(t, "events", "follow", "--once", "--server", f.url, "--key", f.create(3), "--cursor-file", filepath.Join(t.TempDir(), "cursor"))
	if status != exitOK {
		t.Fatal(said)
	}
	lines := regexp.MustCompile(settings["LINE_BREAKER"]).Split(strings.TrimSpace(out), -1)
	if len(lines) != 5 || settings["EVENT_BREAKER"] != settings["LINE_BREAKER"] {
		t.Errorf("%d lines", len(lines))
	}
	layout := strings.NewReplacer("%Y", "2006", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S.%3N", "05.000").Replace(settings["TIME_FORMAT"])
	prefix := regexp.MustCompile(settings["TIME_PREFIX"])
	for _, line := range lines {
		at := prefix.FindStringIndex(line)
		var e struct{ RecordedAt time.Time }
		decodeRecipe(t, line, &e)
		if at == nil {
			t.Fatalf("no time in %s", line)
		}
		if got, err := time.Parse(layout, line[at[1]:at[1]+number("MAX_TIMESTAMP_LOOKAHEAD")]); err != nil || !got.Equal(e.RecordedAt) {
			t.Errorf("time %v, want %v: %v", got, e.RecordedAt, err)
		}
	}
	long := strings.Repeat("\U0001F600", audit.MaxText)
	e := audit.Event{Type: audit.SCIMGroupMemberAdded, Changes: []audit.Change{{Field: "displayName", From: long, To: long}}}
	for range audit.MaxTargets {
		e.Targets = append(e.Targets, audit.Target{Type: audit.TargetUser, ID: f.url, DisplayName: long})
	}
	line, err := json.Marshal(e.Native())
	if err != nil {
		t.Fatal(err)
	}
	if len(line) <= 10_000 || 2*len(line) > number("TRUNCATE") {
		t.Errorf("an event of %d bytes, cut at %s", len(line), settings["TRUNCATE"])
	}
}
