package gitlab_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/source"
)

// team are members of every role. The guest's address is unknown, and two may not sign in.
func team() []gitlabtest.Member {
	blocked, waiting := gitlabtest.NewMember("blocked", 40, "blocked@acme.test"), gitlabtest.NewMember("waiting", 40, "waiting@acme.test")
	blocked.State, waiting.MembershipState = "blocked", "awaiting"
	enterprise := gitlabtest.NewMember("owner", 50, "")
	enterprise.Email = "owner@acme.test"
	return []gitlabtest.Member{gitlabtest.NewMember("minimal", 5, "minimal@acme.test"), gitlabtest.NewMember("guest", 10, "guest@acme.test"), gitlabtest.NewMember("planner", 15, "planner@acme.test"),
		gitlabtest.NewMember("reporter", 20, "reporter@acme.test"), gitlabtest.NewMember("nameless", 30, ""), enterprise, blocked, waiting}
}

// TestAPublicProjectWithoutATokenIsRead: GitLab does not say then that it is public.
func TestAPublicProjectWithoutATokenIsRead(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.token = ""
	r.put(func(p *gitlabtest.Project) { p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "Issue")} })
	items, _, end, err := r.part("issues", nil)
	if err != nil || len(items) != 1 || items[0].Access != nil || end.Notice != nil {
		t.Errorf("%+v, %+v, %v", items, end.Notice, err)
	}
}

func TestWhoMayRead(t *testing.T) {
	t.Parallel()
	const all, planners, reporters = "owner reporter planner guest", "owner reporter planner", "owner reporter"
	for _, tt := range []struct {
		name, visibility, level, setting string
		want                             map[string]string // by part; an absent one is decided by the source
		confidential                     string
		notice                           bool
	}{
		{"a public project", "public", "", "", nil, planners, false},
		{"a public project with parts for members", "public", "private", "", map[string]string{"issues": all, "merge_requests": reporters, "wiki": all, "files": reporters}, planners, false},
		{"a public project whose parts have no level", "public", gitlabtest.Untold, "", map[string]string{"issues": all, "merge_requests": reporters, "wiki": all, "files": reporters}, planners, false},
		{"a public project with a new kind of level", "public", "some", "", map[string]string{"issues": all, "merge_requests": reporters, "wiki": all, "files": reporters}, planners, false},
		{"a private project", "private", "", "", map[string]string{"issues": all, "merge_requests": reporters, "wiki": all, "files": reporters}, planners, false},
		{"an internal project", "internal", "", "members", map[string]string{"issues": all, "merge_requests": reporters, "wiki": all, "files": reporters}, planners, false},
		{"the source decides", "private", "", "source", nil, planners, false},
		{"unknown members", "private", "", "", map[string]string{"issues": "", "merge_requests": "", "wiki": "", "files": ""}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			if tt.setting != "" {
				r.settings["access"] = tt.setting
			}
			r.put(func(p *gitlabtest.Project) {
				p.Visibility, p.Members, p.NoMembers = tt.visibility, team(), tt.notice
				p.Levels = map[string]string{"issues": tt.level, "merge_requests": tt.level, "wiki": tt.level, "repository": tt.level}
				p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "Issue"), gitlabtest.NewIssue(2, "Secret")}
				p.Issues[1].Confidential = true
				p.MergeRequests, p.Wiki = []gitlabtest.Record{gitlabtest.NewMergeRequest(3, "Change")}, []gitlabtest.WikiPage{gitlabtest.NewWikiPage("home", "Home")}
				p.Commits = []gitlabtest.Commit{{Files: map[string]string{"a.md": "Text."}}}
			})
			for _, kind := range []string{"issues", "merge_requests", "wiki", "files"} {
				items, _, end, err := r.part(kind, nil)
				if err != nil || len(items) == 0 {
					t.Fatalf("%s: %d items, %v", kind, len(items), err)
				}
				for _, i := range items {
					want, restricted := tt.want[kind]
					if i.Title == "Secret" {
						want, restricted = tt.confidential, true
					}
					if (i.Access != nil) != restricted {
						t.Errorf("%s %s: %+v", kind, i.Title, i.Access)
					} else if restricted && strings.ReplaceAll(strings.Join(i.Access.Users, " "), "@acme.test", "") != want {
						t.Errorf("%s %s: got %q, want %q", kind, i.Title, i.Access.Users, want)
					}
				}
				if got := end.Notice != nil && end.Notice.Code == source.NoReaders; got != tt.notice {
					t.Errorf("%s: notice %v", kind, end.Notice)
				}
				_, _, end, err = r.part(kind, end.Checkpoint) // the next sync reads no more
				if err != nil || end.Exact {
					t.Errorf("%s again: %v", kind, err)
				}
			}
		})
	}
}

// TestWhatIsNotSaidToBePublicIsConfidential: a GitLab that does not tell whether an issue or a comment is confidential may have such ones.
func TestWhatIsNotSaidToBePublicIsConfidential(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]struct{ readers, hidden string }{
		gitlabtest.Token: {"[owner@acme.test reporter@acme.test planner@acme.test]", "Untold."},
		"":               {"", "none"}, // without one, GitLab shows only what is public
	} {
		r := read(t)
		r.token = token
		r.put(func(p *gitlabtest.Project) { p.Members = team() })
		r.server.Before(func(path string, w http.ResponseWriter) bool {
			switch {
			case strings.Contains(path, "/notes?"):
				_, _ = io.WriteString(w, `[{"body":"Untold."},{"body":"Told.","internal":false},{"body":"Told earlier.","confidential":false}]`)
			case strings.Contains(path, "/issues?"):
				_, _ = io.WriteString(w, `[{"iid":1,"title":"Untold","user_notes_count":3,"updated_at":"2026-05-01T00:00:00Z"}]`)
			default:
				return false
			}
			return true
		})
		items, _, _, err := r.part("issues", nil)
		if err != nil || len(items) != 1 {
			t.Fatalf("%+v, %v", items, err)
		}
		readers := ""
		if items[0].Access != nil {
			readers = fmt.Sprint(items[0].Access.Users)
		}
		if readers != want.readers || strings.Contains(items[0].Body, want.hidden) || !strings.Contains(items[0].Body, "Told.") || !strings.Contains(items[0].Body, "Told earlier.") {
			t.Errorf("with the token %q: read by %s: %q", token, readers, items[0].Body)
		}
	}
}

func TestPeopleOfAConfidentialIssueReadIt(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Visibility, p.Members = "private", team()
		p.Issues = []gitlabtest.Record{gitlabtest.NewIssue(1, "Own"), gitlabtest.NewIssue(2, "Assigned"), gitlabtest.NewIssue(3, "Of others")}
		for i := range p.Issues {
			p.Issues[i].Confidential = true
		}
		p.Issues[0].Author, p.Issues[1].Assignees = gitlabtest.NewUser("guest"), []gitlabtest.User{*gitlabtest.NewUser("guest"), *gitlabtest.NewUser("minimal")}
	})
	items, _, _, err := r.part("issues", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if got := slices.Contains(i.Access.Users, "guest@acme.test"); got != (i.Title != "Of others") || slices.Contains(i.Access.Users, "minimal@acme.test") {
			t.Errorf("%s: %q", i.Title, i.Access.Users)
		}
	}
}

func TestAChangeOfMembersReadsAllAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		confidential bool
		change       func(p *gitlabtest.Project)
		parts        []string // that are read again
	}{
		{"a member leaves", false, func(p *gitlabtest.Project) { p.Members = p.Members[1:] }, nil},
		{"a guest leaves", false, func(p *gitlabtest.Project) { p.Members = slices.Delete(p.Members, 1, 2) }, []string{"issues", "wiki"}},
		{"a reporter leaves", false, func(p *gitlabtest.Project) { p.Members = slices.Delete(p.Members, 3, 4) }, []string{"issues", "merge_requests", "wiki", "files"}},
		{"the project becomes public", false, func(p *gitlabtest.Project) { p.Visibility = "public" }, []string{"issues", "merge_requests", "wiki", "files"}},
		{"a role changes the readers of confidential issues", true, func(p *gitlabtest.Project) { p.Members[2].AccessLevel = 10 }, []string{"issues", "wiki"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) {
				p.Visibility, p.Members, p.Issues = "private", team(), []gitlabtest.Record{gitlabtest.NewIssue(1, "Issue")}
				p.Issues[0].Confidential = tt.confidential
			})
			checkpoints := map[string][]byte{}
			for _, kind := range []string{"issues", "merge_requests", "wiki", "files"} {
				_, _, end := r.must(kind, nil)
				checkpoints[kind] = end.Checkpoint
			}
			r.put(tt.change)
			r.later()
			for kind, checkpoint := range checkpoints {
				var first source.SyncPage
				var err error
				for page, failed := range r.c.Read(t.Context(), r.access(), project+" "+kind, checkpoint) {
					if err = failed; err == nil && first.Checkpoint == nil {
						first = page
					}
				}
				public := tt.name == "the project becomes public"
				if narrowed := first.Readers != nil; narrowed != (slices.Contains(tt.parts, kind) && !public) ||
					narrowed && (!first.Narrow || string(first.Checkpoint) != string(checkpoint) || slices.Contains(first.Readers.Users, "guest@acme.test") && tt.name == "a guest leaves") {
					t.Errorf("%s: narrowed by %+v", kind, first)
				}
				if again := errors.Is(err, source.ErrFullScanNeeded); again != slices.Contains(tt.parts, kind) || err != nil && !again {
					t.Errorf("%s: %v", kind, err)
				}
			}
		})
	}
}

// TestAMemberWhoLeavesBeforeAFullScanReadsNothingDuringIt: the scan reaches some items late.
func TestAMemberWhoLeavesBeforeAFullScanReadsNothingDuringIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"issues", "wiki", "files"} {
		r := read(t)
		r.put(func(p *gitlabtest.Project) {
			p.Visibility, p.Members, p.Issues = "private", team(), []gitlabtest.Record{gitlabtest.NewIssue(1, "Issue")}
			p.Wiki, p.Commits = []gitlabtest.WikiPage{gitlabtest.NewWikiPage("home", "Home")}, []gitlabtest.Commit{{Files: map[string]string{"a.md": "Text."}}}
		})
		_, _, before := r.must(kind, nil)
		scan := func(at []byte) (pages []source.SyncPage, err error) {
			r.later()
			access := r.access()
			access.Before = before.Checkpoint
			for page, err := range r.c.Read(t.Context(), access, project+" "+kind, at) {
				if err != nil {
					return pages, err
				}
				pages = append(pages, page)
			}
			return pages, nil
		}
		if pages, err := scan(nil); err != nil || pages[0].Readers != nil {
			t.Errorf("%s, of the same members: %+v, %v", kind, pages, err)
		}
		r.put(func(p *gitlabtest.Project) { p.Members = p.Members[:3] }) // without reporters and owners
		pages, err := scan(nil)
		if err != nil || len(pages) < 2 || pages[0].Readers == nil || !pages[0].Narrow || slices.Contains(pages[0].Readers.Users, "reporter@acme.test") {
			t.Fatalf("%s: %+v, %v", kind, pages, err)
		}
		if last := pages[len(pages)-1]; !last.Last || len(last.Items) != 1 || slices.Contains(last.Items[0].Access.Users, "reporter@acme.test") {
			t.Errorf("%s: then %+v", kind, last)
		}
		if again, err := scan(pages[0].Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) || len(again) != 1 || !again[0].Narrow {
			t.Errorf("%s, after an interruption: %+v, %v", kind, again, err)
		}
	}
}

// TestWhoLosesConfidentialIssuesReadsNoneDuringTheFullScan: before all else, they are for those with the role alone. The scan reaches some late.
func TestWhoLosesConfidentialIssuesReadsNoneDuringTheFullScan(t *testing.T) {
	t.Parallel()
	const left = "[owner@acme.test reporter@acme.test]"
	demoted := func(p *gitlabtest.Project) { p.Members[2].AccessLevel = 10 }
	removed := func(p *gitlabtest.Project) { p.Members = slices.Delete(p.Members, 2, 3) }
	for _, tt := range []struct {
		name, visibility string
		change           func(p *gitlabtest.Project)
		of               []string // what each page narrows
	}{
		{"a planner becomes a guest", "private", demoted, []string{"", "confidential"}},
		{"a planner leaves", "private", removed, []string{"", "confidential"}},
		{"a planner of a public project becomes a guest", "public", demoted, []string{"confidential"}},
		{"a planner of a public project leaves", "public", removed, []string{"confidential"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.put(func(p *gitlabtest.Project) {
				p.Visibility, p.Members, p.Issues = tt.visibility, team(), []gitlabtest.Record{gitlabtest.NewIssue(1, "Issue"), gitlabtest.NewIssue(2, "Secret")}
				p.Issues[1].Confidential = true
			})
			_, _, before := r.must("issues", nil)
			r.put(tt.change)
			r.later()
			for _, due := range []bool{false, true} {
				access, at := r.access(), before.Checkpoint
				if due {
					access.Before, at = at, nil
				}
				var of []string
				var err error
				for page, failed := range r.c.Read(t.Context(), access, project+" issues", at) {
					if err = failed; err != nil || page.Readers == nil {
						break
					}
					of = append(of, page.Marked)
					if !page.Narrow || page.Marked != "" && fmt.Sprint(page.Readers.Users) != left {
						t.Errorf("narrowed by %+v", page)
					}
				}
				if !slices.Equal(of, tt.of) || errors.Is(err, source.ErrFullScanNeeded) == due {
					t.Errorf("in a full scan that is due: %t: narrowed %q, %v", due, of, err)
				}
			}
		})
	}
}

func TestMoreMembersThanARuleNames(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.put(func(p *gitlabtest.Project) {
		p.Visibility, p.Wiki = "private", []gitlabtest.WikiPage{gitlabtest.NewWikiPage("home", "Home")}
		for n := range 350 {
			p.Members = append(p.Members, gitlabtest.NewMember(fmt.Sprintf("m%d", n), 10+10*(n%2), fmt.Sprintf("m%d@acme.test", n)))
		}
	})
	items, _, end, err := r.part("wiki", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := items[0].Access.Check(); err != nil || len(items[0].Access.Users) != 200 || end.Notice == nil || !strings.Contains(end.Notice.Detail, "more members than the 200") {
		t.Errorf("%d readers, %v, %v", len(items[0].Access.Users), end.Notice, err)
	}
}
