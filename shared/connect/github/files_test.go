package github_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/github/githubtest"
	"docent/shared/source"
)

func (r *reading) commit(files map[string]string, rewritten bool) {
	r.put(func(x *githubtest.Repository) {
		x.Commits = append(x.Commits, githubtest.Commit{Files: maps.Clone(files), Rewritten: rewritten})
	})
}

func tree() map[string]string {
	return map[string]string{"README.md": "# The API\n\nText.", "docs/a b.md": "No heading.", "main.go": "package main\n", "internal/login.go": "package internal\n",
		"vendor/x/x.go": "package x\n", "go.sum": "x v1 h1:\n", "logo.png": "\x89PNG\x00", "empty.go": "", "big.txt": strings.Repeat("x", 300<<10)}
}

func TestFilesOfARepository(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(tree(), false)
	items, removed, checkpoint := r.mustRead("files", nil)
	slices.Sort(items)
	if want := []string{"code internal/login.go", "code main.go", "documentation The API", "documentation docs/a b.md"}; !slices.Equal(items, want) || removed != nil {
		t.Errorf("got %q %q, want %q", items, removed, want)
	}
	if items, removed, _ := r.mustRead("files", checkpoint); items != nil || removed != nil {
		t.Errorf("unchanged: %q %q", items, removed)
	}
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			if i.Project != "acme/api" || !r.c.PartContains(r.access.Settings, "acme/api files", i.URI) || r.c.PartContains(r.access.Settings, "acme/api issues", i.URI) {
				t.Errorf("%+v", i)
			}
			if i.Title == "docs/a b.md" && i.URI != r.server.URL+"/acme/api/blob/main/docs/a%20b.md" {
				t.Errorf("%s", i.URI)
			}
		}
		if !page.Exact {
			t.Error("an archive is not exact")
		}
	}
}

func TestOnlyChangedFilesAreRead(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := tree()
	r.commit(files, false)
	_, _, checkpoint := r.mustRead("files", nil)
	delete(files, "docs/a b.md")
	files["main.go"], files["new.go"] = "package main // changed\n", "package main // new\n"
	files["internal/signin.go"] = files["internal/login.go"]
	delete(files, "internal/login.go")
	r.commit(files, false)
	r.server.Requests()
	items, removed, _ := r.mustRead("files", checkpoint)
	slices.Sort(items)
	slices.Sort(removed)
	if !slices.Equal(items, []string{"code internal/signin.go", "code main.go", "code new.go"}) || !slices.Equal(removed, []string{"docs/a%20b.md", "internal/login.go"}) {
		t.Errorf("got %q %q", items, removed)
	}
	for _, request := range r.server.Requests() {
		if strings.Contains(request, "tarball") {
			t.Error("the whole archive was read")
		}
	}
}

func TestASubmoduleThatMovesIsNoFile(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{"a.go": "package a\n", "lib": githubtest.Submodule + strings.Repeat("a", 40)}
	r.commit(files, false)
	items, _, checkpoint := r.mustRead("files", nil)
	files["a.go"], files["lib"] = "package a // changed\n", githubtest.Submodule+strings.Repeat("b", 40)
	r.commit(files, false)
	if changed, _, _ := r.mustRead("files", checkpoint); !slices.Equal(items, []string{"code a.go"}) || !slices.Equal(changed, items) {
		t.Errorf("got %q and then %q", items, changed)
	}
}

// TestALinkIsNoFile, neither in an archive nor when it changes: its text is the name of another file.
func TestALinkIsNoFile(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(map[string]string{"a.md": "A.", "link.md": githubtest.Link + "a.md", "docs/b.md": "B."}, false)
	items, _, checkpoint := r.mustRead("files", nil)
	r.commit(map[string]string{"a.md": "A.", "link.md": githubtest.Link + "docs/c.md", "docs/b.md": githubtest.Link + "../a.md", "docs/c/VERSION": "1.2.3"}, false)
	changed, removed, _ := r.mustRead("files", checkpoint)
	slices.Sort(items)
	slices.Sort(removed)
	if !slices.Equal(items, []string{"documentation a.md", "documentation docs/b.md"}) || !slices.Equal(changed, []string{"code docs/c/VERSION"}) ||
		!slices.Equal(removed, []string{"docs/b.md", "link.md"}) {
		t.Errorf("got %q, then %q and %q are gone", items, changed, removed)
	}
}

func TestUnknownChangesOfFilesNeedAFullScan(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *reading){
		"rewritten": func(r *reading) { r.commit(map[string]string{"a.go": "a"}, true) },
		"a lost commit": func(r *reading) {
			r.put(func(x *githubtest.Repository) { x.Commits = nil })
			r.commit(map[string]string{"a.go": "a"}, false)
		},
		"another default branch": func(r *reading) {
			r.put(func(x *githubtest.Repository) { x.Left, x.Branch = "main", "trunk" })
			r.commit(map[string]string{"a.go": "a"}, false)
		},
		"a branch that is gone": func(r *reading) {
			r.put(func(x *githubtest.Repository) { x.Branch = "trunk" })
			r.commit(map[string]string{"a.go": "a"}, false)
		},
		"a comparison without files": func(r *reading) {
			r.commit(map[string]string{"a.go": "a"}, false)
			r.server.Before(func(path string, w http.ResponseWriter) bool {
				if strings.Contains(path, "/compare/") {
					w.Header().Set("Content-Type", "application/json; charset=utf-8")
					_, _ = w.Write([]byte(`{"status": "ahead", "ahead_by": 2, "total_commits": 2, "commits": []}`))
				}
				return strings.Contains(path, "/compare/")
			})
		},
		"a comparison that GitHub does not manage": func(r *reading) {
			r.commit(map[string]string{"a.go": "a"}, false)
			r.server.Before(func(path string, w http.ResponseWriter) bool {
				if strings.Contains(path, "/compare/") {
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = w.Write([]byte(`{"message": "Server Error: Sorry, this diff is taking too long to generate.", "errors": [{"resource": "Comparison", "field": "diff", "code": "not_available"}]}`))
				}
				return strings.Contains(path, "/compare/")
			})
		},
		"many files": func(r *reading) {
			files := map[string]string{}
			for i := range 400 {
				files[fmt.Sprintf("f%d.go", i)] = fmt.Sprint(i)
			}
			r.commit(files, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t)
			r.commit(tree(), false)
			_, _, checkpoint := r.mustRead("files", nil)
			change(r)
			if _, _, _, err := r.part("files", checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnArchiveThatIsCutOffResumes(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("f%03d.go", i)] = fmt.Sprintf("package f%d\n", i)
	}
	r.commit(files, false)
	var got []string
	var checkpoint []byte
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			got = append(got, i.Title)
		}
		checkpoint = page.Checkpoint
		break // as if killed
	}
	// A later commit does not mix with the one that is being read.
	r.commit(map[string]string{"other.go": "package other\n"}, false)
	r.server.Requests()
	items, _, end := r.mustRead("files", checkpoint)
	if len(got) != 50 || len(items) != 70 || slices.Contains(items, "code other.go") {
		t.Errorf("%d and %d items", len(got), len(items))
	}
	items, removed, _ := r.mustRead("files", end)
	if !slices.Equal(items, []string{"code other.go"}) || len(removed) != 120 {
		t.Errorf("then %q, %d removed", items, len(removed))
	}
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.HasPrefix(path, "/codeload/") {
			w.Header().Set("Content-Type", "application/x-gzip")
			_, _ = w.Write([]byte("\x1f\x8b\x08\x00broken"))
			return true
		}
		return false
	})
	var failed *source.SyncError
	if _, _, _, err := r.part("files", nil); !errors.As(err, &failed) || failed.Code != source.Unreadable {
		t.Errorf("broken: %v", err)
	}
}

// TestAnArchiveThatIsGoneIsReadFromTheLastCommit: a history may be rewritten, or the repository made anew, while a full scan is interrupted.
func TestAnArchiveThatIsGoneIsReadFromTheLastCommit(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("f%03d.go", i)] = fmt.Sprintf("package f%d\n", i)
	}
	r.commit(files, false)
	var checkpoint []byte
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		checkpoint = page.Checkpoint
		break // as if killed
	}
	r.put(func(x *githubtest.Repository) { x.Commits = nil })
	r.commit(map[string]string{"other.go": "package other\n"}, false)
	if _, _, _, err := r.part("files", checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("got %v", err)
	}
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.HasPrefix(path, "/codeload/") {
			w.WriteHeader(http.StatusNotFound)
		}
		return strings.HasPrefix(path, "/codeload/")
	})
	var failed *source.SyncError
	if _, _, _, err := r.part("files", nil); !errors.As(err, &failed) || failed.Code != source.NotThere {
		t.Errorf("of the last commit: %v", err)
	}
}

// TestAWebPageIsNoFile: a proxy in front of an own server sends one to ask for a login.
func TestAWebPageIsNoFile(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := tree()
	r.commit(files, false)
	_, _, checkpoint := r.mustRead("files", nil)
	files["page.html"] = "<html><title>Kept</title></html>"
	r.commit(files, false)
	if items, _, _ := r.mustRead("files", checkpoint); !slices.Equal(items, []string{"code page.html"}) {
		t.Errorf("got %q", items)
	}
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if !strings.Contains(path, "/git/blobs/") {
			return false
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<title>Sign in</title>"))
		return true
	})
	var failed *source.SyncError
	if items, _, _, err := r.part("files", checkpoint); !errors.As(err, &failed) || failed.Code != source.Unreadable || !strings.Contains(failed.Detail, "web page") {
		t.Errorf("got %q, %v", items, err)
	}
}

func TestAnEmptyRepositoryHasNoFiles(t *testing.T) {
	t.Parallel()
	r := read(t)
	items, _, end, err := r.part("files", nil)
	if err != nil || items != nil || !end.Exact {
		t.Errorf("got %q %+v %v", items, end, err)
	}
}

// TestFilesStayWhileARepositoryIsUnavailable: GitHub replies with the same status as of an empty one, of which no file stays.
func TestFilesStayWhileARepositoryIsUnavailable(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(tree(), false)
	_, _, checkpoint := r.mustRead("files", nil)
	r.put(func(x *githubtest.Repository) { x.Away = true })
	for name, at := range map[string][]byte{"a full scan": nil, "changes": checkpoint} {
		var failed *source.SyncError
		if _, _, end, err := r.part("files", at); !errors.As(err, &failed) || failed.Code != source.Unreadable || end.Exact {
			t.Errorf("%s: %+v, %v", name, end, err)
		}
	}
}

func TestIsDeletedAsksGitHub(t *testing.T) {
	t.Parallel()
	r := read(t)
	first := r.server.NewIssue("acme/api", 1, "First")
	pull := r.server.NewPull("acme/api", 2, "Pull")
	note, review := r.server.NewComment("acme/api", 7, first, "x"), r.server.NewReview("acme/api", 8, pull, "y")
	r.put(func(x *githubtest.Repository) {
		x.Issues, x.Comments, x.Reviews = []githubtest.Issue{first, pull}, []githubtest.Comment{note}, []githubtest.Comment{review}
	})
	moved := r.server.NewIssue("acme/api", 5, "Moved")
	moved.HTMLURL = r.server.URL + "/acme/other/issues/1"
	r.put(func(x *githubtest.Repository) { x.Issues = append(x.Issues, moved) })
	for _, tt := range []struct {
		part, uri string
		gone      bool
	}{
		{"issues", first.HTMLURL, false}, {"issues", pull.HTMLURL, false}, {"issues", r.server.URL + "/acme/api/issues/9", true},
		{"issues", strings.ToUpper(first.HTMLURL[:len(r.server.URL)+5]) + first.HTMLURL[len(r.server.URL)+5:], false},
		{"issues", r.server.URL + "/acme/api/issues/5", true}, {"issues", r.server.URL + "/acme/api/issues/x", false},
		{"comments", note.HTMLURL, false}, {"comments", first.HTMLURL + "#issuecomment-9", true},
		{"review comments", review.HTMLURL, false}, {"review comments", pull.HTMLURL + "#discussion_r9", true},
	} {
		gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api "+tt.part, tt.uri)
		if err != nil || gone != tt.gone {
			t.Errorf("%s: %t %v", tt.uri, gone, err)
		}
	}
	r.server.Before(func(_ string, w http.ResponseWriter) bool { w.WriteHeader(http.StatusOK); return true })
	for part, uri := range map[string]string{"issues": first.HTMLURL, "reviews": pull.HTMLURL + "#pullrequestreview-5"} {
		if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api "+part, uri); gone || err == nil {
			t.Errorf("an empty reply about one of the %s: %t, %v", part, gone, err)
		}
	}
	r.server.Before(nil)
	r.put(func(x *githubtest.Repository) { x.Missing = true })
	var failed *source.SyncError
	if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api issues", first.HTMLURL); gone || !errors.As(err, &failed) || failed.Code != source.NotThere {
		t.Errorf("in a repository that is not visible: %t %v", gone, err)
	}
}

// TestARecordIsStoredOnceIfARepositoryIsRenamedInCaseOnly: its address is another one, and GitHub finds it by both.
func TestARecordIsStoredOnceIfARepositoryIsRenamedInCaseOnly(t *testing.T) {
	t.Parallel()
	r := read(t)
	first := r.server.NewIssue("acme/api", 1, "First")
	r.put(func(x *githubtest.Repository) { x.Issues = []githubtest.Issue{first} })
	before := r.server.URL + "/Acme/API/issues/1"
	for address, stored := range map[string]bool{first.HTMLURL: true, r.server.URL + "/acme/web/issues/1": false} {
		r.access.Stored = func(_ context.Context, uris []string) (map[string]bool, error) {
			return map[string]bool{uris[0]: stored && uris[0] == address}, nil
		}
		if gone, err := r.c.IsDeleted(t.Context(), r.access, "acme/api issues", before); err != nil || gone != stored {
			t.Errorf("stored under %s: %t, %v", address, gone, err)
		}
	}
}

// TestFilesThatTakeLongAreYieldedInParts, so that a turn that ends loses little of what it has read.
func TestFilesThatTakeLongAreYieldedInParts(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := tree()
	r.commit(files, false)
	_, _, checkpoint := r.mustRead("files", nil)
	for n := range 12 {
		files[fmt.Sprintf("new/%d.go", n)] = fmt.Sprintf("package new%d\n", n)
	}
	r.commit(files, false)
	at := now
	r.c.Now = func() time.Time { return at }
	r.server.Before(func(path string, _ http.ResponseWriter) bool {
		if strings.Contains(path, "/git/blobs/") {
			at = at.Add(20 * time.Second)
		}
		return false
	})
	read := 0
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", checkpoint) {
		if err != nil {
			t.Fatal(err)
		}
		if read += len(page.Items); len(page.Items) > 2 {
			t.Errorf("%d files in a page", len(page.Items))
		}
	}
	if read != 12 {
		t.Errorf("%d files", read)
	}
}

// TestWhatAnArchiveLeavesOutIsNotReadWhenItChanges: the next full scan would remove it.
func TestWhatAnArchiveLeavesOutIsNotReadWhenItChanges(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{".gitattributes": "/tests export-ignore\n", "a.md": "A.", "tests/b.md": "B."}
	r.commit(files, false)
	items, _, checkpoint := r.mustRead("files", nil)
	files["a.md"], files["tests/b.md"], files["tests/c.md"] = "Changed.", "Changed.", "New."
	r.commit(files, false)
	changed, removed, checkpoint := r.mustRead("files", checkpoint)
	if !slices.Equal(items, []string{"code .gitattributes", "documentation a.md"}) || !slices.Equal(changed, []string{"documentation a.md"}) || !slices.Equal(removed, []string{"tests/b.md", "tests/c.md"}) {
		t.Errorf("got %q, then %q without %q", items, changed, removed)
	}
	files[".gitattributes"] = "* text\n"
	r.commit(files, false)
	if _, _, _, err := r.part("files", checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("archives have other files: %v", err)
	}
}

// TestFilesOfAnArchiveThatTakesTooLongAreReadOneByOne: each turn of the source would repeat what the one before has read.
func TestFilesOfAnArchiveThatTakesTooLongAreReadOneByOne(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{"link.go": githubtest.Link + "f000.go", "lib": githubtest.Submodule + strings.Repeat("a", 40), "big.txt": strings.Repeat("x", 300<<10)}
	for n := range 120 {
		files[fmt.Sprintf("f%03d.go", n)] = fmt.Sprintf("package f%d\n", n)
	}
	r.commit(files, false)
	var first source.SyncPage
	for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		first = page
		break // as if killed
	}
	at := now
	slow := func() time.Time { at = at.Add(10 * time.Second); return at }
	r.c.Now = slow
	items, _, end, err := r.part("files", first.Checkpoint)
	if err != nil || len(items) != 120 || !end.Exact || slices.Contains(items, "code link.go") {
		t.Errorf("%d files, exact: %t, %v", len(items), end.Exact, err)
	}
	if items, removed, _ := r.mustRead("files", end.Checkpoint); items != nil || removed != nil {
		t.Errorf("then %q and %q", items, removed)
	}
	// What was read before a rate limit is not read again.
	asked := 0
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if !strings.Contains(path, "/git/blobs/") {
			return false
		}
		if asked++; asked%7 == 0 {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return asked%7 == 0
	})
	read, checkpoint := map[string]bool{}, first.Checkpoint
	for last := false; !last && asked < 1000; {
		for page, err := range r.c.Read(t.Context(), r.access, "acme/api files", checkpoint) {
			var failed *source.SyncError
			if errors.As(err, &failed) && failed.Code == source.RateLimited {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				if read[i.URI] {
					t.Fatalf("%s is read again", i.URI)
				}
				read[i.URI] = true
			}
			checkpoint, last = page.Checkpoint, page.Last
		}
	}
	if len(read) != 120 {
		t.Errorf("%d files between rate limits", len(read))
	}
	r.put(func(x *githubtest.Repository) { x.Commits = nil })
	r.commit(map[string]string{"other.go": "package other\n"}, false)
	if _, _, _, err := r.part("files", first.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("of a commit that is gone: %v", err)
	}
}
