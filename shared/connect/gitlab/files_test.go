package gitlab_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/connect/rest"
	"docent/shared/source"
)

func (r *reading) commit(files map[string]string) {
	r.put(func(p *gitlabtest.Project) { p.Commits = append(p.Commits, gitlabtest.Commit{Files: files}) })
}

func TestFilesAndTheirChanges(t *testing.T) {
	t.Parallel()
	r := read(t)
	if uris, _, end := r.must("files", nil); len(uris) != 0 || !end.Exact {
		t.Errorf("an empty repository: %q %+v", uris, end)
	}
	r.later()
	r.commit(map[string]string{"README.md": "# Read me\n\nText.", "a dir/b.md": "B.", "main.go": "package main", "vendor/x.go": "package x", "logo.png": "\x00", "old.md": "Old.", "swap.md": "Swap."})
	items, _, end, err := r.part("files", nil)
	if err != nil || !end.Exact {
		t.Fatal(err)
	}
	got := []string{}
	for _, i := range items {
		got = append(got, i.SourceType+" "+r.short(i.URI)+" "+i.Title)
	}
	want := []string{"documentation blob/main/README.md Read me", "documentation blob/main/a%20dir/b.md a dir/b.md", "code blob/main/main.go main.go", "documentation blob/main/old.md old.md", "documentation blob/main/swap.md swap.md"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	r.server.Requests()
	r.commit(map[string]string{"README.md": "# Read me\n\nMore text.", "main.go": "package main", "old.md": "New in its place.", "moved.md": "Swap.", "new.md": "New.", "huge.md": strings.Repeat("x", 300<<10)})
	uris, removed, end := r.must("files", end.Checkpoint)
	slices.Sort(uris)
	slices.Sort(removed)
	if !slices.Equal(uris, []string{"blob/main/README.md", "blob/main/moved.md", "blob/main/new.md", "blob/main/old.md"}) ||
		!slices.Equal(removed, []string{"blob/main/a%20dir/b.md", "blob/main/huge.md", "blob/main/logo.png", "blob/main/swap.md", "blob/main/vendor/x.go"}) {
		t.Errorf("changes %q, removed %q", uris, removed)
	}
	if requests := r.server.Requests(); len(requests) != 8 { // the head, the comparison, what archives have, and five files; the project is remembered
		t.Errorf("%d requests: %q", len(requests), requests)
	}
	for name, change := range map[string]func(p *gitlabtest.Project){
		"the branch has another name": func(p *gitlabtest.Project) { p.Branch = "trunk" },
		"no commit is left":           func(p *gitlabtest.Project) { p.Commits = nil },
		"the commit is gone":          func(p *gitlabtest.Project) { p.Commits = []gitlabtest.Commit{{Files: map[string]string{"x.md": "X."}}} },
	} {
		r.put(change)
		r.later()
		if _, _, _, err := r.part("files", end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
			t.Errorf("%s: %v", name, err)
		}
		r.put(func(p *gitlabtest.Project) { p.Branch = "main" })
	}
}

// TestFilesStayWhenNoCommitCanBeRead: only a repository that GitLab says is empty has none.
func TestFilesStayWhenNoCommitCanBeRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change, back func(p *gitlabtest.Project)
		code         string
	}{
		"the token may not read it":    {func(p *gitlabtest.Project) { p.NoCode = true }, func(p *gitlabtest.Project) { p.NoCode = false }, source.Unauthorized},
		"the repository is broken":     {func(p *gitlabtest.Project) { p.Broken = true }, func(p *gitlabtest.Project) { p.Broken = false }, source.Unreadable},
		"the branch was just replaced": {func(p *gitlabtest.Project) { p.Branch = "trunk" }, func(*gitlabtest.Project) {}, source.Unreadable},
	} {
		for kind, whole := range map[string]bool{"full scan": true, "changes": false} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				r := read(t)
				r.commit(map[string]string{"README.md": "# Read me\n\nText."})
				_, _, end := r.must("files", nil)
				at := end.Checkpoint
				if whole {
					at = nil
				}
				if r.put(tt.change); tt.code == source.Unauthorized {
					r.later() // else the project is remembered
				}
				_, _, _, err := r.part("files", at)
				var failed *source.SyncError
				if kind == "changes" && errors.Is(err, source.ErrFullScanNeeded) {
					_, _, _, err = r.part("files", nil)
				}
				if !errors.As(err, &failed) || failed.Code != tt.code {
					t.Fatalf("%v", err)
				}
				r.put(tt.back)
				r.later()
				if uris, _, end := r.must("files", nil); len(uris) != 1 || !end.Exact {
					t.Errorf("then %q", uris)
				}
			})
		}
	}
}

// TestALinkIsNoFile, neither in an archive nor when it changes: its text is the name of another file.
func TestALinkIsNoFile(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(map[string]string{"a.md": "A.", "link.md": gitlabtest.Link + "a.md", "b.md": "B."})
	uris, _, end := r.must("files", nil)
	r.commit(map[string]string{"a.md": "A.", "link.md": gitlabtest.Link + "docs/c.md", "b.md": gitlabtest.Link + "a.md"})
	changed, removed, _ := r.must("files", end.Checkpoint)
	slices.Sort(removed)
	if !slices.Equal(uris, []string{"blob/main/a.md", "blob/main/b.md"}) || changed != nil || !slices.Equal(removed, []string{"blob/main/b.md", "blob/main/link.md"}) {
		t.Errorf("got %q, then %q, removed %q", uris, changed, removed)
	}
}

func TestManyChangedFilesAreReadFromAnArchive(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{}
	for n := range 120 {
		files[fmt.Sprintf("%03d.md", n)] = "Text."
	}
	r.commit(files)
	uris, _, end := r.must("files", nil)
	if len(uris) != 120 {
		t.Errorf("%d files", len(uris))
	}
	more := map[string]string{}
	for n := range 600 {
		more[fmt.Sprintf("new/%03d.md", n)] = fmt.Sprintf("Text %d.", n)
	}
	r.commit(more)
	if _, _, _, err := r.part("files", end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("got %v", err)
	}
}

// TestAnArchiveThatIsGoneIsReadFromTheLastCommit: a history may be rewritten, or the project made anew, while a full scan is interrupted.
func TestAnArchiveThatIsGoneIsReadFromTheLastCommit(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{}
	for n := range 60 {
		files[fmt.Sprintf("%03d.md", n)] = "Text."
	}
	r.commit(files)
	var checkpoint []byte
	for page, err := range r.c.Read(t.Context(), r.access(), project+" files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		checkpoint = page.Checkpoint
		break // as if killed
	}
	r.put(func(p *gitlabtest.Project) {
		p.Commits = []gitlabtest.Commit{{Files: map[string]string{"other.md": "Other."}}}
	})
	if _, _, _, err := r.part("files", checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("got %v", err)
	}
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if strings.Contains(path, "/archive.tar.gz") {
			w.WriteHeader(http.StatusNotFound)
		}
		return strings.Contains(path, "/archive.tar.gz")
	})
	var failed *source.SyncError
	if _, _, _, err := r.part("files", nil); !errors.As(err, &failed) || failed.Code != source.NotThere {
		t.Errorf("of the last commit: %v", err)
	}
}

// TestAComparisonThatIsTooLargeIsReadFromAnArchive: the comparison has what changed in each file.
func TestAComparisonThatIsTooLargeIsReadFromAnArchive(t *testing.T) {
	t.Parallel()
	r := read(t)
	r.commit(map[string]string{"a.md": "A."})
	_, _, end := r.must("files", nil)
	r.commit(map[string]string{"a.md": "Another."})
	r.server.Before(func(path string, w http.ResponseWriter) bool {
		if !strings.Contains(path, "/compare") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		for range rest.MaxReply>>20 + 1 {
			_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
		}
		return true
	})
	if _, _, _, err := r.part("files", end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("got %v", err)
	}
}

func TestAWikiIsReadWhenItChanges(t *testing.T) {
	t.Parallel()
	r := read(t)
	if _, _, end := r.must("wiki", nil); !end.Exact {
		t.Error("an empty wiki is not read as a whole")
	}
	r.put(func(p *gitlabtest.Project) {
		for n := range 60 {
			p.Wiki = append(p.Wiki, gitlabtest.NewWikiPage(fmt.Sprintf("dir/Page-%02d", n), fmt.Sprintf("Page %d", n)))
		}
	})
	items, _, end, err := r.part("wiki", nil)
	if err != nil || len(items) != 60 || !end.Exact || r.short(items[7].URI) != "wikis/dir/Page-07" || items[7].Title != "Page 7" || items[7].Body != "Text of Page 7." || items[7].SourceType != "documentation" {
		t.Fatalf("%d items %+v %v", len(items), items[7], err)
	}
	if uris, _, end := r.must("wiki", end.Checkpoint); len(uris) != 0 || end.Exact {
		t.Errorf("unchanged: %q", uris)
	}
	r.put(func(p *gitlabtest.Project) { p.Wiki = p.Wiki[:59] })
	if _, _, _, err := r.part("wiki", end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("changed: %v", err)
	}
	var first []byte // a full scan is interrupted, and the wiki changes before it resumes
	for page, err := range r.c.Read(t.Context(), r.access(), project+" wiki", nil) {
		if err != nil {
			t.Fatal(err)
		}
		first = page.Checkpoint
		break
	}
	if uris, _, _ := r.must("wiki", first); len(uris) != 9 {
		t.Errorf("resumed: %d", len(uris))
	}
	r.put(func(p *gitlabtest.Project) { p.Wiki[0].Content = "Changed." })
	if uris, _, _ := r.must("wiki", first); len(uris) != 59 {
		t.Errorf("after a change: %d", len(uris))
	}
}

// TestAWikiThatIsNoListRemovesNothing: a whole wiki is exact.
func TestAWikiThatIsNoListRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"null", "{}", `{"message":"try later"}`, `"x"`, ""} {
		r := read(t)
		r.server.Before(func(path string, w http.ResponseWriter) bool {
			if strings.Contains(path, "wikis") {
				_, _ = io.WriteString(w, body)
			}
			return strings.Contains(path, "wikis")
		})
		var failed *source.SyncError
		if _, _, end, err := r.part("wiki", nil); !errors.As(err, &failed) || failed.Code != source.Unreadable || end.Exact {
			t.Errorf("%q: %+v, %v", body, end, err)
		}
	}
}

// TestWhatAnArchiveLeavesOutIsNotReadWhenItChanges: the next full scan would remove it.
func TestWhatAnArchiveLeavesOutIsNotReadWhenItChanges(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{".gitattributes": "/tests export-ignore\n", "a.md": "A.", "tests/b.md": "B."}
	r.commit(files)
	uris, _, end := r.must("files", nil)
	files = maps.Clone(files)
	files["a.md"], files["tests/b.md"], files["tests/c.md"] = "Changed.", "Changed.", "New."
	r.commit(files)
	changed, removed, end := r.must("files", end.Checkpoint)
	if !slices.Equal(uris, []string{"blob/main/.gitattributes", "blob/main/a.md"}) || !slices.Equal(changed, []string{"blob/main/a.md"}) || !slices.Equal(removed, []string{"blob/main/tests/b.md", "blob/main/tests/c.md"}) {
		t.Errorf("got %q, then %q without %q", uris, changed, removed)
	}
	files = maps.Clone(files)
	files[".gitattributes"] = "* text\n"
	r.commit(files)
	if _, _, _, err := r.part("files", end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("archives have other files: %v", err)
	}
}

// TestFilesOfAnArchiveThatTakesTooLongAreReadOneByOne: each turn of the source would repeat what the one before has read.
func TestFilesOfAnArchiveThatTakesTooLongAreReadOneByOne(t *testing.T) {
	t.Parallel()
	r := read(t)
	files := map[string]string{"link.md": gitlabtest.Link + "f000.md"}
	for n := range 120 {
		files[fmt.Sprintf("f%03d.md", n)] = fmt.Sprintf("Text %d.", n)
	}
	r.commit(files)
	var first source.SyncPage
	for page, err := range r.c.Read(t.Context(), r.access(), project+" files", nil) {
		if err != nil {
			t.Fatal(err)
		}
		first = page
		break // as if killed
	}
	r.server.Requests()
	r.c.Now = func() time.Time { r.now = r.now.Add(10 * time.Second); return r.now }
	uris, _, end := r.must("files", first.Checkpoint)
	if len(uris) != 120 || !end.Exact || slices.Contains(uris, "blob/main/link.md") {
		t.Errorf("%d files, exact: %t", len(uris), end.Exact)
	}
	r.c.Now = func() time.Time { return r.now }
	if uris, removed, _ := r.must("files", end.Checkpoint); uris != nil || removed != nil {
		t.Errorf("then %q and %q", uris, removed)
	}
	// A sync that is interrupted resumes there.
	r.c.Now = func() time.Time { r.now = r.now.Add(10 * time.Second); return r.now }
	read, at := map[string]bool{}, first.Checkpoint
	for range 500 {
		var page source.SyncPage
		for one, err := range r.c.Read(t.Context(), r.access(), project+" files", at) {
			if err != nil {
				t.Fatal(err)
			}
			page = one
			break
		}
		for _, i := range page.Items {
			if read[i.URI] {
				t.Fatalf("%s is read again", i.URI)
			}
			read[i.URI] = true
		}
		if at = page.Checkpoint; page.Last {
			break
		}
	}
	if len(read) != 120 {
		t.Errorf("%d files in parts", len(read))
	}
	r.put(func(p *gitlabtest.Project) { p.Commits = nil })
	r.commit(map[string]string{"other.md": "Other."})
	if _, _, _, err := r.part("files", first.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("of a commit that is gone: %v", err)
	}
}

// TestAnArchiveHasNothingThatGitLFSKeeps: those files may have gigabytes, and of a change only the pointer is read.
func TestAnArchiveHasNothingThatGitLFSKeeps(t *testing.T) {
	t.Parallel()
	r := read(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d7a", 16) + "\nsize 12\n"
	r.commit(map[string]string{"README.md": "Read me.", "large.txt": pointer})
	r.put(func(p *gitlabtest.Project) { p.Large = map[string]string{pointer: "A long text."} })
	if uris, _, _ := r.must("files", nil); !slices.Equal(uris, []string{"blob/main/README.md"}) {
		t.Errorf("got %q", uris)
	}
}
