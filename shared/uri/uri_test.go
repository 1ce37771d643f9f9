package uri_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"docent/shared/uri"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://docs.example", "HTTPS://Docs.example/a?b=c&d#e", "http://127.0.0.1:8080/", "https://[2001:db8::1]:443/x", "https://docs.example/größe/日本?q=ü#🦉",
		"https://docs.example/a%20b/%E2%80%AE", "https://docs.example/Rock_'n'_Roll_(film)", "https://docs.example/?x[]=1&y={z}|^~",
		"urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "file:///srv/docs/a.md", "mailto:ada@acme.test", "notion://page/1", "wiki:Rolling_back#1",
		"WIKI:x", "com.acme.tickets:4711", "s3://bucket/key",
	} {
		if err := uri.Check(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "docs/a.md", "//docs.example/a", "docs.example/a", "wiki:", "https:", "https://", "https:///a", "https:docs.example", ":x", "1a:x",
		"javascript:alert(1)", "JavaScript:alert(1)", "vbscript:x", "data:text/html,x", "blob:https://x.test/1", "about:blank", "unheard-of:x", "localhost:8080/a",
		"https://docs.example/a b", " https://docs.example/", "https://docs.example/\u00a0", "https://docs.example/\u3000", "https://docs.example/\u2028",
		`https://docs.example/"`, "https://docs.example/`", "https://docs.example/<b>", `https://docs.example\a`, `https://docs.example/?q=\`, "wiki:a b", `urn:x:"`,
		"https://docs.example/\n", "https://docs.example/\x00", "https://docs.example/\u0085", "https://docs.example/\x7f",
		"https://docs.example/\u202egpj.exe", "https://docs.example/\u2066", "https://docs.example/\u200f", "https://docs.example/\u061c",
		"https://docs.example/%zz", "https://docs.example/?q=100%", "https://docs.example/#%4", "https://docs.example:99999/", "https://docs.example:x/",
		"https://ada@docs.example/", "https://ada:secret@docs.example/", "https://[::1", "https://[::1%25eth0]/", "https://a(b)/", "https://a$b/", "wiki://a(b)/", "https://docs.example/\xff", "https://docs.example/\uFFFD",
	} {
		if err := uri.Check(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestCheckWebAcceptsNoOtherScheme(t *testing.T) {
	t.Parallel()
	for _, scheme := range append([]string{"com.acme.tickets", "ws"}, uri.Schemes...) {
		if err := uri.CheckWeb(scheme + "://docs.example/a"); err == nil {
			t.Errorf("%s is accepted", scheme)
		}
	}
	if err := uri.CheckWeb("https://docs.example/a"); err != nil {
		t.Error(err)
	}
}

func TestSchemesAreSortedAndLowerCase(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(uri.Schemes) {
		t.Error("not sorted")
	}
	for _, s := range uri.Schemes {
		if s != strings.ToLower(s) {
			t.Errorf("%s is not lower case", s)
		}
		if slices.Contains([]string{"javascript", "data", "vbscript", "blob", "about", "view-source"}, s) {
			t.Errorf("%s can run code or contain content", s)
		}
	}
}

func TestWebLink(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"https://docs.example/a (b) <c>\\d", "https://docs.example/a%20%28b%29%20%3Cc%3E%5Cd"},
		{"https://docs.example/?q=100%&x=%41", "https://docs.example/?q=100%25&x=%41"},
		{"https://docs.example/a\u202eb\u200d\xff", "https://docs.example/a%E2%80%AEb%E2%80%8D%FF"},
		{"https://docs.example/größe?y=[2]", "https://docs.example/größe?y=[2]"},
		{"javascript:alert(1)", ""}, {"wiki:x", ""}, {"https:///a", ""},
	} {
		if got := uri.WebLink(c[0]); got != c[1] {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
}

// The list is part of the API contract.
func TestTheReadmeListsTheSchemes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range uri.Schemes {
		if !strings.Contains(string(text), "`"+s+"`") {
			t.Errorf("README.md does not list %s", s)
		}
	}
}

// FuzzLink checks that every link is valid, and that Check rejects what Link changes,
// except brackets.
func FuzzLink(f *testing.F) {
	for _, seed := range []string{"https://docs.example/a b", "https://x.test/%zz(\u202e)", "wiki:x\xff", "%", "https://[::1]/`\"<>\\{}|^"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		link := uri.Link(text)
		if !utf8.ValidString(link) || strings.ContainsAny(link, "\"`<>\\(){}|^ ") || strings.ContainsFunc(link, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.In(r, unicode.C, unicode.Z, unicode.Bidi_Control)
		}) {
			t.Errorf("%q makes the link %q", text, link)
		}
		if again := uri.Link(link); again != link {
			t.Errorf("%q makes %q, which makes %q", text, link, again)
		}
		if unescaped, err := url.PathUnescape(link); err != nil {
			t.Errorf("%q makes the link %q: %v", text, link, err)
		} else if want, err := url.PathUnescape(text); err == nil && unescaped != want {
			t.Errorf("%q means %q, its link %q", text, want, unescaped)
		}
		if uri.Check(text) != nil {
			return
		}
		if _, err := url.Parse(link); err != nil {
			t.Errorf("%q is accepted, but its link %q is not: %v", text, link, err)
		}
		scheme, _, _ := strings.Cut(strings.ToLower(text), ":")
		if scheme == "javascript" || scheme == "data" || scheme == "vbscript" {
			t.Errorf("%q is taken", text)
		}
		if web := scheme == "http" || scheme == "https"; web != (uri.CheckWeb(text) == nil) || web != (uri.WebLink(text) == link) {
			t.Errorf("%q: a web address %t, as a link %q", text, uri.CheckWeb(text) == nil, uri.WebLink(text))
		}
	})
}
