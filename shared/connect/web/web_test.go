package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/web"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/growthtest"
	"docent/shared/source"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type answer struct {
	status int
	body   string
}

// reading is a connector with a site of answers by path; others are 404.
type reading struct {
	t      *testing.T
	url    string
	server *httptest.Server
	pages  map[string]answer
	moved  map[string]string // where paths redirect to
	asked  []string
	later  string // Retry-After with the status 429
	stored func(path string) bool
	before []byte // checkpoint before a full scan
	pauses []time.Duration
	c      *web.Connector
}

func read(t *testing.T, pages map[string]answer) *reading {
	t.Helper()
	r := &reading{t: t, pages: pages}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked = append(r.asked, q.URL.RequestURI())
		if to := r.moved[q.URL.RequestURI()]; to != "" {
			http.Redirect(w, q, to, http.StatusFound)
			return
		}
		a, ok := r.pages[q.URL.RequestURI()]
		if !ok {
			a = answer{404, "gone"}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.Contains(q.URL.Path, "robots") || strings.HasSuffix(q.URL.Path, ".gz") {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		if a.status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", r.later)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(server.Close)
	r.server, r.url = server, server.URL
	r.c = &web.Connector{Fetch: connecttest.Fetcher(server), Now: func() time.Time { return now },
		Pause: func(_ context.Context, d time.Duration) error { r.pauses = append(r.pauses, d); return nil }}
	return r
}

// articles puts n articles on the site and returns their addresses.
func (r *reading) articles(n int) (urls []string) {
	for n := range n {
		path := fmt.Sprintf("/%02d", n)
		r.pages[path] = article(path)
		urls = append(urls, r.url+path)
	}
	return urls
}

// firstCheckpoint returns the checkpoint of the first page of a sync that goes no further.
func (r *reading) firstCheckpoint(s source.Settings) []byte {
	r.t.Helper()
	for page, err := range r.c.Read(r.t.Context(), source.Access{Settings: s}, "pages", nil) {
		if err != nil {
			r.t.Fatal(err)
		}
		return page.Checkpoint
	}
	r.t.Fatal("no page was read")
	return nil
}

// result is what Read yielded, as paths.
type result struct {
	items, kept, removed, left, why []string
	exact                           bool   // what was not listed is removed
	notice                          string // detail
}

func (r *reading) read(s source.Settings, checkpoint []byte) (result, []byte, error) {
	r.t.Helper()
	var out result
	var end source.SyncPage
	path := func(uri string) string { return strings.TrimPrefix(uri, r.url) }
	a := source.Access{Settings: s, Before: r.before}
	if r.stored != nil {
		a.Stored = func(_ context.Context, uris []string) (map[string]bool, error) {
			all := map[string]bool{}
			for _, uri := range uris {
				all[uri] = r.stored(path(uri))
			}
			return all, nil
		}
	}
	for page, err := range r.c.Read(r.t.Context(), a, "pages", checkpoint) {
		if err != nil {
			return out, end.Checkpoint, err
		}
		for _, uri := range page.Removed {
			out.removed = append(out.removed, path(uri))
		}
		for _, i := range page.Items {
			out.items = append(out.items, path(i.URI))
		}
		for _, uri := range page.Unread {
			out.kept = append(out.kept, path(uri))
		}
		for _, left := range page.Skipped {
			out.left, out.why = append(out.left, path(left.URI)), append(out.why, left.Why)
		}
		if page.Notice != nil {
			out.notice = page.Notice.Detail
		}
		end = page
	}
	if out.exact = end.Exact; !end.Last {
		r.t.Errorf("the last page is %+v", end)
	}
	return out, end.Checkpoint, nil
}

func article(title string) answer {
	return answer{200, "<html><head><title>" + title + "</title></head><body><article><h1>" + title + "</h1><p>" +
		strings.Repeat("All about "+title+" is written here. ", 20) + "</p></article></body></html>"}
}

func sitemap(entries ...string) answer {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, e := range entries {
		at, changed, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, "<url><loc> %s </loc><lastmod>%s</lastmod><priority>0.5</priority></url>", at, changed)
	}
	return answer{200, b.String() + "</urlset>"}
}

func packed(a answer) answer {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, a.body)
	_ = z.Close()
	return answer{a.status, b.String()}
}

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/robots.txt": {200, "User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 2\n\nUser-agent: Docent\nDisallow: /drafts\nCrawl-delay: 3\n"},
		"/a": article("A"), "/drafts/b": article("B"), "/private/c": article("C"), "/broken": {500, "oops"},
		"/removed": {410, ""}, "/members": {401, ""}, "/refused": {403, ""}})
	var urls []string
	for _, path := range []string{"/a", "/drafts/b", "/private/c", "/missing", "/broken", "/removed", "/members", "/refused"} {
		urls = append(urls, r.url+path)
	}
	r.stored = func(string) bool { return false }
	got, _, err := r.read(urlSettings(urls), nil)
	if err != nil || !slices.Equal(got.items, []string{"/a", "/private/c"}) || !slices.Equal(got.kept, []string{"/broken", "/refused"}) ||
		!slices.Equal(got.left, []string{"/drafts/b", "/missing", "/broken", "/removed", "/members", "/refused"}) {
		t.Errorf("got %+v %v", got, err)
	}
	if slices.Contains(r.asked, "/drafts/b") {
		t.Error("what robots.txt forbids was read")
	}
	if want := slices.Repeat([]time.Duration{3 * time.Second}, 6); !slices.Equal(r.pauses, want) {
		t.Errorf("paused %v", r.pauses)
	}
}

// TestPagesThatAreGoneAreRemovedAtTheSecondLook, some hours after the first one, and not only by a full scan: a site that is being changed
// misses pages for a while.
func TestPagesThatAreGoneAreRemovedAtTheSecondLook(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	settings := urlSettings(r.articles(7))
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	delete(r.pages, "/00")
	r.pages["/01"], r.pages["/02"], r.pages["/03"], r.pages["/04"] = answer{401, ""}, answer{410, ""}, answer{403, ""}, answer{500, ""}
	for _, tt := range []struct {
		after                time.Duration
		change               func()
		kept, removed, items []string
	}{
		{0, func() {}, []string{"/00", "/01", "/02", "/03", "/04"}, nil, []string{"/05", "/06"}},
		{time.Hour, func() { delete(r.pages, "/04") }, []string{"/00", "/01", "/02", "/03", "/04"}, nil, []string{"/05", "/06"}},
		{4 * time.Hour, func() {
			r.pages["/02"], r.pages["/04"] = article("back"), answer{404, ""}
			r.pages["/robots.txt"] = answer{200, "User-agent: *\nDisallow: /05\n"}
		}, []string{"/03"}, []string{"/00", "/01", "/04", "/05"}, []string{"/02", "/06"}},
		{8 * time.Hour, func() { delete(r.pages, "/02") }, []string{"/02", "/03"}, []string{"/05"}, []string{"/06"}},
	} {
		tt.change()
		r.c.Now = func() time.Time { return now.Add(tt.after) }
		r.stored = func(path string) bool {
			return tt.after < 8*time.Hour || path != "/00" && path != "/01" && path != "/04"
		}
		var got result
		if got, at, err = r.read(settings, at); err != nil || !slices.Equal(got.removed, tt.removed) || !slices.Equal(got.kept, tt.kept) || !slices.Equal(got.items, tt.items) {
			t.Errorf("after %v: %+v %v", tt.after, got, err)
		}
	}
}

// TestAFullScanRemovesNoPageThatIsGoneAtOneLookOnly, and names what it removes: after one with a doubted sitemap, what is not listed stays.
func TestAFullScanRemovesNoPageThatIsGoneAtOneLookOnly(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 410, 401} {
		r := read(t, map[string]answer{})
		settings := urlSettings(r.articles(2))
		_, at, err := r.read(settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.pages["/01"] = answer{status, ""}
		for n, want := range []result{{kept: []string{"/01"}}, {removed: []string{"/01"}}} {
			r.c.Now = func() time.Time { return now.Add(time.Duration(n) * 7 * 24 * time.Hour) }
			r.before = at
			var got result
			if got, at, err = r.read(settings, nil); err != nil || !slices.Equal(got.kept, want.kept) || !slices.Equal(got.items, []string{"/00"}) || !slices.Equal(got.removed, want.removed) {
				t.Errorf("%d, look %d: %+v %v", status, n+1, got, err)
			}
		}
	}
}

// TestAnOutageOfManyPagesFitsInACheckpoint, and those that are gone are all removed in the end.
func TestAnOutageOfManyPagesFitsInACheckpoint(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	var entries []string
	for n := range 1200 {
		entries = append(entries, fmt.Sprintf("%s/gone/%04d 2026-01-01", r.url, n))
	}
	r.pages["/sitemap.xml"] = sitemap(entries...)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	removed := map[string]bool{}
	r.stored = func(path string) bool { return !removed[path] }
	var at []byte
	for n := range 4 {
		var got result
		var err error
		r.c.Now = func() time.Time { return now.Add(time.Duration(n) * 7 * 24 * time.Hour) }
		r.before = at
		got, at, err = r.read(settings, nil)
		if err != nil || len(at) > source.MaxCheckpoint/3 {
			t.Fatalf("look %d: %d bytes, %v", n+1, len(at), err)
		}
		kept := map[string]bool{}
		for _, path := range got.kept {
			kept[path] = true
		}
		for n := range entries {
			path := fmt.Sprintf("/gone/%04d", n)
			removed[path] = !kept[path]
		}
		if n == 0 && len(kept) != len(entries) || n == 3 && len(kept) > 0 {
			t.Errorf("look %d keeps %d", n+1, len(kept))
		}
	}
}

// TestChangesAreReadAfterTheClockWasAhead: the time of the last reading is then in the future.
func TestChangesAreReadAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	r.pages["/sitemap.xml"] = sitemap(r.articles(1)[0] + " 2026-11-21")
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	r.c.Now = func() time.Time { return now.Add(30 * 24 * time.Hour) }
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.c.Now = func() time.Time { return now }
	if got, _, err := r.read(settings, at); err != nil || len(got.items) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestAPageThatIsBackIsReadAgain although the sitemap says that it has not changed: it was removed when the site missed it.
func TestAPageThatIsBackIsReadAgain(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	var entries []string
	for _, u := range r.articles(450) {
		entries = append(entries, u+" 2026-01-01")
	}
	r.pages["/sitemap.xml"] = sitemap(entries...)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.stored = func(path string) bool { return path != "/07" && path != "/333" }
	if got, _, err := r.read(settings, at); err != nil || !slices.Equal(got.items, []string{"/07", "/333"}) && !slices.Equal(got.items, []string{"/333", "/07"}) || len(got.kept) != 448 {
		t.Errorf("read %q, kept %d, %v", got.items, len(got.kept), err)
	}
}

// TestManyPagesThatAreNotThere of a sitemap do not keep later syncs from passing over what has not changed.
func TestManyPagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	entries := []string{r.articles(1)[0] + " 2026-01-01"}
	for n := range 600 {
		entries = append(entries, fmt.Sprintf("%s/not/there/%d 2026-01-01", r.url, n))
	}
	r.stored = func(path string) bool { return path == "/00" }
	r.pages["/sitemap.xml"] = sitemap(entries...)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	entries[0] = entries[0][:len(entries[0])-len("2026-01-01")] + now.Add(24*time.Hour).Format(time.DateOnly) // has changed
	r.pages["/sitemap.xml"] = sitemap(entries...)
	r.c.Now = func() time.Time { return now.Add(72 * time.Hour) }
	got, at, err := r.read(settings, at)
	if err != nil || !slices.Equal(got.items, []string{"/00"}) || len(got.removed) > 0 {
		t.Fatalf("%q, removed %q, %v", got.items, got.removed, err)
	}
	if got, _, err = r.read(settings, at); err != nil || len(got.items) > 0 || !slices.Equal(got.kept, []string{"/00"}) {
		t.Errorf("then %q, kept %q, %v", got.items, got.kept, err)
	}
}

// TestASitemapThatIsShortRemovesNothingAtOnce: one may be short, or empty, after a failed build or while a site is moved. What it does not
// name leaves with the first full scan a day later that finds it so too.
func TestASitemapThatIsShortRemovesNothingAtOnce(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	var entries []string
	for _, u := range r.articles(40) {
		entries = append(entries, u+" 2026-01-01")
	}
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	elsewhere := sitemap("https://other.test/a", "https://other.test/b")
	const day = 24 * time.Hour
	var at []byte
	for n, tt := range []struct {
		after  time.Duration
		full   bool
		named  answer
		exact  bool
		notice string
		fails  bool
	}{
		{0, true, sitemap(entries...), true, "", false},
		{7 * day, true, sitemap(entries[:38]...), true, "", false}, // a few are removed on any day
		{14 * day, true, sitemap(), false, "", true},
		{14 * day, true, indexOf(), false, "", true},
		{14 * day, true, elsewhere, false, "", true},
		{14 * day, true, sitemap(entries[:3]...), false, "names 3 pages, and named 38 before", false},
		{14*day + time.Hour, true, sitemap(entries[:3]...), false, "names 3 pages", false},
		{15 * day, true, sitemap(entries...), true, "", false}, // it was a mistake
		{21 * day, true, sitemap(entries[:20]...), false, "names 20 pages, and named 40 before", false},
		{22 * day, true, sitemap(entries[:2]...), false, "names 2 pages, and named 40 before", false}, // another one
		{22*day - time.Hour, true, sitemap(entries[:20]...), false, "named 40", false},                // the clock was ahead
		{23 * day, true, sitemap(entries[:20]...), true, "", false},
		{24 * day, false, sitemap(entries[:10]...), false, "names 10 pages, and named 20", false}, // a look between full scans counts too
		{28 * day, true, sitemap(entries[:10]...), true, "", false},
	} {
		r.c.Now = func() time.Time { return now.Add(tt.after) }
		r.pages["/sitemap.xml"] = tt.named
		from := at
		if r.before = at; tt.full {
			from = nil
		}
		got, end, err := r.read(settings, from)
		if (err != nil) != tt.fails || err == nil && (got.exact != tt.exact || !strings.Contains(got.notice, tt.notice) || (got.notice == "") != (tt.notice == "")) {
			t.Errorf("look %d: exact %v, %q, %v", n, got.exact, got.notice, err)
		}
		if err == nil {
			at = end
		}
	}
}

// TestAFullScanWithAShortSitemapRemovesPagesThatItNames: one that is gone at its second look, and one that may not be read any more.
func TestAFullScanWithAShortSitemapRemovesPagesThatItNames(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(10)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	r.pages["/sitemap.xml"] = sitemap(urls...)
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	delete(r.pages, "/00")
	if _, at, err = r.read(settings, at); err != nil {
		t.Fatal(err)
	}
	r.pages["/sitemap.xml"], r.pages["/robots.txt"] = sitemap(urls[:3]...), answer{200, "User-agent: *\nDisallow: /01\n"}
	r.c.Now = func() time.Time { return now.Add(7 * 24 * time.Hour) }
	r.before = at
	if got, _, err := r.read(settings, nil); err != nil || got.exact || !slices.Equal(got.removed, []string{"/00", "/01"}) || !slices.Equal(got.items, []string{"/02"}) {
		t.Errorf("%+v %v", got, err)
	}
}

// TestASitemapThatBecomesShortDuringAFullScan: the scan removes nothing, whatever later turns of it find.
func TestASitemapThatBecomesShortDuringAFullScan(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(25)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	r.pages["/sitemap.xml"] = sitemap(urls...)
	at := r.firstCheckpoint(settings)
	r.pages["/sitemap.xml"] = sitemap(urls[:12]...)
	for page, err := range r.c.Read(t.Context(), source.Access{Settings: settings}, "pages", at) {
		if err != nil || page.Exact {
			t.Errorf("exact %v, %v", page.Exact, err)
		}
		at = page.Checkpoint
	}
	r.pages["/sitemap.xml"] = sitemap(urls...)
	if got, _, err := r.read(settings, at); err != nil || !got.exact {
		t.Errorf("the next one: exact %v, %v", got.exact, err)
	}
}

// TestASiteWithoutAPublicAddressKeepsItsPagesAtOneLook: a name may lead to a private address by a mistake of an hour.
func TestASiteWithoutAPublicAddressKeepsItsPagesAtOneLook(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	settings := urlSettings(r.articles(1))
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.c.Fetch = fetch.New(page.Read)
	for n, removed := range [][]string{nil, {"/00"}} {
		r.c.Now = func() time.Time { return now.Add(time.Duration(n) * 24 * time.Hour) }
		var got result
		if got, at, err = r.read(settings, at); err != nil || !slices.Equal(got.removed, removed) || len(got.kept) != 1-n {
			t.Errorf("look %d: %+v %v", n+1, got, err)
		}
	}
}

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

func TestSitemaps(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/a": article("A"), "/b": article("B"), "/c?x=1&y=2": article("C"), "/d?q=%22d%22": article("D")})
	r.pages["/plain.xml"] = sitemap(r.url+"/a 2026-01-01", r.url+"/b", r.url+"/a#part", "http://other.test/x", "ftp://x.test/", r.url+"/c?x=1&amp;y=2 2026-11-20T10:00:00+01:00", r.url+"/d?q=&quot;d&quot; 2026-01-01")
	r.pages["/packed.xml.gz"] = packed(r.pages["/plain.xml"])
	r.pages["/index.xml"] = indexOf(r.url+"/plain.xml", r.url+"/packed.xml.gz", "http://other.test/sitemap.xml")
	all := []string{"/a", "/b", "/c?x=1&y=2", "/d?q=%22d%22"}
	var checkpoint []byte
	for _, path := range []string{"/plain.xml", "/packed.xml.gz", "/index.xml"} {
		got, end, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + path}), nil)
		if err != nil || !slices.Equal(got.items, all) || got.left != nil {
			t.Errorf("%s: %+v %v", path, got, err)
		}
		checkpoint = end
	}
	// Later only what may have changed is read again.
	got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/plain.xml"}), checkpoint)
	if err != nil || !slices.Equal(got.items, []string{"/b", "/c?x=1&y=2"}) && !slices.Equal(got.items, []string{"/b"}) || !slices.Contains(got.kept, "/a") {
		t.Errorf("later: %+v %v", got, err)
	}
	bomb := answer{200, strings.Repeat(" ", 60<<20)}
	many := make([]string, 20_001)
	for i := range many {
		many[i] = fmt.Sprintf("%s/%d", r.url, i)
	}
	r.pages["/html.xml"], r.pages["/cut.xml"], r.pages["/bomb.xml.gz"] = answer{200, "<html></html>"}, answer{200, r.pages["/plain.xml"].body[:120]}, packed(bomb)
	r.pages["/nested.xml"], r.pages["/many.xml"], r.pages["/broken.xml"], r.pages["/badgzip.xml.gz"] = indexOf(r.url+"/index.xml"), sitemap(many...), answer{503, ""}, answer{200, "\x1f\x8bnonsense"}
	r.pages["/entities.xml"] = answer{200, `<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>`}
	for path, code := range map[string]string{"/html.xml": source.Unreadable, "/cut.xml": source.Unreadable, "/bomb.xml.gz": source.TooLarge, "/nested.xml": source.Unreadable,
		"/many.xml": source.TooLarge, "/broken.xml": source.Unreadable, "/badgzip.xml.gz": source.Unreadable, "/none.xml": source.NotThere, "/entities.xml": source.Unreadable} {
		var failed *source.SyncError
		if _, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + path}), nil); !errors.As(err, &failed) || failed.Code != code {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
}

// indexOf returns an index of sitemaps.
func indexOf(urls ...string) answer {
	var b strings.Builder
	for _, u := range urls {
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>", u)
	}
	return answer{200, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + b.String() + "</sitemapindex>"}
}

func TestALongURLOfASitemapIsLeftOut(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/a": article("A")})
	at := func(bytes int) string { return r.url + "/" + strings.Repeat("b", bytes-len(r.url)-1) }
	r.pages["/sitemap.xml"] = sitemap(r.url+"/a", at(2049), "https://other.test/"+strings.Repeat("b", 3000), at(2048), r.url+"/"+strings.Repeat("é", 1025)+"?c", r.url+"/"+strings.Repeat("%C3%A9", 500), at(900_000))
	got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"}), nil)
	if err != nil || !slices.Equal(got.items, []string{"/a"}) || len(got.left) != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	long := 0
	for i, why := range got.why {
		if why == "its URL has more than 2048 bytes" && len(got.left[i]) <= 200 && got.left[i][0] == '/' {
			long++
		}
	}
	if long != 4 { // the page of 2048 bytes is asked for, and is not there
		t.Errorf("left out: %q %q", got.why, got.left)
	}
}

func TestWhatASitemapHoldsIsBounded(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/a": article("A")})
	var wide []string
	for file := range 3 { // together 18,000 pages with URLs of 18 MB
		var urls []string
		for n := range 6000 {
			urls = append(urls, fmt.Sprintf("%s/%d-%d-%s", r.url, file, n, strings.Repeat("w", 1000)))
		}
		path := fmt.Sprintf("/wide%d.xml", file)
		wide, r.pages[path] = append(wide, r.url+path), sitemap(urls...)
	}
	repeated := make([]string, 30_000)
	for i := range repeated {
		repeated[i] = []string{r.url + "/a", "https://other.test/" + fmt.Sprint(i)}[i%2]
	}
	nested := strings.Repeat("<x>", 60) + strings.Repeat("</x>", 60)
	r.pages["/wide.xml"], r.pages["/repeated.xml"] = indexOf(wide...), sitemap(repeated...)
	r.pages["/halves.xml"] = indexOf(r.url+"/repeated.xml", r.url+"/repeated.xml", r.url+"/one.xml")
	r.pages["/one.xml"] = sitemap(r.url + "/b")
	r.pages["/nested.xml"] = answer{200, "<urlset><url><loc>" + r.url + "/a</loc>" + nested + "</url></urlset>"}
	r.pages["/text.xml.gz"] = packed(answer{200, "<urlset><url><loc>" + r.url + "/" + strings.Repeat("a", 3<<20) + "</loc></url></urlset>"})
	r.pages["/longindex.xml"] = indexOf(r.url + "/" + strings.Repeat("a", 3000))
	r.pages["/manyfiles.xml"] = indexOf(slices.Repeat([]string{r.url + "/one.xml"}, 201)...)
	for path, want := range map[string]struct {
		code  string
		pages int
	}{
		"/wide.xml": {code: source.TooLarge}, "/nested.xml": {code: source.Unreadable}, "/text.xml.gz": {code: source.TooLarge},
		"/longindex.xml": {code: source.TooLarge}, "/manyfiles.xml": {code: source.TooLarge},
		// What is left out, and what is named twice, does not count.
		"/repeated.xml": {pages: 1}, "/halves.xml": {pages: 2},
	} {
		got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + path}), nil)
		var failed *source.SyncError
		errors.As(err, &failed)
		if n := len(got.items) + len(got.left); (err == nil) != (want.code == "") || err != nil && (failed == nil || failed.Code != want.code) || n != want.pages {
			t.Errorf("%s: %d pages, %v", path, n, err)
		}
	}
}

func TestASitemapIsUnpackedWhileItIsRead(t *testing.T) {
	r := read(t, map[string]answer{"/a": article("A")})
	r.pages["/sitemap.xml.gz"] = packed(answer{200, "<urlset>" + strings.Repeat("<!--"+strings.Repeat("x", 500_000)+"-->", 80) + "<url><loc>" + r.url + "/a</loc></url></urlset>"})
	bytes := growthtest.Allocated(t, func() {
		if got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml.gz"}), nil); err != nil || len(got.items) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	if bytes > 30<<20 {
		t.Errorf("%d MB were allocated for a sitemap of 40 MB, of which an entry is kept", bytes>>20)
	}
}

func TestReadResumesAtACheckpoint(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(25)
	got, _, err := r.read(urlSettings(urls), r.firstCheckpoint(urlSettings(urls)))
	if err != nil || len(got.items) != 15 || got.items[0] != "/10" {
		t.Errorf("got %v %v", got.items, err)
	}
}

// TestASitemapThatChangesBetweenTwoCalls: no page is passed over, because what is not listed at the end is removed.
func TestASitemapThatChangesBetweenTwoCalls(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(25)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	for _, left := range [][]string{slices.Delete(slices.Clone(urls), 3, 6), slices.Delete(slices.Clone(urls), 9, 10)} {
		r.pages["/sitemap.xml"] = sitemap(urls...)
		checkpoint := r.firstCheckpoint(settings)
		r.pages["/sitemap.xml"] = sitemap(left...)
		if got, _, err := r.read(settings, checkpoint); err != nil || len(got.items) != 15 || got.items[0] != "/10" {
			t.Errorf("got %v %v", got.items, err)
		}
	}
}

// TestASiteThatAsksForLongPausesIsReadInSmallSteps: a sync must save what it has read within the two minutes of its lease.
func TestASiteThatAsksForLongPausesIsReadInSmallSteps(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/robots.txt": {200, "User-agent: *\nCrawl-delay: 25\n"}})
	urls := r.articles(9)
	clock, items := now, 0
	r.c.Now = func() time.Time { return clock }
	r.c.Pause = func(_ context.Context, d time.Duration) error { clock = clock.Add(d); return nil }
	saved := clock
	for page, err := range r.c.Read(t.Context(), source.Access{Settings: urlSettings(urls)}, "pages", nil) {
		if err != nil || clock.Sub(saved) > time.Minute {
			t.Errorf("after %s: %v", clock.Sub(saved), err)
		}
		saved, items = clock, items+len(page.Items)
	}
	if items != 9 {
		t.Errorf("%d items", items)
	}
}

// TestASiteThatAllowsNoMoreRequests: the sync waits once, and then leaves out what is still refused until the next one.
func TestASiteThatAllowsNoMoreRequests(t *testing.T) {
	t.Parallel()
	for after, wait := range map[string]time.Duration{"120": 2 * time.Minute, now.Add(time.Hour).Format(http.TimeFormat): time.Hour, "": time.Minute, "-5": time.Minute, "99999999": 24 * time.Hour} {
		r := read(t, map[string]answer{"/a": article("A"), "/b": {429, ""}, "/c": article("C"), "/d": {429, ""}})
		r.later = after
		r.pages["/sitemap.xml"] = sitemap(r.url+"/a 2026-01-01", r.url+"/b 2026-01-01", r.url+"/c 2026-01-01", r.url+"/d 2026-01-01")
		settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
		var limited *source.SyncError
		got, checkpoint, err := r.read(settings, nil)
		if !errors.As(err, &limited) || limited.Code != source.RateLimited || !limited.RetryAt.Equal(now.Add(wait)) || !slices.Equal(got.items, []string{"/a"}) || got.left != nil {
			t.Errorf("%q: %+v %v", after, got, err)
		}
		got, checkpoint, err = r.read(settings, checkpoint) // b is still refused, and d begins another wait
		if !errors.As(err, &limited) || !slices.Equal(got.items, []string{"/c"}) || !slices.Equal(got.left, []string{"/b"}) || !slices.Equal(got.kept, []string{"/b"}) {
			t.Errorf("%q, again: %+v %v", after, got, err)
		}
		if got, checkpoint, err = r.read(settings, checkpoint); err != nil || got.items != nil || !slices.Equal(got.left, []string{"/d"}) {
			t.Errorf("%q, then: %+v %v", after, got, err)
		}
		r.pages["/b"], r.pages["/d"] = article("B"), article("D")
		if got, checkpoint, err = r.read(settings, checkpoint); err != nil || !slices.Equal(got.items, []string{"/b", "/d"}) {
			t.Errorf("%q, the next sync: %+v %v", after, got, err)
		}
		if got, _, err = r.read(settings, checkpoint); err != nil || got.items != nil {
			t.Errorf("%q, the one after: %+v %v", after, got, err)
		}
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/a": article("A"), "/sitemap.xml": sitemap("http://127.0.0.1/a")})
	r.c.Fetch = fetch.New(page.Read)
	for _, host := range []string{"", "http://localhost/a", "http://[::1]/a", "http://2130706433/a", "http://169.254.169.254/latest/meta-data/", "http://0x7f.1/a", "file:///etc/passwd", "http://u:p@127.0.0.1/"} {
		address := host
		if host == "" {
			address = r.url + "/a"
		}
		got, _, err := r.read(urlSettings([]string{address}), nil)
		if err != nil || got.items != nil || got.left == nil {
			t.Errorf("%s: %+v %v", address, got, err)
		}
		var failed *source.SyncError
		if _, _, err := r.read(source.NewSettings(map[string]any{"sitemap": address}), nil); !errors.As(err, &failed) {
			t.Errorf("sitemap %s: %v", address, err)
		}
	}
	if len(r.asked) > 0 {
		t.Errorf("reached: %q", r.asked)
	}
}

func urlSettings(urls []string) source.Settings {
	return source.NewSettings(map[string]any{"urls": urls})
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
