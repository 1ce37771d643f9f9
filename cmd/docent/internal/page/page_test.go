package page_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"docent/cmd/docent/internal/page"
	"docent/shared/filter"
)

func TestTitles(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file, content, want string
	}{
		{"ATX heading", "a.md", "intro\n\n# The *real* `title`  #\n", "The real title"},
		{"setext heading", "a.md", "A title\nof two lines\n=====\n\ntext", "A title of two lines"},
		{"badges in a heading", "a.md", "# rapid <img alt=\"x\"> [![Build](b.svg)](ci) ![CI](ci.svg)\n", "rapid"},
		{"a heading of a picture alone", "a.md", "# ![The product](logo.svg)\n", "The product"},
		{"link and entity in a heading", "a.md", "# [Guide](x.md) & more\n", "Guide & more"},
		{"escapes in a heading", "a.md", "# \\<script setup> of snake\\_case and `C:\\_x`\n", `<script setup> of snake_case and C:\_x`},
		{"not from a fence", "a.md", "```sh\n# a comment\n```\n\n# Real\n", "Real"},
		{"not from level 2", "notes.md", "## Part\n", "notes"},
		{"front matter", "a.md", "---\ntitle: \"A \\\"B\\\"\"\nx: 1\n---\n## Part\n", `A "B"`},
		{"front matter, single quotes", "a.md", "---\ntitle: 'It''s'\n---\n", "It's"},
		{"front matter, plain with a comment", "a.md", "---\r\ntitle: Plain: yes # no\r\n---\r\n", "Plain: yes"},
		{"TOML", "a.md", "+++\ndate = 2026-01-02\ntitle = \"A \\\"B\\\" \\u00e9\" # no\n[params]\ntitle = 'x'\n+++\n## Part\n", `A "B" é`},
		{"TOML, single quotes", "a.md", "+++\r\ntitle = 'A\\B'\r\n+++\r\n", `A\B`},
		{"TOML, a title within a table", "name.md", "+++\n[menu]\ntitle = \"x\"\n+++\ntext\n", "name"},
		{"heading before TOML", "a.md", "+++\ntitle = \"Front\"\n+++\n# Head\n", "Head"},
		{"plus signs are no front matter", "a.md", "+++\nwords\n+++\n# Head\n", "Head"},
		{"heading before front matter", "a.md", "---\ntitle: Front\n---\n# Head\n", "Head"},
		{"nested title is not the page's", "a.md", "---\nog:\n  title: Nested\n---\ntext", "a"},
		{"thematic break is no front matter", "a.md", "---\ntitle\n---\n# Head\n", "Head"},
		{"empty heading", "a.md", "#\n\n# Next\n", "Next"},
		{"text takes the file's name", "Read me first.txt", "# no heading here", "Read me first"},
		{"reStructuredText heading", "a.rst", "=====\nTitle\n=====\n\ntext", "Title"},
		{"reStructuredText without a heading", "a-b.rst", "text", "a-b"},
		{"HTML title", "a.html", "<title> One\n two </title><h1>H</h1>", "One two"},
		{"HTML without a title", "a.htm", "<h1>Big <b>one</b></h1>", "Big one"},
		{"HTML with neither", "plain.HTML", "<p>text", "plain"},
		{"extension only", ".md", "text", ".md"},
		{"long titles are cut", "a.md", "# " + strings.Repeat("é", 2000), strings.Repeat("é", 1023) + "…"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, err := page.Read(tc.file, []byte(tc.content))
			if err != nil {
				t.Fatal(err)
			}
			if p.Title != tc.want {
				t.Fatalf("title %q, want %q", p.Title, tc.want)
			}
		})
	}
}

func TestFrontMatterIsMetadata(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ front, want, leftOut string }{
		"every kind": {"title: T\nproduct: api\nversion: 3\nshare: 0.5\ndraft: false\nreviewed: 2026-11-01\nat: 2026-11-01T10:00:00Z # when\ntags: [a, 1, 2026]\nnothing:\nquoted: \"3\"\n",
			`{"at":"2026-11-01T10:00:00Z","draft":false,"product":"api","quoted":"3","reviewed":"2026-11-01","share":0.5,"tags":["a","1","2026"],"version":3}`, ""},
		"a list below":       {"labels:\n  - draft\n  - new one\n", `{"labels":["draft","new one"]}`, ""},
		"what does not fit":  {"og:\n  title: N\nmy-key: 1\nnot: x\nlist: [[a]]\nlong: " + strings.Repeat("x", 257) + "\nok: 1\n", `{"ok":1}`, "list long my-key not og"},
		"an anchor":          {"a: &x 1\nb: *x\n", `{"a":1}`, "b"},
		"no number":          {"a: .inf\nb: .nan\n", ``, "a b"},
		"no YAML":            {"a: [1\nb: 2\n", ``, ""},
		"a comment only":     {"# nothing\n", ``, ""},
		"the same key twice": {"a: 1\na: 2\n", `{"a":2}`, ""},
	} {
		p, err := page.Read("a.md", []byte("---\n"+c.front+"---\ntext"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p.Metadata != nil {
			got = p.Metadata.JSON()
		}
		if got != c.want || strings.Join(p.LeftOut, " ") != c.leftOut || p.Body != "text" {
			t.Errorf("%s: %s, left out %v, body %q; want %s and %s", name, got, p.LeftOut, p.Body, c.want, c.leftOut)
		}
	}
}

func TestFrontMatterSaysWhoMayRead(t *testing.T) {
	t.Parallel()
	for front, want := range map[string]string{
		"access:\n  users: [ada@acme.example]\n  groups:\n    - Engineering\n    - 7\n": "[ada@acme.example] [Engineering 7]",
		"access: {groups: [HR]}\n":               "[] [HR]",
		"access: {users: [], groups: []}\n":      "[] []",
		"a: 1\n":                                 "none",
		"a:\n  access: {users: [x]}\n":           "none", // of something else
		"access:\n":                              "error",
		"access: HR\n":                           "error",
		"access: [HR]\n":                         "error",
		"access: {}\n":                           "error",
		"access: {users: ada}\n":                 "error",
		"access: {users: [[ada]]}\n":             "error",
		"access: {users: [\"\"]}\n":              "error",
		"access: {users: [a], teams: [b]}\n":     "error",
		"Access: {users: [a]}\n":                 "error",
		"a: &x {access: {users: [a]}}\n<<: *x\n": "error",
		"access: {users: [a]\nb: 1\n":            "error", // no YAML
	} {
		p, err := page.Read("a.md", []byte("---\n"+front+"---\ntext"))
		got := "none"
		switch {
		case err != nil:
			got = "error"
		case p.Access != nil:
			got = fmt.Sprint(p.Access.Users, p.Access.Groups)
		}
		if got != want {
			t.Errorf("%q: %s, want %s: %v", front, got, want, err)
		}
		if p.Metadata["access"] != (filter.Value{}) {
			t.Errorf("%q: access is metadata", front)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	le := func(s string) string {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune("\uFEFF"+s)))
		return b.String()
	}
	be := func(s string) string {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.BigEndian, utf16.Encode([]rune("\uFEFF"+s)))
		return b.String()
	}
	long := strings.TrimSpace(strings.Repeat("Run the backup. ", 20))
	cases := []struct {
		name, file, content, body, wrong string
	}{
		{name: "Markdown as it is", file: "a.md", content: "# T\r\n\r\ntext\n", body: "# T\r\n\r\ntext\n"},
		{name: "without front matter", file: "a.md", content: "---\ntitle: x\n---\n\ntext\n", body: "text\n"},
		{name: "without TOML", file: "a.md", content: "+++\ntitle = \"x\"\n\ntags = [\n \"a\"]\n+++\n\ntext\n", body: "text\n"},
		{name: "TOML that never ends", file: "a.md", content: "+++\ntitle = \"x\"\n", body: "+++\ntitle = \"x\"\n"},
		{name: "front matter that never ends", file: "a.md", content: "---\ntitle: x\n", body: "---\ntitle: x\n"},
		{name: "empty", file: "a.txt", content: "", body: ""},
		{name: "byte order mark", file: "a.txt", content: "\uFEFFtext", body: "text"},
		{name: "UTF-16 little endian", file: "a.txt", content: le("naïve 🙂"), body: "naïve 🙂"},
		{name: "UTF-16 big endian", file: "a.md", content: be("naïve 🙂"), body: "naïve 🙂"},
		{name: "half a UTF-16 unit", file: "a.txt", content: le("ab") + "c", wrong: "not valid UTF-16"},
		{name: "half a surrogate pair", file: "a.txt", content: "\xff\xfe\x3d\xd8", wrong: "not valid UTF-16"},
		{name: "UTF-32", file: "a.txt", content: "\xff\xfe\x00\x00a\x00\x00\x00", wrong: "UTF-32"},
		{name: "UTF-16 without a mark", file: "a.txt", content: "a\x00b\x00", wrong: "NUL"},
		{name: "Latin-1", file: "a.md", content: "caf\xe9", wrong: "not valid UTF-8"},
		{name: "UTF-16 that has no mark and is no UTF-8", file: "a.txt", content: "\xd6\x00l\x00", wrong: "UTF-16 without a byte order mark"},
		{name: "reStructuredText to Markdown", file: "a.RST", content: "One\n~~~~\n\nRun::\n\n  x\n", body: "# One\n\nRun:\n\n```\nx\n```\n"},
		{name: "Latin-1 HTML that says so", file: "a.html", content: `<meta charset="iso-8859-1"><p>caf` + "\xe9", body: "café"},
		{name: "Latin-1 HTML that does not", file: "a.html", content: "<p>caf\xe9", wrong: "not valid UTF-8"},
		{name: "HTML that lies", file: "a.html", content: `<meta charset="utf-8"><p>caf` + "\xe9", wrong: "not valid UTF-8"},
		{name: "another kind", file: "a.zip", content: "x", wrong: "not a Markdown, text, reStructuredText, HTML, PDF or Office file"},
		{name: "10 MB", file: "a.txt", content: strings.Repeat("a", page.MaxFile), body: strings.Repeat("a", page.MaxFile)},
		{name: "a byte more", file: "a.txt", content: strings.Repeat("a", page.MaxFile+1), wrong: "over the limit of 10 MB"},
		{
			name: "HTML to Markdown", file: "a.html",
			content: `<html><head><style>p{}</style><script>track()</script></head><body>
				<nav><a href="/">Home</a></nav><h1>Undo</h1><p>Run <code>undo</code>, <b>then</b> <a href="x.html">wait</a>.</p>
				<!-- secret --><ul><li>one</li><li>two</li></ul>
				<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><script>more()</script></body></html>`,
			body: "# Undo\n\nRun `undo`, **then** [wait](x.html).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |",
		},
		{
			name: "the main part alone", file: "a.html",
			content: "<div>site banner</div><main><p>kept</p><form>search</form></main><footer>legal</footer>", body: "kept",
		},
		{
			name: "a page of DocBook", file: "a.html",
			content: `<div class="navheader"><table><tr><td>Up</td></tr></table></div><h2 class="title"><a id="b"></a>Backup</h2><div class="note">
				<h3 class="title">Note</h3><p>It is slow.</p></div><p>Run it.</p><ul class="docnav top"><li>Next</li></ul><div class="navfooter">Prev</div>`,
			body: "## Backup\n\nNote\n\nIt is slow.\n\nRun it.",
		},
		{name: "contents of a page", file: "a.html", content: `<div class="toc"><dl class="toc"><dt>1. Backup</dt></dl></div><p>` + long, body: long},
		{name: "contents of a book", file: "a.html", content: `<div class="toc"><p>1. Backup</p></div><p>The manual.</p>`, body: "1\\. Backup\n\nThe manual."},
		{name: "an empty main part does not hide the rest", file: "a.html", content: "<main> </main><p>kept</p>", body: "kept"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, err := page.Read(tc.file, []byte(tc.content))
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("error %v, want one with %q", err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Body != tc.body {
				t.Fatalf("body\n%.400q\nwant\n%.400q", p.Body, tc.body)
			}
		})
	}
}

// FuzzRead checks every page against the contract's bounds, whatever the file contains.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"a.md", "a.txt", "a.rst", "a.html"} {
		f.Add(name, []byte("---\ntitle: x\n---\n# T\n\n<p>text</p>"))
		f.Add(name, []byte("\xff\xfea\x00"))
	}
	f.Add("\n.md", []byte("#"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		p, err := page.Read(name, data)
		if err != nil {
			return
		}
		n := utf8.RuneCountInString(p.Title)
		if n < 1 || n > 1024 || !utf8.ValidString(p.Title) || strings.ContainsAny(p.Title, "\n\r") {
			t.Errorf("title %q of %d code points", p.Title, n)
		}
		if !utf8.ValidString(p.Body) {
			t.Errorf("body is not valid UTF-8: %q", p.Body)
		}
	})
}

// TestAccessInTOMLIsRefused: it is not read there, and the file must not be put for everyone.
func TestAccessInTOMLIsRefused(t *testing.T) {
	t.Parallel()
	for front, refused := range map[string]bool{
		"access = {users = [\"ada\"]}\n":      true,
		"[access]\nusers = [\"ada\"]\n":       true,
		"title = \"x\"\n\"Access\".users = 1": true,
		"access.groups = [\"ops\"]\n":         true,
		"title = \"access = all\"\n":          false,
		"accessible = true\n":                 false,
	} {
		_, err := page.Read("a.md", []byte("+++\n"+front+"\n+++\ntext"))
		if got := err != nil; got != refused || got && !strings.Contains(err.Error(), "access") {
			t.Errorf("%q: %v, want an error: %t", front, err, refused)
		}
	}
}
