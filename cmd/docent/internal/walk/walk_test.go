package walk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/cmd/docent/internal/walk"
)

// lay creates files, folders (names ending in "/") and links ("from -> to") below a new folder, whose path has no
// links.
func lay(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		tree    []string
		paths   []string // below the folder; default: docs
		base    string
		uris    []string // "~" is the folder's file URI
		skipped int
		types   map[string]int
		failed  []string // the reasons
	}{
		{
			name: "kinds and hidden places",
			tree: []string{"docs/b.md", "docs/a.txt", "docs/C.HTML", "docs/x.png", "docs/Makefile", "docs/.hidden.md",
				"docs/.git/a.md", "docs/node_modules/a/readme.md", "docs/sub/deep/d.rst", "docs/sub/e.mdx"},
			uris:    []string{"~/docs/C.HTML", "~/docs/a.txt", "~/docs/b.md", "~/docs/sub/deep/d.rst", "~/docs/sub/e.mdx"},
			skipped: 2, types: map[string]int{".png": 1, "": 1},
		},
		{
			name: "names are escaped", tree: []string{"docs/50% of #1?.md", "docs/ä b.md"},
			uris: []string{"~/docs/50%25%20of%20%231%3F.md", "~/docs/%C3%A4%20b.md"},
		},
		{
			name: "base", tree: []string{"docs/a b/c.md", "docs/d.md"}, base: "https://wiki.example/team",
			uris: []string{"https://wiki.example/team/a%20b/c.md", "https://wiki.example/team/d.md"},
		},
		{
			name: "base that ends in a query", tree: []string{"docs/a.md"}, base: "https://wiki.example/view?page=",
			uris: []string{"https://wiki.example/view?page=a.md"},
		},
		{
			name: "files by name", tree: []string{"docs/a.md", "docs/.hidden.md", "docs/x.png"},
			paths: []string{"docs/.hidden.md", "docs/a.md", "docs/x.png"}, base: "https://wiki.example/",
			uris:   []string{"https://wiki.example/.hidden.md", "https://wiki.example/a.md"},
			failed: []string{"it is not a Markdown, text, reStructuredText, HTML, PDF or Office file"},
		},
		{
			name: "two files of one URI", tree: []string{"one/a.md", "two/a.md"}, paths: []string{"one", "two"},
			base: "https://wiki.example/", uris: []string{"https://wiki.example/a.md"},
			failed: []string{"its URI is already that of one/a.md"},
		},
		{
			name: "folders that overlap", tree: []string{"docs/a.md", "docs/sub/b.md"}, paths: []string{"docs/sub", "docs", "docs/a.md"},
			uris: []string{"~/docs/sub/b.md", "~/docs/a.md"},
		},
		{
			name: "loops and broken links end",
			tree: []string{"docs/a.md", "docs/self -> .", "docs/up -> ..", "docs/sub/back -> ../sub", "docs/x/y -> ../z", "docs/z/w -> ../x",
				"docs/gone.md -> nowhere.md", "docs/me.md -> me.md"},
			uris: []string{"~/docs/a.md"}, skipped: 2,
		},
		{
			name: "what links lead to comes once and by its own name if it has one",
			tree: []string{"docs/current -> v2", "docs/v2/a.md", "docs/also.md -> v2/a.md", "docs/far -> ../far", "far/b.md", "docs/page.md -> ../other.md", "other.md"},
			uris: []string{"~/docs/v2/a.md", "~/docs/far/b.md", "~/docs/page.md"},
		},
		{
			name: "too long", tree: []string{"docs/a.md"}, base: "https://wiki.example/" + strings.Repeat("x", 2024),
			failed: []string{"its URI has 2050 characters, over the limit of 2048"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t, tc.tree...)
			if tc.paths == nil {
				tc.paths = []string{"docs"}
			}
			var paths []string
			for _, p := range tc.paths {
				paths = append(paths, filepath.Join(dir, p))
			}
			tree, err := walk.Find(t.Context(), paths, tc.base)
			if err != nil {
				t.Fatal(err)
			}
			var uris, failed []string
			for _, f := range tree.Files {
				uris = append(uris, strings.Replace(f.URI, "file://"+dir, "~", 1))
				if _, err := os.Stat(f.Path); err != nil {
					t.Errorf("path does not lead to the file: %v", err)
				}
			}
			for _, f := range tree.Failures {
				failed = append(failed, strings.ReplaceAll(f.Err.Error(), dir+"/", ""))
			}
			if diff := cmp.Diff(tc.uris, uris); diff != "" {
				t.Errorf("URIs: %s", diff)
			}
			if diff := cmp.Diff(tc.failed, failed); diff != "" {
				t.Errorf("failures: %s", diff)
			}
			if diff := cmp.Diff(tc.types, tree.Types); tc.types != nil && diff != "" {
				t.Errorf("types: %s", diff)
			}
			if tree.Skipped != tc.skipped {
				t.Errorf("%d skipped, want %d", tree.Skipped, tc.skipped)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	dir := lay(t, "docs/a.md")
	cases := []struct{ name, path, base, want string }{
		{"a path that is not there", "gone", "", "no such file"},
		{"a relative base", "docs", "wiki/", "not absolute"},
		{"a base that runs code", "docs", "JavaScript:alert(1)", "scheme"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := walk.Find(t.Context(), []string{filepath.Join(dir, tc.path)}, tc.base)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	dir := lay(t, "docs/a.md", "docs/.hidden.md", "docs/was-a-folder", "docs/x.pdf", "other/only-there.md", "outside.md", "empty/",
		"docs/drive -> ../not-mounted", "docs/linked -> ../other")
	const base = "https://wiki.example/"
	cases := []struct {
		name, base, uri string // "~" is the folder's file URI
		want            bool
	}{
		{"still there", "", "~/docs/a.md", false},
		{"removed", "", "~/docs/b.md", true},
		{"removed with its folder", "", "~/docs/sub/b.md", true},
		{"its folder became a file", "", "~/docs/was-a-folder/b.md", true},
		{"there, if not to be sent", "", "~/docs/.hidden.md", false},
		{"there, of another kind", "", "~/docs/x.pdf", false},
		{"below a link that leads nowhere", "", "~/docs/drive/sub/b.md", false},
		{"below a link that leads somewhere", "", "~/docs/linked/sub/b.md", true},
		{"outside the folders", "", "~/gone.md", false},
		{"a sibling with the same beginning", "", "~/docs2/gone.md", false},
		{"the folder itself", "", "~/docs/", false},
		{"climbs out", "", "~/docs/../gone.md", false},
		{"climbs out, escaped", "", "~/docs/..%2Fgone.md", false},
		{"not written as we write it", "", "~/docs/%67one.md", false},
		{"bad escape", "", "~/docs/%zz.md", false},
		{"below the base, in one folder", base, base + "only-there.md", false},
		{"below the base, in none", base, base + "sub/gone.md", true},
		{"not below the base", base, "https://elsewhere.example/gone.md", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tree, err := walk.Find(t.Context(), []string{filepath.Join(dir, "docs"), filepath.Join(dir, "other")}, tc.base)
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.CheckDelete(); err != nil {
				t.Fatal(err)
			}
			if got := tree.Gone(strings.Replace(tc.uri, "~", "file://"+dir, 1)); got != tc.want {
				t.Fatalf("gone is %v, want %v", got, tc.want)
			}
		})
	}
	t.Run("a folder without files", func(t *testing.T) {
		t.Parallel()
		tree, err := walk.Find(t.Context(), []string{filepath.Join(dir, "docs"), filepath.Join(dir, "empty")}, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.CheckDelete(); err == nil {
			t.Fatal("an empty folder would remove everything")
		}
	})
	t.Run("a folder that vanished after the walk", func(t *testing.T) {
		t.Parallel()
		dir := lay(t, "docs/a.md")
		tree, err := walk.Find(t.Context(), []string{filepath.Join(dir, "docs")}, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "docs")); err != nil {
			t.Fatal(err)
		}
		if tree.Gone("file://" + dir + "/docs/a.md") {
			t.Fatal("everything is gone because the folder is")
		}
	})
}
