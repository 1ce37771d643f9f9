package gitlab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/gitlab"
	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

const project = "acme/tools/api"

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// reading is a connector with a gitlabtest server that has the project acme/tools/api.
type reading struct {
	t        *testing.T
	server   *gitlabtest.Server
	c        *gitlab.Connector
	settings map[string]any
	token    string
	now      time.Time
	pauses   []time.Duration
}

func read(t *testing.T) *reading {
	t.Helper()
	r := &reading{t: t, server: gitlabtest.New(t), token: gitlabtest.Token, now: now}
	r.settings = map[string]any{"projects": []string{project}, "baseUrl": r.server.URL}
	r.c = &gitlab.Connector{HTTP: connecttest.Fetcher(r.server.Server).Client(0),
		Now: func() time.Time { return r.now }, Pause: func(_ context.Context, d time.Duration) error { r.pauses = append(r.pauses, d); return nil }}
	r.put(func(*gitlabtest.Project) {})
	return r
}

func (r *reading) put(change func(*gitlabtest.Project)) { r.server.Put(project, change) }

func (r *reading) access() source.Access {
	return source.Access{Settings: source.NewSettings(r.settings), Secrets: source.Secrets{"accessToken": r.token}}
}

// later lets time pass, so that projects and members are looked up again.
func (r *reading) later() { r.now = r.now.Add(15 * time.Minute) }

// part reads a part from a checkpoint to its end or first error. It returns the items,
// the ends of removed uris, and the last page.
func (r *reading) part(kind string, checkpoint []byte) (items []source.Item, removed []string, end source.SyncPage, err error) {
	r.t.Helper()
	for page, err := range r.c.Read(r.t.Context(), r.access(), project+" "+kind, checkpoint) {
		if err != nil {
			return items, removed, end, err
		}
		items = append(items, page.Items...)
		for _, uri := range page.Removed {
			removed = append(removed, r.short(uri))
		}
		end = page
	}
	if !end.Last {
		r.t.Errorf("%s: the last page does not say so", kind)
	}
	return items, removed, end, nil
}

// must returns part with the ends of the items' uris, and fails the test on an error.
func (r *reading) must(kind string, checkpoint []byte) (uris, removed []string, end source.SyncPage) {
	r.t.Helper()
	items, removed, end, err := r.part(kind, checkpoint)
	if err != nil {
		r.t.Fatalf("%s: %v", kind, err)
	}
	for _, i := range items {
		uris = append(uris, r.short(i.URI))
	}
	return uris, removed, end
}

func (r *reading) short(uri string) string {
	return strings.TrimPrefix(uri, r.server.URL+"/"+project+"/-/")
}

func TestRecordsWithTheirComments(t *testing.T) {
	t.Parallel()
	r := read(t)
	at := gitlabtest.Day.Add
	closed := gitlabtest.NewIssue(3, "Closed")
	closed.State, closed.ClosedAt, closed.Author, closed.Description = "closed", &closed.UpdatedAt, nil, nil
	closed.Labels, closed.Assignees = []string{"bug"}, []gitlabtest.User{*gitlabtest.NewUser("grace")}
	closed.Milestone = &gitlabtest.Milestone{ID: 1, Title: "v2"}
	incident := gitlabtest.NewIssue(1, "Open")
	incident.IssueType = "incident"
	locked := gitlabtest.NewMergeRequest(5, "Being merged")
	locked.State, locked.MergedAt = "locked", nil
	r.put(func(p *gitlabtest.Project) {
		p.Issues = []gitlabtest.Record{incident, closed}
		p.MergeRequests = []gitlabtest.Record{gitlabtest.NewMergeRequest(4, "Merged"), locked}
	})
	for _, n := range []gitlabtest.Note{{Body: "Seen here too.\n"}, {Body: "changed the title", System: true}, {Body: "A customer said so.", Internal: true},
		{Body: "Of an older GitLab.", Confidential: true}, {Body: "On another project.", Unseen: true}, {Body: "Fixed.", Author: gitlabtest.NewUser("ada")}} {
		r.server.Comment(project, "issues", 1, n, at(time.Hour))
	}
	r.server.Comment(project, "merge_requests", 4, gitlabtest.Note{Body: "Why?", Position: &gitlabtest.Position{NewPath: "main.go", NewLine: 7}}, at(time.Hour))
	var got []string
	for _, kind := range []string{"issues", "merge_requests"} {
		items, _, _, err := r.part(kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if i.Project != project || i.Access != nil || !i.CreatedAt.Equal(gitlabtest.Day) || i.UpdatedAt.IsZero() {
				t.Errorf("%+v", i)
			}
			times := ""
			if !i.ClosedAt.IsZero() {
				times = " closed " + i.ClosedAt.Format("15:04")
			}
			if !i.MergedAt.IsZero() {
				times += " merged " + i.MergedAt.Format("15:04")
			}
			got = append(got, fmt.Sprintf("%s %s #%s %s by %q to %q as %q%s %s: %q %q", r.short(i.URI), i.SourceType, i.Number, i.State, i.Author, i.Assignees, i.Labels, times, i.Metadata.JSON(), i.Title, i.Body))
		}
	}
	want := []string{
		`issues/3 issue #3 closed by "" to ["grace"] as ["bug"] closed 00:03 {"milestone":"v2"}: "Closed" ""`,
		`issues/1 issue #1 open by "ada" to [] as [] {"issueType":"incident"}: "Open" "Text of Open.\n\n## Comments\n\n**grace**, 2026-05-01:\n\nSeen here too.\n\n**ada**, 2026-05-01:\n\nFixed.\n"`,
		`merge_requests/5 pull_request #5 open by "ada" to [] as [] {"targetBranch":"main"}: "Being merged" "Text of Being merged."`,
		`merge_requests/4 pull_request #4 merged by "ada" to [] as [] closed 00:04 merged 00:04 {"targetBranch":"main"}: "Merged" "Text of Merged.\n\n## Comments\n\n**grace**, 2026-05-01, on ` + "`main.go`" + ` line 7:\n\nWhy?\n"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestALongLabelIsCut(t *testing.T) {
	t.Parallel()
	r := read(t)
	one := gitlabtest.NewIssue(1, "One")
	one.Labels = []string{strings.Repeat("é", 255), "bug"}
	r.put(func(p *gitlabtest.Project) { p.Issues = []gitlabtest.Record{one} })
	items, _, _, err := r.part("issues", nil)
	if err != nil || len(items) != 1 || !slices.Equal(items[0].Labels, []string{strings.Repeat("é", source.MaxLabel), "bug"}) {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestPagesOfRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, comments, requests, pages int
		sameTime                     bool
	}{{0, 0, 2, 1, false}, {99, 0, 2, 1, false}, {100, 0, 2, 1, false}, {101, 0, 3, 2, false}, {250, 0, 4, 3, false}, {250, 0, 5, 4, true}, {60, 60, 62, 3, false}, {120, 101, 105, 6, true}} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) {
				for i := range tt.n {
					one := gitlabtest.NewIssue(i+1, strconv.Itoa(i+1))
					if tt.sameTime {
						one.UpdatedAt = gitlabtest.Day
					}
					if i < tt.comments {
						one.Comments = []gitlabtest.Note{{Body: "A comment."}}
					}
					p.Issues = append(p.Issues, one)
				}
			})
			var uris []string
			pages := 0
			for page, err := range r.c.Read(t.Context(), r.access(), project+" issues", nil) {
				if err != nil {
					t.Fatal(err)
				}
				pages++
				for _, i := range page.Items {
					uris = append(uris, i.URI)
				}
				if len(page.Checkpoint) > 4000 {
					t.Errorf("a checkpoint of %d bytes", len(page.Checkpoint))
				}
			}
			slices.Sort(uris)
			if requests := len(r.server.Requests()); len(slices.Compact(uris)) != tt.n || requests != tt.requests || pages != tt.pages {
				t.Errorf("%d items, %d requests, %d pages", len(uris), requests, pages)
			}
		})
	}
}

func TestRecordsThatMoveDuringASyncAreNotMissed(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		for i := range 250 {
			p.Issues = append(p.Issues, gitlabtest.NewIssue(i+1, strconv.Itoa(i+1)))
		}
	})
	asked := 0
	r.server.Before(func(string, http.ResponseWriter) bool {
		if asked++; asked == 3 { // ten of the first page change, and ten are deleted
			r.put(func(p *gitlabtest.Project) {
				for i := range 10 {
					p.Issues[i].UpdatedAt = gitlabtest.Day.Add(1000 * time.Minute)
				}
				p.Issues = slices.Delete(p.Issues, 20, 30)
			})
		}
		return false
	})
	uris, _, _ := r.must("issues", nil)
	for n := range 250 {
		if !slices.Contains(uris, "issues/"+strconv.Itoa(n+1)) {
			t.Errorf("%d was missed", n+1)
		}
	}
}

// TestAnUnchangedProjectTakesSixRequests: the project, its members, and one for each part.
func TestAnUnchangedProjectTakesSixRequests(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Visibility, p.Members = "private", []gitlabtest.Member{gitlabtest.NewMember("ada", 40, "ada@acme.test")}
		for n := range 3 {
			issue := gitlabtest.NewIssue(n+1, "Issue")
			issue.Comments = []gitlabtest.Note{{Body: "A comment."}}
			p.Issues, p.MergeRequests = append(p.Issues, issue), append(p.MergeRequests, gitlabtest.NewMergeRequest(n+10, "Change"))
		}
		p.Wiki = []gitlabtest.WikiPage{gitlabtest.NewWikiPage("home", "Home")}
		p.Commits = []gitlabtest.Commit{{Files: map[string]string{"README.md": "# Read me\n"}}}
	})
	parts := r.c.Parts(source.NewSettings(r.settings))
	checkpoints := map[string][]byte{}
	for run := range 3 {
		r.later()
		r.server.Requests()
		items := 0
		for _, part := range parts {
			for page, err := range r.c.Read(t.Context(), r.access(), part, checkpoints[part]) {
				if err != nil {
					t.Fatal(err)
				}
				checkpoints[part], items = page.Checkpoint, items+len(page.Items)
			}
		}
		requests := r.server.Requests()
		t.Logf("run %d: %d items, %d requests", run+1, items, len(requests))
		if run > 0 && (len(requests) != 6 || items != 0) || run == 0 && (items != 8 || len(requests) != 10) {
			t.Errorf("run %d: %d items by %q", run+1, items, requests)
		}
	}
}

// TestCommentsThatDoNotChangeTheTimeAreFound: GitLab leaves the time of an issue for a
// comment within a minute of its last change.
func TestCommentsThatDoNotChangeTheTimeAreFound(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "Old"), gitlabtest.NewIssue(2, "New"), gitlabtest.NewIssue(3, "Newest")}
		p.Issues[1].UpdatedAt, p.Issues[2].UpdatedAt = r.now.Add(-20*time.Second), r.now.Add(-10*time.Second)
	})
	_, _, end := r.must("issues", nil)
	r.server.Comment(project, "issues", 2, gitlabtest.Note{Body: "At once."}, r.now.Add(5*time.Second))
	r.later()
	uris, _, end := r.must("issues", end.Checkpoint)
	if !slices.Equal(uris, []string{"issues/2", "issues/3"}) {
		t.Errorf("got %q", uris)
	}
	r.server.Comment(project, "issues", 3, gitlabtest.Note{Body: "Later."}, r.now)
	r.later()
	if uris, _, end = r.must("issues", end.Checkpoint); !slices.Equal(uris, []string{"issues/3"}) {
		t.Errorf("then %q", uris)
	}
	if uris, _, _ = r.must("issues", end.Checkpoint); len(uris) != 0 {
		t.Errorf("unchanged: %q", uris)
	}
}

func TestDeletedRecords(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) { p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "There")} })
	base := r.server.URL + "/" + project + "/-/"
	gone := func(part, uri string) (bool, error) {
		return r.c.IsDeleted(t.Context(), r.access(), project+" "+part, uri)
	}
	for uri, want := range map[string]bool{base + "issues/1": false, base + "issues/2": true, base + "issues/x": false, base + "issues/1#note_2": false} {
		if deleted, err := gone("issues", uri); deleted != want || err != nil {
			t.Errorf("%s: %t %v", uri, deleted, err)
		}
	}
	if deleted, err := gone("merge_requests", base+"merge_requests/1"); !deleted || err != nil {
		t.Errorf("a merge request: %t %v", deleted, err)
	}
	r.put(func(p *gitlabtest.Project) { p.Missing = true })
	if deleted, err := gone("issues", base+"issues/2"); deleted || err == nil {
		t.Errorf("of a project that cannot be read: %t %v", deleted, err)
	}
	settings := source.NewSettings(r.settings)
	for part, uri := range map[string]string{"issues": "issues/1", "merge_requests": "merge_requests/1", "wiki": "wikis/a/b", "files": "blob/main/x.md"} {
		for _, other := range []string{"issues", "merge_requests", "wiki", "files"} {
			if got := r.c.PartContains(settings, project+" "+other, base+uri); got != (other == part) {
				t.Errorf("%s contains %s: %t", other, uri, got)
			}
		}
	}
}

func TestARenamedProjectKeepsItsURIs(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) { p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "First")} })
	before, _, end := r.must("issues", nil)
	if end.Notice != nil {
		t.Errorf("a notice: %v", end.Notice)
	}
	r.server.Rename(project, "acme/gateway")
	r.later()
	after, _, end := r.must("issues", nil)
	if !slices.Equal(before, after) || end.Notice == nil || end.Notice.Code != source.Renamed || !strings.Contains(end.Notice.Detail, project+" is called acme/gateway now.") {
		t.Errorf("got %q %v", after, end.Notice)
	}
}

func TestPartsThatAreSwitchedOffAreEmpty(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Levels = map[string]string{"issues": "disabled", "merge_requests": "disabled", "wiki": "disabled", "repository": "disabled"}
		p.Commits = []gitlabtest.Commit{{Files: map[string]string{"a.md": "Text."}}}
	})
	for _, kind := range []string{"issues", "merge_requests", "wiki", "files"} {
		if uris, _, end := r.must(kind, nil); len(uris) != 0 || !end.Exact {
			t.Errorf("%s: %q %+v", kind, uris, end)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	status := func(code int, header, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if name, value, ok := strings.Cut(header, ": "); ok {
				w.Header().Set(name, value)
			}
			w.Header().Del("RateLimit-Reset")
			if strings.HasPrefix(header, "RateLimit-Reset") {
				w.Header().Set("RateLimit-Reset", strings.TrimPrefix(header, "RateLimit-Reset: "))
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	reset := now.Add(20 * time.Minute)
	for _, tt := range []struct {
		name    string
		fail    func(w http.ResponseWriter)
		code    string
		detail  string
		retryAt time.Time
		all     bool
		passes  bool // after one failure the retry succeeds
	}{
		{"limit with seconds", status(429, "Retry-After: 120", "Retry later\n"), source.RateLimited, "allows no more requests before 2026-11-21T12:02:00Z", now.Add(2 * time.Minute), true, false},
		{"limit with a reset", status(429, "RateLimit-Reset: "+strconv.FormatInt(reset.Unix(), 10), "{}"), source.RateLimited, "12:20:00Z", reset, true, false},
		{"limit without a time", status(429, "", `{"message":{"error":"This endpoint has been requested too many times. Try again later."}}`), source.RateLimited, "", now.Add(time.Minute), true, false},
		{"a short limit", status(429, "Retry-After: 5", ""), source.RateLimited, "", now.Add(5 * time.Second), true, true},
		{"500", status(500, "", `{"message":"500 Internal Server Error"}`), source.Unreadable, "GitLab failed with status 500.", time.Time{}, false, true},
		{"502 of HTML", status(502, "", `<html>Whoops</html>`), source.Unreadable, "502", time.Time{}, false, true},
		{"truncated JSON", status(200, "", `[{"iid":1,"tit`), source.Unreadable, "", time.Time{}, false, true},
		{"no list", status(200, "", `{"message":"hello"}`), source.Unreadable, "", time.Time{}, false, true},
		{"null", status(200, "", `null`), source.Unreadable, "", time.Time{}, false, true},
		{"empty", status(200, "", ``), source.Unreadable, "", time.Time{}, false, true},
		{"bad token", status(401, "", `{"message":"401 Unauthorized"}`), source.Unauthorized, "does not accept the access token", time.Time{}, true, false},
		{"no permission", status(403, "", `{"message":"403 Forbidden"}`), source.Unauthorized, "It needs the role Reporter", time.Time{}, false, false},
		{"not found", status(404, "", `{"message":"404 Not found"}`), source.NotThere, "", time.Time{}, false, false},
		{"unprocessable", status(422, "", `{"message":"no"}`), source.Refused, "422", time.Time{}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) {
				for i := range 150 {
					p.Issues = append(p.Issues, gitlabtest.NewIssue(i+1, strconv.Itoa(i+1)))
				}
			})
			asked := 0
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if asked++; asked > 2 {
					tt.fail(w)
				}
				return asked > 2
			})
			items, _, end, err := r.part("issues", nil)
			var failed *source.SyncError
			if !errors.As(err, &failed) || failed.Code != tt.code || !strings.Contains(failed.Detail, tt.detail) || !failed.RetryAt.Equal(tt.retryAt) || failed.AllParts != tt.all || failed.Detail == "" {
				t.Fatalf("got %+v %v", failed, err)
			}
			if len(items) != 100 || strings.Contains(failed.Error(), gitlabtest.Token) {
				t.Errorf("%d items; %v", len(items), failed)
			}
			once := false
			r.server.Before(func(_ string, w http.ResponseWriter) bool {
				if once || !tt.passes {
					return false
				}
				once = true
				tt.fail(w)
				return true
			})
			rest, _, _ := r.must("issues", end.Checkpoint) // resumes after the page that was read
			if len(rest) != 50 {
				t.Errorf("the rest is %d items", len(rest))
			}
		})
	}
}

func TestMessagesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, token, project, code, detail string
		all                                bool
	}{
		{"a scope is missing", gitlabtest.Scopeless, project, source.Unauthorized, "The access token lacks the scope read_api.", true},
		{"expired", gitlabtest.Expired, project, source.Unauthorized, "The access token has expired.", true},
		{"another token", "glpat-other", project, source.Unauthorized, "GitLab does not accept the access token.", true},
		{"no such project", gitlabtest.Token, "acme/nothing", source.NotThere, "There is no project acme/nothing on 127.0.0.1", false},
		{"a private project without a token", "", project, source.NotThere, "There is no project " + project, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) { p.Visibility = "private" })
			r.token = tt.token
			for _, err := range r.c.Read(t.Context(), r.access(), tt.project+" issues", nil) {
				var failed *source.SyncError
				if !errors.As(err, &failed) || failed.Code != tt.code || !strings.Contains(failed.Detail, tt.detail) || failed.AllParts != tt.all {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(7, "With a comment")}
		p.Issues[0].Comments = []gitlabtest.Note{{Body: "A comment."}}
	})
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.Contains(path, "/notes") {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	})
	if _, _, _, err := r.part("issues", nil); err == nil || !strings.Contains(err.Error(), "the comments on issue 7: GitLab failed with status 500.") {
		t.Errorf("got %v", err)
	}
}

func TestACheckpointOfAnotherFormIsAnError(t *testing.T) {
	t.Parallel()
	r := read(t)
	var syntax *json.SyntaxError
	if _, _, _, err := r.part("issues", []byte("x")); !errors.As(err, &syntax) {
		t.Errorf("got %v", err)
	}
}
