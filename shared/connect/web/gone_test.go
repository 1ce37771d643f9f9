package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source"
)

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

// TestAPageThatAsksNotToBeIndexedIsRemovedAtTheSecondLook, and not read, unless the settings name it.
func TestAPageThatAsksNotToBeIndexedIsRemovedAtTheSecondLook(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(2)
	r.pages["/sitemap.xml"] = sitemap(urls...)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"})
	_, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := r.pages["/01"]
	closed := answer{200, strings.Replace(open.body, "<head>", `<head><meta name="robots" content="noindex, follow">`, 1)}
	for n, tt := range []struct {
		page                 answer
		kept, removed, items []string
	}{
		{closed, []string{"/01"}, nil, []string{"/00"}},
		{open, nil, nil, []string{"/00", "/01"}},
		{closed, []string{"/01"}, nil, []string{"/00"}},
		{closed, nil, []string{"/01"}, []string{"/00"}},
	} {
		r.pages["/01"] = tt.page
		r.c.Now = func() time.Time { return now.Add(time.Duration(n) * 24 * time.Hour) }
		var got result
		if got, at, err = r.read(settings, at); err != nil || !slices.Equal(got.kept, tt.kept) || !slices.Equal(got.removed, tt.removed) || !slices.Equal(got.items, tt.items) {
			t.Errorf("look %d: %+v %v", n+1, got, err)
		}
	}
	if got, _, err := r.read(urlSettings(urls), nil); err != nil || !slices.Equal(got.items, []string{"/00", "/01"}) {
		t.Errorf("named by the settings: %+v %v", got, err)
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
