package jira_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/jira/jiratest"
	"docent/shared/source"
)

// TestAnIssueWhoseCommentsFailDoesNotHoldUpOthers: it fails one sync. Then the issue is stored with the comments that came with it. The
// others stay, hidden once something has changed, until they can be read.
func TestAnIssueWhoseCommentsFailDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a failure": 500, "a refusal": 422} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				s.Change(func() { s.Inline = 1 })
				broken := issue(2)
				broken.Comments = []jiratest.Comment{comment(7), comment(8)}
				s.put(issue(1), broken, issue(3))
				fail := func(path string, w http.ResponseWriter) bool {
					if !strings.Contains(path, "/issue/OPS-2/comment") {
						return false
					}
					w.WriteHeader(status)
					return true
				}
				shows := func(code, detail string) {
					t.Helper()
					if e := s.Shown().LastError; (e == nil) != (code == "") || e != nil && (e.Code != code || !strings.Contains(e.Detail, detail)) {
						t.Errorf("the source shows %+v, want %q", e, code)
					}
				}
				people := func(fragment string) []string { // who may read a comment
					t.Helper()
					if n := s.Items()[s.URL+"/browse/OPS-2#comment-"+fragment].Access.Names(); n != nil {
						return slices.Concat(n.Users, n.Groups)
					}
					return []string{"unlimited"}
				}
				s.Before(fail)
				s.MustSync()
				if e := s.Shown().LastError; e == nil || e.Code == source.ItemRejected {
					t.Errorf("first: %+v", e)
				}
				s.clock.Advance(2 * time.Minute)
				s.MustSync()
				shows(source.ItemRejected, "OPS-2: Jira does not return all comments on it; later syncs try again")
				s.want("OPS-1", "OPS-2", "OPS-2#comment-7", "OPS-3")
				s.clock.Advance(16 * time.Minute)
				s.MustSync()
				shows(source.ItemRejected, "OPS-2")
				s.Before(nil)
				s.clock.Advance(16 * time.Minute)
				s.MustSync()
				shows("", "")
				s.want("OPS-1", "OPS-2", "OPS-2#comment-7", "OPS-2#comment-8", "OPS-3")

				s.Before(fail) // in a full scan, without a change
				for range 2 {
					s.clock.Advance(7 * time.Hour)
					s.MustSync()
				}
				shows(source.ItemRejected, "OPS-2")
				if got := people("8"); !slices.Equal(got, []string{"everyone"}) {
					t.Errorf("unchanged, the comment is read by %q", got)
				}
				s.Change(func() {
					s.ops()[1].Updated = s.clock.Now()
					s.ops()[1].Comments[1].Group = "hr"
				})
				s.clock.Advance(time.Minute)
				s.MustSync()
				if got := people("8"); len(got) > 0 {
					t.Errorf("changed, the comment is read by %q", got)
				}
				s.Before(nil)
				s.clock.Advance(time.Minute)
				s.MustSync()
				shows("", "")
				if got := people("8"); len(got) == 0 || slices.Contains(got, "everyone") {
					t.Errorf("in the end the comment is read by %q", got)
				}
				s.want("OPS-1", "OPS-2", "OPS-2#comment-7", "OPS-2#comment-8", "OPS-3")

				s.Before(fail) // whether its own readers still may read it, nothing of the issue tells
				for range 2 {
					s.clock.Advance(7 * time.Hour)
					s.MustSync()
				}
				if got := people("8"); len(got) > 0 {
					t.Errorf("with readers of its own, the comment is read by %q", got)
				}
			})
		})
	}
}

// TestManyIssuesWhoseCommentsFailHoldUpNoOther: the second sync goes on without all of them, on each page of the search.
func TestManyIssuesWhoseCommentsFailHoldUpNoOther(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.Change(func() { s.Inline = 1 })
		want := []string{}
		for n := range 120 {
			one := issue(n + 1)
			if want = append(want, fmt.Sprint("OPS-", n+1)); n%40 > 0 {
				one.Comments = []jiratest.Comment{comment(2 * n), comment(2*n + 1)}
				want = append(want, fmt.Sprintf("OPS-%d#comment-%d", n+1, 2*n))
			}
			s.put(one)
		}
		s.Before(func(path string, w http.ResponseWriter) bool {
			if !strings.Contains(path, "/comment") {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			return true
		})
		s.MustSync()
		s.clock.Advance(2 * time.Minute)
		s.MustSync()
		if e := s.Shown().LastError; e == nil || e.Code != source.ItemRejected {
			t.Errorf("the source shows %+v", e)
		}
		s.want(want...)
	})
}

// TestCommentsThatMayNotBeReadAreHidden: a refusal of one issue's comments is about these alone. Nobody goes on reading what is stored of
// them, though the issue has not changed.
func TestCommentsThatMayNotBeReadAreHidden(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.Change(func() { s.Inline = 1 })
		limited := issue(2)
		limited.Comments = []jiratest.Comment{comment(7), comment(8)}
		s.put(issue(1), limited)
		s.MustSync()
		s.put(issue(3))
		s.Before(func(path string, w http.ResponseWriter) bool {
			if !strings.Contains(path, "/issue/OPS-2/comment") {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			return true
		})
		s.clock.Advance(7 * time.Hour) // a full scan is due
		s.MustSync()
		s.clock.Advance(2 * time.Minute)
		s.MustSync()
		if e := s.Shown().LastError; e == nil || e.Code != source.ItemRejected || !strings.Contains(e.Detail, "the account of the token may not read all comments on it") {
			t.Errorf("the source shows %+v", e)
		}
		s.want("OPS-1", "OPS-2", "OPS-2#comment-7", "OPS-2#comment-8", "OPS-3")
		if n := s.Items()[s.URL+"/browse/OPS-2#comment-8"].Access.Names(); n == nil || len(n.Users)+len(n.Groups) > 0 {
			t.Errorf("the comment is read by %v", n)
		}
	})
}

// TestAFailingLookupHoldsUpOnlyItsDependents: it fails one sync. Then what depends on it is read by nobody but team keys, until it can
// be looked up again.
func TestAFailingLookupHoldsUpOnlyItsDependents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path    string
		comment jiratest.Comment // on OPS-2; with neither a group nor a role, the issue is limited: to a role, or by a security level
		open    []string         // who reads it in the end
	}{
		"a group":          {"group/member?", jiratest.Comment{Group: "outside"}, []string{"ada@acme.example"}},
		"a role":           {"/role/", jiratest.Comment{Role: "Managers"}, []string{"lead@acme.example"}},
		"the roles":        {"/role", jiratest.Comment{Role: "Managers"}, []string{"lead@acme.example"}},
		"a security level": {"/level/member", jiratest.Comment{}, []string{"ada@acme.example"}},
		"a restriction":    {"/role/", jiratest.Comment{}, []string{"lead@acme.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				issueItself := tt.comment.Group+tt.comment.Role == ""
				if issueItself && !cloud {
					return // members of a level cannot be read there, and it has no restrictions
				}
				s := newSite(t, cloud, nil)
				s.Levels["7"] = []jiratest.Holder{{Type: "user", Name: "ada"}}
				uri := s.URL + "/browse/OPS-2#comment-5"
				limited := issue(2)
				limited.Comments = []jiratest.Comment{tt.comment}
				limited.Comments[0].ID, limited.Comments[0].At = 5, limited.Updated
				if issueItself {
					limited.Comments, limited.Security, uri = nil, "7", s.URL+"/browse/OPS-2"
				}
				if name == "a restriction" {
					limited.Security = ""
					limited.RawFields = map[string]any{"issuerestriction": map[string]any{"issuerestrictions": map[string]any{
						"projectrole": []any{map[string]string{"id": s.Projects["OPS"].RoleID("Managers")}}}}}
				}
				s.put(issue(1), limited, issue(3))
				readers := func(want []string) {
					t.Helper()
					if n := s.Items()[uri].Access.Names(); n == nil || !slices.Equal(slices.Concat(n.Users, n.Groups), want) {
						t.Errorf("read by %v, want %v", n, want)
					}
				}
				s.Before(func(path string, w http.ResponseWriter) bool {
					if !strings.Contains(path, tt.path) {
						return false
					}
					w.WriteHeader(http.StatusInternalServerError)
					return true
				})
				s.MustSync()
				if e := s.Shown().LastError; e == nil || e.Code != source.Unreadable {
					t.Errorf("first: %+v", e)
				}
				for range 2 {
					s.clock.Advance(2 * time.Minute)
					s.MustSync()
					readers(nil)
				}
				if e := s.Shown().LastError; e == nil || e.Code != "access-unknown" || !strings.Contains(e.Detail, "Jira fails to return the members of the ") {
					t.Errorf("the source shows %+v", e)
				}
				if got := s.names(); !slices.Contains(got, "OPS-1") || !slices.Contains(got, "OPS-3") {
					t.Errorf("stored %q", got)
				}
				s.Before(nil)
				s.clock.Advance(16 * time.Minute)
				s.MustSync()
				readers(tt.open)
				if e := s.Shown().LastError; e != nil {
					t.Errorf("in the end: %+v", e)
				}
				before := len(s.Requests())
				s.clock.Advance(16 * time.Minute)
				s.MustSync()
				if n := len(s.Requests()) - before; n > 2 { // a search for each project
					t.Errorf("%d requests without a change", n)
				}
			})
		})
	}
}

// TestItemsAreReadableAgainWhenTheirLookupSucceeds although the lookup succeeds in the same full scan, after an interruption: what was read before is opened
// by another one, and not only when the next one is due.
func TestItemsAreReadableAgainWhenTheirLookupSucceeds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 120 {
			one := issue(n + 1)
			if n == 0 || n == 119 { // on the last page of the search, and on the first one
				one.Comments = []jiratest.Comment{{ID: n + 1, Text: "Limited.", At: one.Created, Group: "outside"}}
			}
			s.put(one)
		}
		readers := func(when string, want ...string) {
			t.Helper()
			for _, uri := range []string{s.URL + "/browse/OPS-1#comment-1", s.URL + "/browse/OPS-120#comment-120"} {
				if n := s.Items()[uri].Access.Names(); n == nil || !slices.Equal(n.Users, want) {
					t.Errorf("%s, %s is read by %v, want %v", when, uri, n, want)
				}
			}
		}
		s.MustSync()
		readers("at first", "ada@acme.example")
		s.Before(func(path string, w http.ResponseWriter) bool {
			switch {
			case strings.Contains(path, "group/member?"):
				w.WriteHeader(http.StatusInternalServerError)
			case strings.Contains(path, "nextPageToken=") || strings.Contains(path, "startAt=45"):
				w.Header().Set("Retry-After", "600")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				return false
			}
			return true
		})
		for _, after := range []time.Duration{7 * time.Hour, 2 * time.Minute} { // a full scan is due
			s.clock.Advance(after)
			s.MustSync()
		}
		if e := s.Shown().LastError; e == nil || e.Code != source.RateLimited {
			t.Errorf("the source shows %+v", e)
		}
		s.Before(nil)
		for range 2 {
			s.clock.Advance(16 * time.Minute)
			s.MustSync()
		}
		readers("in the end", "ada@acme.example")
		before := len(s.Requests())
		s.clock.Advance(16 * time.Minute)
		s.MustSync()
		if n := len(s.Requests()) - before; n > 2 { // a search for each project
			t.Errorf("%d requests without a change", n)
		}
	})
}

// TestAPageThatTakesLongerThanATurnIsReadInSeveral: each turn goes on behind what the one before has read, also with what failed before.
func TestAPageThatTakesLongerThanATurnIsReadInSeveral(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.Change(func() { s.Inline = 1 })
		var failed []string
		for n := range 12 {
			one := issue(n + 1)
			one.Comments = []jiratest.Comment{comment(2 * n), comment(2*n + 1)}
			s.put(one)
			failed = append(failed, fmt.Sprintf("%s/browse/OPS-%d", s.URL, n+1))
		}
		asked := map[string]int{}
		s.Before(func(path string, _ http.ResponseWriter) bool {
			if _, rest, ok := strings.Cut(path, "/issue/"); ok && strings.Contains(rest, "/comment") {
				key, _, _ := strings.Cut(rest, "/")
				asked[key]++
				s.clock.Advance(20 * time.Second)
			}
			return false
		})
		var at []byte
		for _, again := range [][]string{nil, failed} {
			clear(asked)
			s.clock.Advance(16 * time.Minute)
			a, read, turns := s.access, map[string]bool{}, 0
			for a.Failed = again; len(read) < 12 && turns < 12; turns++ {
				for page, err := range s.c.Read(t.Context(), a, "OPS", at) {
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range page.Items {
						if key, _, found := strings.Cut(strings.TrimPrefix(i.URI, s.URL+"/browse/"), "#"); !found {
							read[key] = true
							a.Failed = slices.DeleteFunc(slices.Clone(a.Failed), func(uri string) bool { return uri == i.URI })
						}
					}
					at = page.Checkpoint
					break // the turn is over
				}
			}
			for key, times := range asked {
				if times > 1 {
					t.Errorf("the comments on %s are read %d times", key, times)
				}
			}
			if len(read) < 12 || turns < 3 {
				t.Errorf("%d issues in %d turns", len(read), turns)
			}
			for page, err := range s.c.Read(t.Context(), a, "OPS", at) { // to the end
				if err != nil {
					t.Fatal(err)
				}
				at = page.Checkpoint
			}
		}
	})
}
