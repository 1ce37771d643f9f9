package repository

import "testing"

func TestWhatAnArchiveLeavesOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		attributes string
		left       []string // what an archive leaves out
		kept       []string
	}{
		{"", nil, []string{"a.md"}},
		{"/tests export-ignore\n", []string{"tests/a.go", "tests/deep/a.go", "tests"}, []string{"src/tests/a.go", "tests.md"}},
		{"tests/ export-ignore\n", []string{"tests/a.go", "src/tests/a.go"}, []string{"src/tests"}},
		{"*.md export-ignore\r\n", []string{"a.md", "docs/b.md"}, []string{"a.mdx"}},
		{"docs/*.md export-ignore", []string{"docs/a.md"}, []string{"docs/deep/a.md", "x/docs/a.md"}},
		{"docs/** export-ignore", []string{"docs/a.md", "docs/deep/a.md"}, []string{"x/docs/a.md"}},
		{"**/fixtures/x?.json export-ignore", []string{"fixtures/x1.json", "a/b/fixtures/x2.json"}, []string{"fixtures/x12.json"}},
		{"a[0-9].md export-ignore\nb[!0-9].md export-ignore", []string{"a1.md", "bx.md"}, []string{"ax.md", "b1.md"}},
		{"*.md text eol=lf export-ignore\nREADME.md -export-ignore\n", []string{"docs/a.md"}, []string{"README.md", "docs/README.md"}},
		{"# a.md export-ignore\n!b.md export-ignore\n[attr]x export-ignore\nc.md text\nd.md export-ignore=no\n[ export-ignore\n", []string{"["}, []string{"a.md", "b.md", "c.md", "d.md"}},
		{`a\*.md export-ignore`, []string{"a*.md"}, []string{"ab.md"}},
	} {
		e := ExportedBy([]byte(tt.attributes))
		for _, name := range tt.left {
			if e.Has(name) {
				t.Errorf("%q keeps %s", tt.attributes, name)
			}
		}
		for _, name := range tt.kept {
			if !e.Has(name) {
				t.Errorf("%q leaves out %s", tt.attributes, name)
			}
		}
	}
}
