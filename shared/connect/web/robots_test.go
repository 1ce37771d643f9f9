package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/growthtest"
	"docent/shared/source"
)

func TestRobotsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		robots answer
		want   []string
	}{{answer{404, ""}, []string{"/a"}}, {answer{403, ""}, []string{"/a"}}, {answer{429, ""}, nil}, {answer{500, ""}, nil}, {answer{200, strings.Repeat("#", 600<<10)}, nil},
		{answer{200, "User-agent: *\nDisallow: /\n"}, nil}, {answer{200, "<html>no rules</html>"}, []string{"/a"}}, {answer{200, ""}, []string{"/a"}}} {
		r := read(t, map[string]answer{"/robots.txt": tt.robots, "/a": article("A")})
		if got, _, err := r.read(urlSettings([]string{r.url + "/a"}), nil); err != nil || !slices.Equal(got.items, tt.want) {
			t.Errorf("%d %.20q: %+v %v", tt.robots.status, tt.robots.body, got, err)
		}
	}
}

func TestARobotsThatCannotBeReadIsNotTakenForARule(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/robots.txt": {500, ""}})
	closed := httptest.NewServer(nil)
	closed.Close()
	r.c.Fetch = fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true })
	for address, want := range map[string]string{
		r.url + "/a":      "its robots.txt could not be read: its status is 500",
		closed.URL + "/a": "its robots.txt could not be read: the site could not be reached",
	} {
		if got, _, err := r.read(urlSettings([]string{address}), nil); err != nil || !slices.Equal(got.why, []string{want}) || len(got.kept) != 1 {
			t.Errorf("%s: %q, %d stay, %v", address, got.why, len(got.kept), err)
		}
	}
}

func TestRulesOfRobots(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		robots       string
		allowed, not []string
	}{
		"the group of its own":      {"User-agent: *\nDisallow: /\n\nUser-agent: docent\nDisallow: /a\n", []string{"/", "/b"}, []string{"/a", "/ab"}},
		"groups of one name":        {"User-agent: Docent\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: Docent\nDisallow: /b\n", []string{"/c"}, []string{"/a", "/b"}},
		"a group of several names":  {"User-agent: x\nUser-agent: Docent/1.0\nUser-agent: y\nDisallow: /a\n", []string{"/b"}, []string{"/a"}},
		"an empty rule ends names":  {"User-agent: Docent\nDisallow:\nUser-agent: *\nDisallow: /\n", []string{"/", "/a"}, nil},
		"the longest rule":          {"User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n", []string{"/a/b", "/"}, []string{"/a", "/a/b/c"}},
		"equal rules":               {"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /a\n", []string{"/a"}, nil},
		"wildcards":                 {"User-agent: *\nDisallow: /*/b*c\nDisallow: *.pdf$\n", []string{"/b/c", "/a/bd", "/a.pdf?x", "/pdf"}, []string{"/a/bxc", "/a/b/c/d", "/a.pdf", "/a.pdf.pdf"}},
		"everything":                {"User-agent: *\nDisallow: *\n", nil, []string{"/", "/a"}},
		"the end":                   {"User-agent: *\nDisallow: /a$\n", []string{"/ab", "/"}, []string{"/a"}},
		"comments, blanks and case": {"\ufeffUSER-AGENT : * # all\r\n\r\n  disallow:/a#b\rAllow:   /a/b   c\n", []string{"/a/b", "/c"}, []string{"/a", "/a/c"}},
		"no slash":                  {"User-agent: *\nDisallow: a\n", []string{"/b"}, []string{"/a"}},
		"rules of no group":         {"Disallow: /\nUser-agent: x\nDisallow: /a\n", []string{"/", "/a"}, nil},
		"not ASCII":                 {"User-agent: *\nDisallow: /geheim/über\nDisallow: /%c3%a4\n", []string{"/geheim/uber"}, []string{"/geheim/%C3%BCbersicht", "/geheim/%c3%bcber", "/%C3%A4/a"}},
		"escapes":                   {"User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /a%2fb\nDisallow: /x/~*/z%\nDisallow: /%24$\n", []string{"/~jo", "/a/b", "/%24a", "/%25"}, []string{"/~joe/a", "/%7ejoe/", "/a%2Fb", "/%24"}},
		"a query":                   {"User-agent: *\nDisallow: /*?\n", []string{"/a"}, []string{"/a?b"}},
	} {
		r := read(t, map[string]answer{"/robots.txt": {200, tt.robots}})
		var urls []string
		for _, path := range append(tt.allowed, tt.not...) {
			r.pages[path] = article(path)
			urls = append(urls, r.url+path)
		}
		got, _, err := r.read(urlSettings(urls), nil)
		if err != nil || !slices.Equal(got.items, tt.allowed) || !slices.Equal(got.left, tt.not) {
			t.Errorf("%s: read %q, left out %q, %v", name, got.items, got.left, err)
		}
	}
}

// A group is about all names above it, which was each rule for each name.
func TestRobotsTakeMemoryInProportionToTheirLength(t *testing.T) {
	for name, robots := range map[string]func(n int) string{
		"names":     func(n int) string { return strings.Repeat("User-agent: *\n", n) + strings.Repeat("Disallow: /a\n", n) },
		"others":    func(n int) string { return strings.Repeat("User-agent: x\n", n) + strings.Repeat("Disallow: /a\n", n) },
		"wildcards": func(n int) string { return "User-agent: *\n" + strings.Repeat("Disallow: /*a*b\n", n) },
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 4000, func(n int) {
				r := read(t, map[string]answer{"/robots.txt": {200, robots(n)}, "/": article("A")})
				if got, _, err := r.read(urlSettings([]string{r.url + "/"}), nil); err != nil || len(got.items) != 1 {
					t.Errorf("%+v, %v", got, err)
				}
			})
		})
	}
}

// TestARedirectIsFollowedAsFarAsRobotsTxtAllows: many sites redirect to a page for signing in that theirs forbids. The address of the page stays.
func TestARedirectIsFollowedAsFarAsRobotsTxtAllows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		to, robots string
		read       bool
	}{
		"to no public address":      {"private/moved", "User-agent: *\nDisallow: /login", false},
		"allowed":                   {"/moved", "User-agent: *\nDisallow: /login", true},
		"forbidden":                 {"/login?next=/a", "User-agent: *\nDisallow: /login", false},
		"forbidden after the first": {"/again", "User-agent: *\nDisallow: /login", false},
		"on another host":           {"other/login", "User-agent: *\nDisallow: /login", false},
		"on another host, allowed":  {"other/moved", "User-agent: *\nDisallow: /login", true},
		"with a broken robots.txt":  {"other/moved", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]answer{"/login?next=/a": article("Sign in"), "/login": article("Sign in"), "/moved": article("Text"), "/a": article("Text")}
			other, private := read(t, maps.Clone(pages)), read(t, maps.Clone(pages))
			r := read(t, pages)
			for _, one := range []*reading{r, other} {
				one.pages["/robots.txt"] = answer{http.StatusOK, tt.robots}
			}
			if tt.robots == "" {
				other.pages["/robots.txt"] = answer{http.StatusBadGateway, ""}
			}
			r.moved = map[string]string{"/again": "/login?next=/a"}
			clock := now
			r.c.Now = func() time.Time { return clock }
			r.c.Fetch = connecttest.Fetcher(r.server, other.server)
			r.stored = func(string) bool { return true }
			settings := source.NewSettings(map[string]any{"urls": []string{r.url + "/a"}})
			_, at, err := r.read(settings, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.moved["/a"] = strings.NewReplacer("other", other.url, "private", private.url).Replace(tt.to)
			for look := range 2 {
				var got result
				clock = clock.Add(24 * time.Hour)
				if got, at, err = r.read(settings, at); err != nil {
					t.Fatal(err)
				}
				gone := !tt.read && tt.robots != "" && look == 1
				if tt.read != slices.Contains(got.items, "/a") || gone != slices.Contains(got.removed, "/a") || !tt.read && !strings.Contains(fmt.Sprint(got.why), "robots.txt") {
					t.Errorf("look %d: %+v", look, got)
				}
			}
		})
	}
}
