package jira_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/connect/atlassian"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/connecttest"
	"docent/shared/connect/jira"
	"docent/shared/connect/jira/jiratest"
	"docent/shared/source"
)

// site is a server with the projects OPS and WEB, and a library that is synced from it.
type site struct {
	*jiratest.Server
	*atlassiantest.Library
	t      *testing.T
	clock  *clocktest.Clock
	pauses int
	access source.Access
	c      *jira.Connector
}

func newSite(t *testing.T, cloud bool, settings map[string]any) *site {
	t.Helper()
	s := &site{t: t, clock: clocktest.New(atlassiantest.Day)}
	s.Server = jiratest.New(t, cloud, s.clock.Now)
	s.Groups = map[string][]string{"everyone": {"ada", "grace", "eve", "lead"}, "engineering": {"ada", "grace"}, "hr": {"eve"}, "outside": {"zoe", "ada"}}
	for _, key := range []string{"OPS", "WEB"} {
		s.Projects[key] = &jiratest.Project{Browse: []jiratest.Holder{{Type: "group", Name: "everyone"}},
			Roles: map[string][]jiratest.Holder{"Developers": {{Type: "group", Name: "engineering"}, {Type: "user", Name: "eve"}}, "Managers": {{Type: "user", Name: "lead"}}}}
	}
	all := map[string]any{"baseUrl": s.URL, "projects": []string{"OPS", "WEB"}}
	if cloud {
		all["email"] = atlassiantest.Email
	}
	maps.Copy(all, settings)
	s.access = source.Access{Settings: source.NewSettings(all), Secrets: source.Secrets{"accessToken": atlassiantest.Token}}
	s.c = &jira.Connector{Client: atlassian.Client{HTTP: connecttest.Fetcher(s.Server.Server.Server).Client(0), Now: s.clock.Now,
		Pause: func(context.Context, time.Duration) error { s.pauses++; return nil }}}
	s.Library = atlassiantest.NewLibrary(t, jira.Provider, s.c, s.clock, s.access)
	return s
}

// issue returns issue n, created and changed n minutes after May.
func issue(n int) *jiratest.Issue {
	at := time.Date(2026, 5, 1, 0, n, 0, 0, time.UTC)
	return &jiratest.Issue{Number: n, Summary: fmt.Sprint("Issue ", n), Text: fmt.Sprintf("Text of %d.", n), Created: at, Updated: at}
}

func comment(n int) jiratest.Comment {
	return jiratest.Comment{ID: n, Text: fmt.Sprintf("Comment %d.", n), At: time.Date(2026, 5, 2, 0, n, 0, 0, time.UTC)}
}

// put adds issues to OPS.
func (s *site) put(issues ...*jiratest.Issue) {
	s.Change(func() { s.Projects["OPS"].Issues = append(s.Projects["OPS"].Issues, issues...) })
}

func (s *site) ops() []*jiratest.Issue { return s.Projects["OPS"].Issues }

// both runs a test for a Cloud and for a Data Center.
func both(t *testing.T, test func(t *testing.T, cloud bool)) {
	t.Helper()
	for name, cloud := range map[string]bool{"Cloud": true, "Data Center": false} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, cloud) })
	}
}

// names returns the ends of the uris of the stored items, sorted.
func (s *site) names() []string {
	s.t.Helper()
	out := []string{}
	for uri := range s.Items() {
		out = append(out, strings.TrimPrefix(uri, s.URL+"/browse/"))
	}
	slices.Sort(out)
	return out
}

func (s *site) want(names ...string) {
	s.t.Helper()
	names = slices.Sorted(slices.Values(names)) // a copy, as tests in parallel share it
	if got := s.names(); !slices.Equal(got, names) {
		s.t.Errorf("stored %q, want %q", got, names)
	}
}

func TestIssuesAndCommentsAreRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		done := issue(2)
		done.Done, done.Assignee, done.Labels, done.Comments = true, "grace", []string{"urgent"}, []jiratest.Comment{comment(7)}
		done.RawFields = map[string]any{"parent": map[string]any{"key": "OPS-1"}, "customfield_1": 3}
		s.put(issue(1), done)
		if p := s.MustSync(); p.Read != 3 || s.Shown().LastError != nil {
			t.Errorf("%+v %+v", p, s.Shown().LastError)
		}
		s.want("OPS-1", "OPS-2", "OPS-2#comment-7")
		got, note := s.Items()[s.URL+"/browse/OPS-2"], s.Items()[s.URL+"/browse/OPS-2#comment-7"]
		if got.Title != "Issue 2" || got.Excerpt != "Text of 2." || got.Facts.Author != "Ada" || got.Facts.Project != "OPS" || got.Facts.Number != "OPS-2" ||
			got.Facts.State != "closed" || !slices.Equal(got.Facts.Labels, []string{"urgent"}) || !slices.Equal(got.Facts.Assignees, []string{"Grace"}) ||
			!got.CreatedAt.Equal(done.Created) || !got.Facts.Changed.Equal(done.Updated) || !got.Facts.Closed.Equal(done.Updated) ||
			got.Metadata.JSON() != `{"components":["api"],"parent":"OPS-1","priority":"High","resolution":"Fixed","status":"Resolved","type":"Bug"}` {
			t.Errorf("%+v %+v %s", got, got.Facts, got.Metadata.JSON())
		}
		if note.Title != "Comment on OPS-2: Issue 2" || note.Excerpt != "Comment 7." || !note.Facts.Comment || note.Facts.Author != "Grace" || !note.Access.Equal(got.Access) {
			t.Errorf("%+v %+v", note, note.Facts)
		}
		if open := s.Items()[s.URL+"/browse/OPS-1"]; open.Facts.State != "open" || !open.Facts.Closed.IsZero() {
			t.Errorf("%+v", open.Facts)
		}
	})
}

// TestChangesAreReadAfterTheClockWasAhead: the time of the last reading is then in the future.
func TestChangesAreReadAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.clock.Advance(3 * time.Hour)
		s.MustSync()
		s.clock.Advance(-2 * time.Hour)
		late := issue(1)
		late.Updated = s.clock.Now()
		s.put(late)
		s.clock.Advance(15 * time.Minute)
		if s.MustSync(); s.Shown().LastError != nil {
			t.Errorf("%+v", s.Shown().LastError)
		}
		s.want("OPS-1")
	})
}

func TestAnUnchangedProjectCostsOneRequest(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		long := issue(1)
		for n := range 130 { // more than come with an issue, and than one request lists
			long.Comments = append(long.Comments, comment(n+1))
		}
		s.put(long)
		for n := range 119 {
			s.put(issue(n + 2))
		}
		s.Requests()
		p := s.MustSync()
		if len(s.Items()) != 250 || p.Read < 250 || cloud && p.Read > 250 { // numbered pages overlap
			t.Errorf("%d items, %+v", len(s.Items()), p)
		}
		t.Logf("the first sync of 250 items took %d requests", len(s.Requests()))
		s.clock.Advance(16 * time.Minute)
		if p := s.MustSync(); p.Read != 0 {
			t.Errorf("%+v", p)
		}
		if requests := s.Requests(); len(requests) != 2 {
			t.Errorf("two projects took %d requests: %q", len(requests), requests)
		}
	})
}

func TestOnlyChangesAreReadAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 60 {
			s.put(issue(n + 1))
		}
		s.MustSync()
		s.clock.Advance(16 * time.Minute)
		added := issue(61)
		added.Created, added.Updated = s.clock.Now(), s.clock.Now()
		s.put(added)
		s.Change(func() {
			s.ops()[6].Summary, s.ops()[6].Updated = "Renamed", s.clock.Now().Add(-15*time.Minute)
			s.ops()[3].Comments, s.ops()[3].Updated = []jiratest.Comment{comment(5)}, s.clock.Now()
		})
		if p := s.MustSync(); p.Read != 4 {
			t.Errorf("%+v", p)
		}
		if items := s.Items(); len(items) != 62 || items[s.URL+"/browse/OPS-7"].Title != "Renamed" || items[s.URL+"/browse/OPS-4#comment-5"].Excerpt != "Comment 5." {
			t.Errorf("%d items", len(items))
		}
	})
}

func TestWhatMovesDuringAScanIsNotMissed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 120 {
			s.put(issue(n + 1))
		}
		searches := 0
		s.Before(func(path string, _ http.ResponseWriter) bool {
			if strings.Contains(path, "/search") {
				if searches++; searches == 2 { // issues that were read are deleted, others are new or change
					all := s.ops()[:117]
					for n := range 5 {
						added := issue(200 + n)
						added.Created, added.Updated = s.clock.Now(), s.clock.Now()
						all[n+30].Updated = s.clock.Now()
						all = append(all, added)
					}
					s.Projects["OPS"].Issues = all
				}
			}
			return false
		})
		s.MustSync()
		s.Before(nil)
		s.clock.Advance(16 * time.Minute)
		s.MustSync()
		names := s.names()
		for n := range 117 {
			if !slices.Contains(names, fmt.Sprint("OPS-", n+1)) {
				t.Errorf("issue %d was missed", n+1)
			}
		}
		for n := range 5 {
			if !slices.Contains(names, fmt.Sprint("OPS-", n+200)) {
				t.Errorf("issue %d was missed", n+200)
			}
		}
	})
}

// TestAReplyThatSaysNothingRemovesNothing: an item that the search missed is asked for.
func TestAReplyThatSaysNothingRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{`{}`, `{"status":"current"}`} {
		both(t, func(t *testing.T, cloud bool) {
			s := newSite(t, cloud, nil)
			s.put(issue(1), issue(2))
			s.MustSync()
			s.Change(func() { s.ops()[1].Missed = true })
			s.Before(func(path string, w http.ResponseWriter) bool {
				if !strings.Contains(path, "/issue/") {
					return false
				}
				_, _ = w.Write([]byte(reply))
				return true
			})
			s.clock.Advance(7 * time.Hour)
			s.MustSync()
			if len(s.Items()) != 2 || s.Shown().LastError == nil {
				t.Errorf("%s: %d items are left, %+v", reply, len(s.Items()), s.Shown().LastError)
			}
		})
	}
}

// TestNobodyReadsAProjectThatIsNotShown: who may read it now is not known, unless the source decides.
func TestNobodyReadsAProjectThatIsNotShown(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]bool{"members": true, "source": false} {
		both(t, func(t *testing.T, cloud bool) {
			s := newSite(t, cloud, map[string]any{"access": by})
			s.put(issue(1))
			s.MustSync()
			s.Change(func() { delete(s.Projects, "OPS") })
			s.clock.Advance(7 * time.Hour)
			for range 5 {
				s.MustSync()
				s.clock.Advance(20 * time.Minute)
			}
			if len(s.Items()) != 1 {
				t.Fatalf("%d items", len(s.Items()))
			}
			for uri, i := range s.Items() {
				if hidden := i.Access != nil && len(i.Access.Users)+len(i.Access.Groups) == 0; hidden != want {
					t.Errorf("%s: %s is read by %+v", by, uri, i.Access)
				}
			}
		})
	}
}

func TestWhatIsGoneIsRemoved(t *testing.T) {
	t.Parallel()
	all := []string{"OPS-1", "OPS-2", "OPS-3", "OPS-1#comment-11", "OPS-2#comment-12"}
	for _, tt := range []struct {
		name   string
		change func(s *site)
		want   []string
		code   string
	}{
		{"nothing", func(*site) {}, all, ""},
		{"an issue, with its comments", func(s *site) { s.Projects["OPS"].Issues = s.ops()[1:] }, []string{"OPS-2", "OPS-3", "OPS-2#comment-12"}, ""},
		{"a comment", func(s *site) { s.ops()[0].Comments = nil }, []string{"OPS-1", "OPS-2", "OPS-3", "OPS-2#comment-12"}, ""},
		{"an issue that the account may no longer browse", func(s *site) { s.ops()[1].Hidden = true }, []string{"OPS-1", "OPS-3", "OPS-1#comment-11"}, ""},
		{"an issue that the search misses stays", func(s *site) { s.ops()[1].Missed = true }, all, ""},
		{"an issue moved to another project", func(s *site) { s.ops()[1].MovedTo = "HR-9" }, []string{"OPS-1", "OPS-3", "OPS-1#comment-11"}, ""},
		{"a project that cannot be seen loses nothing", func(s *site) { delete(s.Projects, "OPS") }, all, source.NotThere},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				one, two := issue(1), issue(2)
				one.Comments, two.Comments = []jiratest.Comment{comment(11)}, []jiratest.Comment{comment(12)}
				s.put(one, two, issue(3))
				s.MustSync()
				s.want(all...)
				s.Change(func() { tt.change(s) })
				s.clock.Advance(7 * time.Hour)
				s.MustSync()
				s.want(tt.want...)
				if d := s.Shown(); (d.LastError == nil) != (tt.code == "") || d.LastError != nil && (d.LastError.Code != tt.code || !strings.Contains(d.LastError.Detail, "OPS")) {
					t.Errorf("shown %+v", d.LastError)
				}
			})
		})
	}
}

// TestEveryCallMayFail makes every request to the provider and every call of the store
// fail, one in each sync.
func TestEveryCallMayFail(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T, cloud bool) (*site, []string) {
		s := newSite(t, cloud, nil)
		s.Inline = 1
		var want []string
		for n := range 53 {
			s.put(issue(n + 1))
			want = append(want, fmt.Sprint("OPS-", n+1))
		}
		limited := comment(8)
		limited.Role = "Developers"
		s.Change(func() { s.ops()[0].Comments = []jiratest.Comment{comment(7), limited} })
		return s, append(want, "OPS-1#comment-7", "OPS-1#comment-8")
	}
	check := func(t *testing.T, s *site, want []string) {
		t.Helper()
		s.Recover()
		s.want(want...)
		for uri, i := range s.Items() {
			groups := []string{"everyone"}
			if strings.HasSuffix(uri, "#comment-8") {
				groups = []string{"engineering"}
			}
			if got := i.Access.Names(); !slices.Equal(got.Groups, groups) {
				t.Errorf("%s is read by %v", uri, got)
			}
		}
	}
	both(t, func(t *testing.T, cloud bool) {
		atlassiantest.EveryCallMayFail(t, []int{http.StatusInternalServerError, http.StatusTooManyRequests}, 3, func(t *testing.T) atlassiantest.Filled {
			t.Helper()
			s, want := prepare(t, cloud)
			return atlassiantest.Filled{Server: s.Server.Server, Library: s.Library, Check: func(t *testing.T) { t.Helper(); check(t, s, want) }}
		})
	})
}

func TestAnExpiredTokenStartsThePartAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, nil)
	for n := range 120 {
		s.put(issue(n + 1))
	}
	var at []byte
	for page, err := range s.c.Read(t.Context(), s.access, "OPS", nil) {
		if err != nil {
			t.Fatal(err)
		}
		at = page.Checkpoint
		break
	}
	refused := 0
	s.Before(func(path string, w http.ResponseWriter) bool {
		if strings.Contains(path, "nextPageToken=") && refused == 0 {
			refused++
			atlassiantest.Refuse(w, http.StatusBadRequest, "The provided next page token is invalid or expired.")
			return true
		}
		return false
	})
	items := 0
	for page, err := range s.c.Read(t.Context(), s.access, "OPS", at) {
		if err != nil {
			t.Fatal(err)
		}
		items += len(page.Items)
	}
	if items != 120 || refused != 1 {
		t.Errorf("%d items", items)
	}
}
