package notion_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/notion"
	"docent/shared/connect/notion/notiontest"
	"docent/shared/source"
)

// reading is a connector with a notiontest server, and what it has read.
type reading struct {
	t        *testing.T
	server   *notiontest.Server
	c        *notion.Connector
	settings map[string]any
	token    string
	now      time.Time
	stored   map[string]bool
}

func read(t *testing.T, objects ...*notiontest.Object) *reading {
	t.Helper()
	r := &reading{t: t, server: notiontest.New(t), token: notiontest.Token, settings: map[string]any{"access": "source"}, stored: map[string]bool{},
		now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	r.c = &notion.Connector{Base: r.server.URL + "/", HTTP: connecttest.Fetcher(r.server.Server).Client(0), Now: func() time.Time { return r.now }, Pause: func(context.Context, time.Duration) error { return nil }}
	r.server.Put(objects...)
	return r
}

func (r *reading) access(before []byte) source.Access {
	a := source.Access{Settings: source.NewSettings(r.settings), Secrets: source.Secrets{"accessToken": r.token}, Before: before}
	a.Stored = func(_ context.Context, uris []string) (map[string]bool, error) {
		all := map[string]bool{}
		for _, uri := range uris {
			all[uri] = r.stored[uri]
		}
		return all, nil
	}
	return a
}

// TestChangesAreReadAfterTheClockWasAhead: the time of the last reading is then in the future.
func TestChangesAreReadAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	one := notiontest.NewPage(1, "Handbook")
	r := read(t, one)
	r.now = r.now.Add(4 * time.Hour)
	_, _, _, end, err := r.all(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(-3 * time.Hour)
	r.server.Change(notiontest.ID(1), func(o *notiontest.Object) { o.Edited = r.now })
	r.now = r.now.Add(15 * time.Minute)
	if _, _, _, _, err := r.all(end.Checkpoint, nil); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("a sync: %v", err)
	}
	if items, _, _, _, err := r.all(nil, end.Checkpoint); len(items) != 1 || err != nil {
		t.Errorf("the full scan: %d items, %v", len(items), err)
	}
}

// all reads from a checkpoint to the end or the first error.
func (r *reading) all(checkpoint, before []byte) (items []source.Item, unread, removed []string, end source.SyncPage, err error) {
	r.t.Helper()
	for page, err := range r.c.Read(r.t.Context(), r.access(before), "pages", checkpoint) {
		if err != nil {
			return items, unread, removed, end, err
		}
		for _, i := range page.Items {
			r.stored[i.URI] = true
		}
		if len(page.Checkpoint) > source.MaxCheckpoint {
			r.t.Errorf("a checkpoint of %d bytes", len(page.Checkpoint))
		}
		items, unread, removed, end = append(items, page.Items...), append(unread, page.Unread...), append(removed, page.Removed...), page
	}
	if !end.Last {
		r.t.Error("the last page does not say so")
	}
	return items, unread, removed, end, nil
}

func (r *reading) must(checkpoint, before []byte) (titles []string, unread, removed []string, end source.SyncPage) {
	r.t.Helper()
	items, unread, removed, end, err := r.all(checkpoint, before)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, i := range items {
		titles = append(titles, i.Title)
	}
	slices.Sort(titles)
	return titles, unread, removed, end
}

func uri(n int) string {
	return "https://www.notion.so/" + strings.ReplaceAll(notiontest.ID(n), "-", "")
}

func TestPagesAndDatabases(t *testing.T) {
	t.Parallel()
	row := notiontest.NewPage(3, "Gateway")
	row.Parent = notiontest.Row(notiontest.ID(11), notiontest.ID(10))
	row.Properties = map[string]any{
		"Status":     map[string]any{"type": "status", "status": map[string]string{"name": "Done"}},
		"Tags":       map[string]any{"type": "multi_select", "multi_select": []map[string]string{{"name": "api"}, {"name": "edge"}}},
		"Due date":   map[string]any{"type": "date", "date": map[string]any{"start": "2026-06-01", "end": nil}},
		"Leave":      map[string]any{"type": "date", "date": map[string]any{"start": "2026-06-01", "end": "2026-06-05"}},
		"Next":       map[string]any{"type": "formula", "formula": map[string]any{"type": "date", "date": map[string]any{"start": "2026-07-01", "end": nil}}},
		"Points":     map[string]any{"type": "number", "number": 3},
		"Late":       map[string]any{"type": "checkbox", "checkbox": true},
		"Owner":      map[string]any{"type": "people", "people": []map[string]string{{"name": "Ada"}}},
		"Key":        map[string]any{"type": "unique_id", "unique_id": map[string]any{"prefix": "GW", "number": 7}},
		"Sum":        map[string]any{"type": "formula", "formula": map[string]any{"type": "number", "number": 4.5}},
		"Note":       map[string]any{"type": "rich_text", "rich_text": []map[string]string{{"plain_text": "Short "}, {"plain_text": "text"}}},
		"Site":       map[string]any{"type": "url", "url": "https://acme.test"},
		"Empty":      map[string]any{"type": "select", "select": nil},
		"Not":        map[string]any{"type": "select", "select": map[string]string{"name": "x"}},
		"日付":         map[string]any{"type": "select", "select": map[string]string{"name": "y"}},
		"Related to": map[string]any{"type": "relation", "relation": []any{}},
	}
	r := read(t, notiontest.NewPage(1, "Home"), &notiontest.Object{Kind: "page", ID: notiontest.ID(2), Edited: notiontest.Day, Parent: notiontest.Below("page", notiontest.ID(1))}, row,
		&notiontest.Object{Kind: "database", ID: notiontest.ID(10), Title: "Services", Parent: notiontest.Below("page", notiontest.ID(1))},
		&notiontest.Object{Kind: "data_source", ID: notiontest.ID(11), Title: "Services", Markdown: "What we run.", Edited: notiontest.Day, Parent: notiontest.Below("database", notiontest.ID(10)),
			Container: notiontest.Below("page", notiontest.ID(1)), Properties: notiontest.Schema()})
	items, _, _, _, err := r.all(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range items {
		if i.SourceType != "documentation" || i.Access != nil || !i.CreatedAt.Equal(notiontest.Day) || i.UpdatedAt.IsZero() || !r.c.PartContains(source.Settings{}, "pages", i.URI) {
			t.Errorf("%+v", i)
		}
		got = append(got, fmt.Sprintf("%s %q %q %s", strings.TrimPrefix(i.URI, "https://www.notion.so/0c940186ab704351bb34"), i.Title, i.Body, i.Metadata.JSON()))
	}
	want := []string{
		`000000000003 "Gateway" "Due date: 2026-06-01\nKey: GW-7\nLeave: 2026-06-01 to 2026-06-05\nNext: 2026-07-01\nNot: x\nNote: Short text\nOwner: Ada\nPoints: 3\nSite: https://acme.test\nStatus: Done\nSum: 4.5\nTags: api, edge\n日付: y\n\nText of Gateway." ` +
			`{"dueDate":"2026-06-01","key":"GW-7","late":true,"leave":"2026-06-01","next":"2026-07-01","note":"Short text","owner":["Ada"],"points":3,"site":"https://acme.test","status":"Done","sum":4.5,"tags":["api","edge"]}`,
		`000000000001 "Home" "Text of Home." {}`,
		`000000000002 "Untitled" "" {}`,
		`000000000010#source-0c940186ab704351bb34000000000011 "Services" "What we run.\n\nFields: Due, Key, Late, Level, Mail, Name, Note, Owner, Phone, Points, Site, Status, Sum, Tags" {}`,
	}
	if strings.Join(got, "\n") != strings.ReplaceAll(strings.Join(want, "\n"), "{}", items[1].Metadata.JSON()) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheAccessSettingDecidesWhoReadsNotion(t *testing.T) {
	t.Parallel()
	r := read(t, notiontest.NewPage(1, "Home"))
	r.settings["access"] = "nobody"
	items, _, _, end, err := r.all(nil, nil)
	if err != nil || items[0].Access == nil || len(items[0].Access.Users)+len(items[0].Access.Groups) != 0 {
		t.Fatalf("%+v %v", items, err)
	}
	r.settings["access"] = "source"
	if _, _, _, _, err := r.all(end.Checkpoint, nil); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("after a change of the setting: %v", err)
	}
	if titles, unread, _, _ := r.must(nil, end.Checkpoint); len(titles) != 1 || len(unread) != 0 {
		t.Errorf("a full scan after it: %q %q", titles, unread)
	}
}

// TestAnUnchangedWorkspaceTakesOneRequest: a search. A full scan takes one for a hundred
// pages.
func TestAnUnchangedWorkspaceTakesOneRequest(t *testing.T) {
	t.Parallel()
	r := read(t)
	for n := range 250 {
		r.server.Put(notiontest.NewPage(n+1, fmt.Sprintf("Page %d", n+1)))
	}
	var last []byte
	for _, tt := range []struct {
		name                    string
		full                    bool
		items, unread, requests int
	}{{"the first sync", true, 250, 0, 253}, {"unchanged", false, 0, 0, 1}, {"a full scan", true, 0, 250, 3}} {
		checkpoint, before := last, []byte(nil)
		if tt.full {
			checkpoint, before = nil, last
		}
		r.server.Requests()
		r.now = r.now.Add(15 * time.Minute)
		titles, unread, _, end := r.must(checkpoint, before)
		requests := len(r.server.Requests())
		t.Logf("%s: %d items, %d requests", tt.name, len(titles), requests)
		if len(titles) != tt.items || len(unread) != tt.unread || requests != tt.requests || end.Exact {
			t.Errorf("%s: %d items, %d unread, %d requests", tt.name, len(titles), len(unread), requests)
		}
		last = end.Checkpoint
	}
}

// TestManyEditsOfAnHourFitACheckpoint: an import edits many pages at once, which two syncs in a row remember.
func TestManyEditsOfAnHourFitACheckpoint(t *testing.T) {
	t.Parallel()
	r := read(t)
	for n := range 900 {
		p := notiontest.NewPage(n+1, "Page")
		p.Edited = r.now.Add(-10 * time.Minute)
		r.server.Put(p)
	}
	_, _, _, end := r.must(nil, nil)
	for range 2 {
		r.now = r.now.Add(15 * time.Minute)
		_, _, _, end = r.must(end.Checkpoint, nil)
	}
}

func TestEditsAreReadOnce(t *testing.T) {
	t.Parallel()
	r := read(t, notiontest.NewPage(1, "Old"), notiontest.NewPage(2, "New"), notiontest.NewPage(3, "Newer"))
	edit := func(n int, at time.Time) {
		r.server.Change(notiontest.ID(n), func(o *notiontest.Object) { o.Edited = at })
	}
	edit(2, r.now.Add(-30*time.Minute))
	edit(3, r.now.Add(-30*time.Second))
	_, _, _, end := r.must(nil, nil)
	for _, tt := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"an edit within the same minute", func() { edit(3, r.now.Add(-30*time.Second+100*time.Millisecond)) }, []string{"Newer"}},
		{"nothing", func() {}, nil},
		{"an edit that the search shows late", func() { edit(1, r.now.Add(-20*time.Minute)) }, []string{"Old"}},
		{"nothing again", func() {}, nil},
		{"an edit of all", func() { edit(1, r.now); edit(2, r.now); edit(3, r.now) }, []string{"New", "Newer", "Old"}},
		{"which may have been edited again", func() {}, []string{"New", "Newer", "Old"}},
		{"and then nothing", func() {}, nil},
	} {
		tt.change()
		r.now = r.now.Add(15 * time.Minute)
		if tt.name == "an edit of all" {
			edit(1, r.now)
			edit(2, r.now)
			edit(3, r.now)
		}
		var titles []string
		if titles, _, _, end = r.must(end.Checkpoint, nil); !slices.Equal(titles, tt.want) {
			t.Errorf("%s: read %q, want %q", tt.name, titles, tt.want)
		}
	}
}

func TestWhatIsSharedLaterIsReadByAFullScan(t *testing.T) {
	t.Parallel()
	hidden := notiontest.NewPage(2, "Hidden")
	hidden.Unshared = true
	r := read(t, notiontest.NewPage(1, "Home"), hidden)
	_, _, _, end := r.must(nil, nil)
	r.server.Change(hidden.ID, func(o *notiontest.Object) { o.Unshared = false })
	r.now = r.now.Add(24 * time.Hour)
	if titles, unread, _, _ := r.must(nil, end.Checkpoint); !slices.Equal(titles, []string{"Hidden"}) || !slices.Equal(unread, []string{uri(1)}) {
		t.Errorf("read %q, unread %q", titles, unread)
	}
}

func TestLargePages(t *testing.T) {
	t.Parallel()
	block := func(n int, text string, parts ...string) *notiontest.Object {
		return &notiontest.Object{Kind: "block", ID: notiontest.ID(n), Markdown: text, Parts: parts}
	}
	for name, tt := range map[string]struct {
		page   func(o *notiontest.Object)
		want   string
		notice bool
	}{
		"whole":                        {func(*notiontest.Object) {}, "Text of Big.", false},
		"two parts":                    {func(o *notiontest.Object) { o.Parts = []string{notiontest.ID(20), notiontest.ID(21)} }, "Text of Big.\n\nTwenty.\n\nTwenty-one.\n\nTwenty-two.", false},
		"a part that is not shared":    {func(o *notiontest.Object) { o.Parts = []string{notiontest.ID(30), notiontest.ID(20)} }, "Text of Big.\n\nTwenty.", false},
		"parts in a circle":            {func(o *notiontest.Object) { o.Parts = []string{notiontest.ID(23)} }, "Text of Big.\n\nCircle.", false},
		"cut":                          {func(o *notiontest.Object) { o.Cut = true }, "Text of Big.", true},
		"more parts than are read":     {func(o *notiontest.Object) { o.Parts = []string{notiontest.ID(1000)} }, "", true},
		"more text than an item holds": {func(o *notiontest.Object) { o.Markdown = strings.Repeat("ä", 5<<20) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := notiontest.NewPage(1, "Big")
			tt.page(page)
			r := read(t, page, block(20, "Twenty."), block(21, "Twenty-one.", notiontest.ID(22)), block(22, "Twenty-two."), block(23, "Circle.", notiontest.ID(23), notiontest.ID(1)))
			for n := range 150 {
				r.server.Put(block(1000+n, "Part.", notiontest.ID(1001+n)))
			}
			items, _, _, end, err := r.all(nil, nil)
			if err != nil || len(items) != 1 || tt.want != "" && items[0].Body != tt.want || len(items[0].Body) > 8<<20 {
				t.Fatalf("%d items, %v", len(items), err)
			}
			if (end.Notice != nil) != tt.notice || tt.notice && (end.Notice.Code != source.TooLarge || !strings.Contains(end.Notice.Detail, uri(1))) {
				t.Errorf("notice %v", end.Notice)
			}
		})
	}
}

func TestOnlyWhatIsBelowTheRoots(t *testing.T) {
	t.Parallel()
	page := func(n int, title string, parent map[string]any) *notiontest.Object {
		o := notiontest.NewPage(n, title)
		o.Parent = parent
		return o
	}
	r := read(t, page(1, "Root", notiontest.Workspace), page(2, "Child", notiontest.Below("page", notiontest.ID(1))), page(3, "Elsewhere", notiontest.Workspace),
		page(4, "In a column", notiontest.Below("block", notiontest.ID(40))), &notiontest.Object{Kind: "block", ID: notiontest.ID(40), Parent: notiontest.Below("page", notiontest.ID(2))},
		page(5, "Row", notiontest.Row(notiontest.ID(51), notiontest.ID(50))), &notiontest.Object{Kind: "database", ID: notiontest.ID(50), Title: "Table", Parent: notiontest.Below("page", notiontest.ID(1))},
		&notiontest.Object{Kind: "data_source", ID: notiontest.ID(51), Title: "Table", Edited: notiontest.Day, Parent: notiontest.Below("database", notiontest.ID(50)), Container: notiontest.Below("page", notiontest.ID(1))},
		page(6, "Of a hidden parent", notiontest.Below("page", notiontest.ID(60))),
		page(7, "Row of a root", notiontest.Row(notiontest.ID(71), notiontest.ID(70))), &notiontest.Object{Kind: "database", ID: notiontest.ID(70), Title: "Other", Parent: notiontest.Workspace})
	r.settings["rootPages"] = []string{"https://www.notion.so/acme/Root-" + strings.ReplaceAll(notiontest.ID(1), "-", "") + "?pvs=4", notiontest.ID(70)}
	titles, _, removed, end := r.must(nil, nil)
	if want := []string{"Child", "In a column", "Root", "Row", "Row of a root", "Table"}; !slices.Equal(titles, want) || len(removed) != 2 {
		t.Errorf("read %q, without %q", titles, removed)
	}
	r.server.Change(notiontest.ID(2), func(o *notiontest.Object) { o.Parent, o.Edited = notiontest.Workspace, r.now })
	if _, _, removed, _ := r.must(end.Checkpoint, nil); !slices.Equal(removed, []string{uri(2)}) {
		t.Errorf("moved away: %q", removed)
	}
	for n, want := range map[int]bool{1: false, 4: true, 7: false} {
		if gone, err := r.c.IsDeleted(t.Context(), r.access(nil), "pages", uri(n)); gone != want || err != nil {
			t.Errorf("%d: %t %v", n, gone, err)
		}
	}
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.Contains(path, "/blocks/") {
			_, _ = w.Write([]byte(`{}`))
		}
		return strings.Contains(path, "/blocks/")
	})
	r.server.Change(notiontest.ID(2), func(o *notiontest.Object) { o.Parent = notiontest.Below("page", notiontest.ID(1)) })
	if gone, err := r.c.IsDeleted(t.Context(), r.access(nil), "pages", uri(4)); gone || err == nil {
		t.Errorf("in a block of which Notion says nothing: %t, %v", gone, err)
	}
	r.server.Before(nil)
	r.settings["rootPages"] = []string{notiontest.ID(99)}
	var failed *source.SyncError
	if _, _, _, _, err := r.all(nil, nil); !errors.As(err, &failed) || failed.Code != source.NotThere || !strings.Contains(failed.Detail, "The root page "+notiontest.ID(99)+" is not shared") {
		t.Errorf("a missing root: %v", err)
	}
}

func TestDeletedPages(t *testing.T) {
	t.Parallel()
	trashed, unshared := notiontest.NewPage(2, "Trashed"), notiontest.NewPage(3, "Unshared")
	trashed.InTrash, unshared.Unshared = true, true
	r := read(t, notiontest.NewPage(1, "Home"), trashed, unshared,
		&notiontest.Object{Kind: "data_source", ID: notiontest.ID(11), Title: "Table", Edited: notiontest.Day, Parent: notiontest.Below("database", notiontest.ID(10))})
	for at, want := range map[string]bool{uri(1): false, uri(2): true, uri(3): true, uri(4): true, uri(10) + "#source-" + strings.TrimPrefix(uri(11), "https://www.notion.so/"): false,
		uri(10) + "#source-" + strings.TrimPrefix(uri(12), "https://www.notion.so/"): true, "https://www.notion.so/x": false, "https://acme.test/": false} {
		if gone, err := r.c.IsDeleted(t.Context(), r.access(nil), "pages", at); gone != want || err != nil {
			t.Errorf("%s: %t %v", at, gone, err)
		}
	}
	r.token = "ntn_other"
	if gone, err := r.c.IsDeleted(t.Context(), r.access(nil), "pages", uri(3)); gone || err == nil {
		t.Errorf("without a token: %t %v", gone, err)
	}
}

// TestTextsThatTakeLongAreYieldedInParts, so that a turn that ends loses little of what it has read.
func TestTextsThatTakeLongAreYieldedInParts(t *testing.T) {
	t.Parallel()
	var objects []*notiontest.Object
	for n := range 12 {
		objects = append(objects, notiontest.NewPage(n+1, fmt.Sprint("Page ", n)))
	}
	r := read(t, objects...)
	r.server.Before(func(path string, _ http.ResponseWriter) bool {
		if strings.Contains(path, "/markdown") {
			r.now = r.now.Add(20 * time.Second)
		}
		return false
	})
	read := 0
	for page, err := range r.c.Read(t.Context(), r.access(nil), "pages", nil) {
		if err != nil {
			t.Fatal(err)
		}
		if read += len(page.Items); len(page.Items) > 2 {
			t.Errorf("%d texts in a page", len(page.Items))
		}
	}
	if read != 12 {
		t.Errorf("%d texts", read)
	}
}
