package github_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/github/githubtest"
	"docent/shared/source"
)

const recorded = "acme/records"

func records(t *testing.T, name string) (all []json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRecordsAsGitHubSendsThem(t *testing.T) {
	t.Parallel()
	r := read(t)
	put, err := r.server.Recorded(records(t, "issues.json"), records(t, "comments.json"), records(t, "reviews.json"))
	if err != nil {
		t.Fatal(err)
	}
	r.server.Put(recorded, put)
	r.access.Settings = source.NewSettings(map[string]any{"repositories": []string{recorded}, "baseUrl": r.server.API()})
	got := map[string]source.Item{} // by the end of the uri, after the repository
	for _, part := range []string{"issues", "comments", "review comments"} {
		for page, err := range r.c.Read(t.Context(), r.access, recorded+" "+part, nil) {
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				_, short, _ := strings.Cut(i.URI, recorded+"/")
				if got[short] = i; !r.c.PartContains(r.access.Settings, recorded+" "+part, i.URI) || i.Project != recorded || i.CreatedAt.IsZero() {
					t.Errorf("%+v", i)
				}
			}
		}
	}
	type fields struct{ kind, title, author, number, state, body, more string }
	for short, want := range map[string]fields{
		"issues/13":                {"issue", "The thirteenth", "ada", "13", "open", "", ""},
		"issues/12":                {"issue", "The twelfth", "ada", "12", "open", "", ""},
		"issues/21":                {"issue", "Of a deleted account", "", "21", "open", "", ""},
		"issues/22":                {"issue", "Of ghost", "ghost", "22", "open", "\r\n\r\n", ""},
		"issues/23":                {"issue", "Locked", "ada", "23", "closed", "Not now.", "closed 2022-07-20"},
		"issues/24":                {"issue", "Assigned", "ada", "24", "open", "A NUL \x00 and a lone \ufffd in the text.", "to ada dependabot[bot] as needs: triage ✨"},
		"issues/28":                {"issue", "Untitled", "ada", "28", "open", "A title of spaces.", ""},
		"pull/25":                  {"pull_request", "Bump x from 1 to 2", "dependabot[bot]", "25", "open", "", ""},
		"pull/26":                  {"pull_request", "Merged from a fork that is gone", "ada", "26", "merged", "Text.", "closed 2022-07-20 merged 2022-07-20"},
		"pull/27":                  {"pull_request", "Closed", "ada", "27", "closed", "", "closed 2022-07-20"},
		"issues/13#issuecomment-1": {"issue", "Comment on #13", "ada", "", "", "Text.", "comment"},
		"pull/26#issuecomment-2":   {"pull_request", "Comment on #26", "", "", "", "", "comment"},
		"pull/25#issuecomment-3":   {"pull_request", "Comment on #25", "dependabot[bot]", "", "", "@dependabot rebase", "comment"},
		"pull/26#discussion_r4":    {"pull_request", "Comment on #26", "ada", "", "", "Text.", "comment"},
		"pull/26#discussion_r5":    {"pull_request", "Comment on #26", "", "", "", "Text.", "comment"},
	} {
		i, ok := got[short]
		var more []string
		add := func(some bool, text string) {
			if some {
				more = append(more, text)
			}
		}
		add(i.Comment, "comment")
		add(len(i.Assignees) > 0, "to "+strings.Join(i.Assignees, " "))
		add(len(i.Labels) > 0, "as "+strings.Join(i.Labels, " "))
		add(!i.ClosedAt.IsZero(), "closed "+i.ClosedAt.Format("2006-01-02"))
		add(!i.MergedAt.IsZero(), "merged "+i.MergedAt.Format("2006-01-02"))
		if have := (fields{i.SourceType, i.Title, i.Author, i.Number, i.State, i.Body, strings.Join(more, " ")}); !ok || have != want {
			t.Errorf("%s: got %+v, want %+v", short, have, want)
		}
		delete(got, short)
	}
	if len(got) > 0 {
		t.Errorf("besides: %v", got)
	}
}

func TestTitlesOfDocumentation(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(map[string]string{
		"a.md":                 "---\nsort: 3\ntitle: \"Query log\"\n---\n\nText.\n\n# Later\n",
		"b.md":                 "[![badge](x)](y)\n\nThe library\n===========\n\nText.\n",
		"c.rst":                "=======\nManuals\n=======\n\nText.\n",
		"empty.rst":            ".. a comment\n",
		"d.md":                 "---\nno end of it\n# Not a heading\n",
		"e.md":                 "Text.\n\n# Late\n",
		"f.md":                 "===\n\n====\n",
		"g.md":                 "+++\ndate = 2026-01-02\ntitle = \"Written for Hugo\"\n+++\n\nText.\n",
		"CMakeLists.txt":       "# Not a title\nproject(x)\n",
		"x/CMAKELISTS.txt":     "project(y)\n",
		"requirements-dev.txt": "pytest\n",
		"notes.txt":            "Text.\n",
	}, false)
	items, _, _ := r.mustRead("files", nil)
	want := []string{"code CMakeLists.txt", "documentation Query log", "documentation The library", "documentation Manuals", "documentation d.md",
		"documentation Late", "documentation f.md", "documentation Written for Hugo", "documentation notes.txt", "code requirements-dev.txt", "code x/CMAKELISTS.txt"}
	if strings.Join(items, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", items, want)
	}
}

func TestARenamedRepositoryKeepsItsURIs(t *testing.T) {
	t.Parallel()
	r := read(t)
	show := func(name string) (issue githubtest.Issue, note githubtest.Comment) {
		issue = r.server.NewIssue(name, 1, "First")
		note = r.server.NewComment(name, 7, issue, "x")
		r.server.Put(name, func(x *githubtest.Repository) {
			x.Issues, x.Comments = []githubtest.Issue{issue}, []githubtest.Comment{note}
		})
		return issue, note
	}
	uris := func(checkpoint []byte) (got []string, end source.SyncPage) {
		for _, part := range []string{"issues", "comments"} {
			for page, err := range r.c.Read(t.Context(), r.access, "acme/api "+part, checkpoint) {
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range page.Items {
					got = append(got, i.URI+" "+i.About)
				}
				end = page
			}
		}
		return got, end
	}
	issue, note := show("acme/api")
	before, end := uris(nil)
	if end.Notice != nil {
		t.Errorf("of a repository that was not renamed: %v", end.Notice)
	}
	show("acme/gateway")
	r.put(func(x *githubtest.Repository) { x.Moved = "acme/gateway" })
	after, end := uris(nil)
	if !slices.Equal(before, after) || end.Notice == nil || end.Notice.Code != source.Renamed || !strings.Contains(end.Notice.Detail, "acme/api is called acme/gateway now.") {
		t.Errorf("got %q %v, want %q", after, end.Notice, before)
	}
	for range 2 { // with and without a change
		for page, err := range r.c.Read(t.Context(), r.access, "acme/api comments", end.Checkpoint) {
			if end = page; err != nil || page.Notice == nil {
				t.Errorf("the next time: %+v %v", page, err)
			}
		}
	}
	for part, uri := range map[string]string{"issues": issue.HTMLURL, "comments": note.HTMLURL} {
		if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api "+part, uri); gone || err != nil {
			t.Errorf("%s: gone %t %v", uri, gone, err)
		}
	}
	r.server.Put("acme/gateway", func(x *githubtest.Repository) {
		x.Issues[0].HTMLURL = r.server.URL + "/acme/other/issues/1" // and keeps its number there
	})
	if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api issues", issue.HTMLURL); !gone || err != nil {
		t.Errorf("transferred: gone %t %v", gone, err)
	}
}
