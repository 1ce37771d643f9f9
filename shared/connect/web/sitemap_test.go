package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/growthtest"
	"docent/shared/source"
)

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

// TestAPageIsReadAgainOnEachDayThatItMayHaveChanged: a sitemap may tell the day, the month or the year of a change only, in the time zone of
// its site. Pages of the evening in America have the date of the day before in UTC.
func TestAPageIsReadAgainOnEachDayThatItMayHaveChanged(t *testing.T) {
	t.Parallel()
	for changed, want := range map[string]bool{
		"2026-11-21": true, "2026-11-20": true, "2026-11-19": false, "2026-11": true, "2026-10": false, "2026": true, "2025": false,
		"2026-11-20T13:00:00Z": true, "2026-11-20T11:00:00Z": false, "2026-11-20T13:00Z": true,
	} {
		r := read(t, map[string]answer{"/a": article("A")})
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		r.c.Now = func() time.Time { return at }
		r.pages["/sitemap.xml"] = sitemap(r.url + "/a 2024-01-01")
		settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
		_, checkpoint, err := r.read(settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(24 * time.Hour)
		r.pages["/sitemap.xml"] = sitemap(r.url + "/a " + changed)
		if got, _, err := r.read(settings, checkpoint); err != nil || slices.Contains(got.items, "/a") != want {
			t.Errorf("%s: %+v, %v", changed, got, err)
		}
	}
}

// TestASyncWaitsAsLongAsTheSiteOfASitemapAsksFor, as for pages.
func TestASyncWaitsAsLongAsTheSiteOfASitemapAsksFor(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Time{"600": now.Add(10 * time.Minute), now.Add(time.Hour).Format(http.TimeFormat): now.Add(time.Hour), "": {}} {
		r := read(t, map[string]answer{"/sitemap.xml": {http.StatusTooManyRequests, ""}})
		r.later = after
		var failed *source.SyncError
		_, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"}), nil)
		if !errors.As(err, &failed) || !failed.RetryAt.Equal(want) || (failed.Code == source.RateLimited) != (after != "") {
			t.Errorf("after %q: %v", after, err)
		}
	}
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
