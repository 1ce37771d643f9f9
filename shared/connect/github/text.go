package github

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/source"
)

// foreign are folders of what others wrote or programs made.
var foreign = []string{"vendor", "node_modules", "third_party", "bower_components", "dist", "testdata", ".git", ".yarn"}

// generated are files that programs made and nobody reads.
var generated = []string{"go.sum", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "cargo.lock", "poetry.lock", "composer.lock", "gemfile.lock", "uv.lock"}

// made are endings of the same.
var made = []string{".min.js", ".min.css", ".map", ".pb.go", "_pb2.py", ".svg", ".csv", ".tsv", ".lock", ".snap"}

// wanted tells by its name and size whether a file is read.
func wanted(name string, size int64) bool {
	if name == "" || size > maxFile {
		return false
	}
	lower := strings.ToLower(name)
	folders := strings.Split(lower, "/")
	for _, f := range folders[:len(folders)-1] {
		if slices.Contains(foreign, f) {
			return false
		}
	}
	if slices.Contains(generated, folders[len(folders)-1]) {
		return false
	}
	return !slices.ContainsFunc(made, func(ending string) bool { return strings.HasSuffix(lower, ending) })
}

// documentation are the endings of what is read as prose.
var documentation = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt"}

// file is a file as an item, nil when it holds no text.
func (s *session) file(name string, text []byte) *source.Item {
	if len(bytes.TrimSpace(text)) == 0 || bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil
	}
	i := &source.Item{URI: s.blob(name), Title: name, Body: string(text), SourceType: "code", Project: s.repository}
	if slices.Contains(documentation, strings.ToLower(path.Ext(name))) {
		i.SourceType = "documentation"
		if heading := firstHeading(i.Body); heading != "" {
			i.Title = heading
		}
	}
	return i
}

// firstHeading is the text of a heading of level 1 among the first lines.
func firstHeading(text string) string {
	const look = 50
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > look {
			break
		}
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			if heading = strings.TrimSpace(heading); heading != "" && utf8.RuneCountInString(heading) <= 200 {
				return heading
			}
		}
	}
	return ""
}
