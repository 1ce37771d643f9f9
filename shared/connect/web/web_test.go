package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/web"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
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

func TestReadResumesAtACheckpoint(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(25)
	got, _, err := r.read(urlSettings(urls), r.firstCheckpoint(urlSettings(urls)))
	if err != nil || len(got.items) != 15 || got.items[0] != "/10" {
		t.Errorf("got %v %v", got.items, err)
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
