// Package repository turns the files of a Git repository into items. Connectors of
// providers that host repositories share it.
package repository

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/shared/plaintext"
	"docent/shared/rst"
	"docent/shared/source"
)

// MaxFile is the most bytes of a file that is read.
const MaxFile = 256 << 10

// foreign are folders of third-party or generated files.
var foreign = []string{"vendor", "node_modules", "third_party", "bower_components", "dist", "testdata", ".git", ".yarn"}

// generated are the names of generated files.
var generated = []string{"go.sum", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "cargo.lock", "poetry.lock", "composer.lock", "gemfile.lock", "uv.lock"}

// generatedSuffixes are the endings of generated files.
var generatedSuffixes = []string{".min.js", ".min.css", ".map", ".pb.go", "_pb2.py", ".svg", ".csv", ".tsv", ".lock", ".snap"}

// Wanted reports whether a file of this name and size is read.
func Wanted(name string, size int64) bool {
	if name == "" || size > MaxFile {
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
	return !slices.ContainsFunc(generatedSuffixes, func(ending string) bool { return strings.HasSuffix(lower, ending) })
}

// documentation are the endings of prose files.
var documentation = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt"}

// machineText are the names of .txt files that are not prose.
var machineText = regexp.MustCompile(`(?i)^(cmakelists|requirements.*|constraints.*|robots|manifest)\.txt$`)

// isPointer reports whether text stands for a file that Git LFS keeps elsewhere. It says nothing about that file.
func isPointer(text []byte) bool {
	const most = 1024 // bytes, by the specification of Git LFS
	return len(text) < most && bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/v1\n")) && bytes.Contains(text, []byte("\noid "))
}

// Item returns a file of a project as an item, or nil if it contains no text. uri is its
// page at the provider.
func Item(project, uri, name string, text []byte) *source.Item {
	body, err := plaintext.Decode(text)
	if err != nil || isPointer(text) || strings.TrimSpace(body) == "" {
		return nil
	}
	i := &source.Item{URI: uri, Title: name, Body: body, SourceType: "code", Project: project}
	ending := strings.ToLower(path.Ext(name))
	if ending == ".rst" {
		if i.Body = rst.Markdown(i.Body); i.Body == "" {
			return nil
		}
	}
	if slices.Contains(documentation, ending) && !machineText.MatchString(path.Base(name)) {
		i.SourceType = "documentation"
		if title := titleOf(i.Body); title != "" {
			i.Title = title
		}
	}
	return i
}

// frontTitle matches the title in front matter, of YAML or TOML.
var frontTitle = regexp.MustCompile(`^title[ \t]*[:=][ \t]*(.+)$`)

// titleOf returns the title in the first lines of a text: from its front matter, or
// its first heading of level 1, marked by # or underlined by =.
func titleOf(text string) string {
	const maxLines, most = 50, 200
	title, before := "", ""
	n, front := 0, "" // the line around the front matter, while it lasts
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		n++
		switch {
		case n == 1 && (line == "---" || line == "+++"):
			front = line
		case front != "" && (line == front || front == "---" && line == "..."):
			front = ""
		case front != "":
			if m := frontTitle.FindStringSubmatch(line); m != nil {
				title = strings.Trim(m[1], `"'`)
			}
		case strings.HasPrefix(line, "# "):
			title = strings.TrimSpace(line[2:])
		case len(line) >= 3 && strings.Trim(line, "=") == "" && before != "":
			title = before
		}
		if front == "" {
			if title != "" && utf8.RuneCountInString(title) <= most {
				return title
			}
			title, before = "", strings.Trim(strings.TrimSpace(line), "=")
		}
		if n == maxLines {
			break
		}
	}
	return ""
}
