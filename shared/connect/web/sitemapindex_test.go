package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/source"
)

// TestASitemapOfAnIndexThatCannotBeReadIsPassedOver: the pages of the others are read, and no page is removed, because the missing one may
// name it.
func TestASitemapOfAnIndexThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file  answer
		says  string
		twice bool // the reading ends once, because it may be readable soon
	}{
		"missing":      {answer{http.StatusNotFound, ""}, "status is 404", false},
		"forbidden":    {answer{http.StatusForbidden, ""}, "status is 403", false},
		"no sitemap":   {answer{http.StatusOK, "<html></html>"}, "not a valid XML sitemap", false},
		"cut off":      {answer{http.StatusOK, "<urlset><url><loc>"}, "not a valid XML sitemap", false},
		"an index":     {indexOf("/other.xml"), "names another index", false},
		"down":         {answer{http.StatusBadGateway, ""}, "status is 502", true},
		"rate-limited": {answer{http.StatusTooManyRequests, ""}, "status is 429", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, map[string]answer{})
			urls := r.articles(20)
			settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
			r.pages["/first.xml"], r.pages["/second.xml"] = sitemap(urls[:10]...), sitemap(urls[10:]...)
			r.pages["/index.xml"] = indexOf(r.url+"/second.xml", r.url+"/first.xml")
			got, at, err := r.read(settings, nil)
			if err != nil || !got.exact || len(got.items) != 20 {
				t.Fatalf("%+v %v", got, err)
			}
			r.pages["/second.xml"] = tt.file
			for scan := range 3 { // however often it is so
				r.before = at
				got, at, err = r.read(settings, nil)
				if tt.twice {
					var failed *source.SyncError
					if !errors.As(err, &failed) || !strings.Contains(failed.Detail, tt.says) || len(got.items) > 0 {
						t.Fatalf("scan %d: %+v %v", scan, got, err)
					}
					got, at, err = r.read(settings, at)
				}
				if err != nil || got.exact || len(got.items) != 10 || len(got.removed) > 0 || !strings.Contains(got.notice, "/second.xml") || !strings.Contains(got.notice, tt.says) {
					t.Fatalf("scan %d: %+v %v", scan, got, err)
				}
				r.c.Now = func() time.Time { return now.Add(time.Duration(scan+1) * 7 * 24 * time.Hour) }
			}
			// When it is back, what the sitemaps named before it was missing is still known.
			r.pages["/second.xml"] = sitemap(urls[10:12]...)
			if got, at, err = r.read(settings, at); err != nil || got.exact || !strings.Contains(got.notice, "names 12 pages, and named 20 before") {
				t.Errorf("short: %+v %v", got, err)
			}
			r.pages["/second.xml"], r.before = sitemap(urls[10:]...), at
			if got, _, err = r.read(settings, nil); err != nil || !got.exact || got.notice != "" || len(got.items) != 20 {
				t.Errorf("back: %+v %v", got, err)
			}
		})
	}
}

// TestPagesOfASitemapThatWasMissingAreReadIfTheyChangedMeanwhile, or failed before, also when full scans passed over them.
func TestPagesOfASitemapThatWasMissingAreReadIfTheyChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, full := range map[string]bool{"changes": false, "full scans": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, map[string]answer{"/a": article("A"), "/b": article("B"), "/c": article("C"), "/d": article("D")})
			r.stored = func(string) bool { return true }
			clock := now
			r.c.Now = func() time.Time { return clock }
			settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
			entry := func(path string, changed time.Time) string {
				return "<url><loc>" + r.url + path + "</loc><lastmod>" + changed.Format(time.RFC3339) + "</lastmod></url>"
			}
			second := func(b time.Time) answer {
				return answer{http.StatusOK, "<urlset>" + entry("/b", b) + entry("/c", now.Add(-100*day)) + entry("/d", now.Add(-100*day)) + "</urlset>"}
			}
			r.pages["/index.xml"] = indexOf(r.url+"/first.xml", r.url+"/second.xml")
			r.pages["/first.xml"] = answer{http.StatusOK, "<urlset>" + entry("/a", now.Add(-100*day)) + "</urlset>"}
			r.pages["/second.xml"], r.pages["/c"] = second(now.Add(-100*day)), answer{http.StatusBadGateway, ""}
			_, at, err := r.read(settings, nil)
			if err != nil {
				t.Fatal(err)
			}
			changed := now.Add(time.Hour)
			r.pages["/second.xml"], r.pages["/c"] = answer{http.StatusNotFound, ""}, article("C")
			var got result
			for range 4 {
				clock = clock.Add(day)
				from := at
				if r.before = nil; full {
					r.before, from = at, nil
				}
				if got, at, err = r.read(settings, from); err != nil || full != slices.Contains(got.items, "/a") {
					t.Fatalf("%+v %v", got, err)
				}
			}
			clock = clock.Add(day)
			r.before, r.pages["/second.xml"] = nil, second(changed)
			if got, at, err = r.read(settings, at); err != nil || !slices.Equal(got.items, []string{"/b", "/c"}) {
				t.Errorf("back: %+v %v", got, err)
			}
			clock = clock.Add(7 * day)
			if got, _, err = r.read(settings, at); err != nil || len(got.items) > 0 {
				t.Errorf("later: %+v %v", got, err)
			}
		})
	}
}

// TestASitemapThatIsAlwaysMissingHasNotAllReadAgain: what changed long ago is read by full scans alone.
func TestASitemapThatIsAlwaysMissingHasNotAllReadAgain(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	r := read(t, map[string]answer{"/a": article("A")})
	r.stored = func(string) bool { return true }
	clock := now
	r.c.Now = func() time.Time { return clock }
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
	r.pages["/index.xml"] = indexOf(r.url+"/first.xml", r.url+"/none.xml")
	r.pages["/first.xml"] = answer{http.StatusOK, "<urlset><url><loc>" + r.url + "/a</loc><lastmod>" + now.Add(-2*day).Format(time.RFC3339) + "</lastmod></url></urlset>"}
	got, at, err := r.read(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		changed, after time.Duration
		items          int
	}{{-2 * day, day, 0}, {5 * day, 6 * day, 1}, {5 * day, 30 * day, 1}, {5 * day, 40 * day, 0}} {
		clock = now.Add(tt.after)
		r.pages["/first.xml"] = answer{http.StatusOK, "<urlset><url><loc>" + r.url + "/a</loc><lastmod>" + now.Add(tt.changed).Format(time.RFC3339) + "</lastmod></url></urlset>"}
		for range 2 {
			if got, at, err = r.read(settings, at); err != nil {
				t.Fatal(err)
			}
		}
		if len(got.items) != tt.items {
			t.Errorf("after %v: %+v", tt.after, got)
		}
	}
}

// TestASitemapThatIsMissingForTwoWeeksCountsAsGone: the pages that it alone named are removed. It need not be so at each look.
func TestASitemapThatIsMissingForTwoWeeksCountsAsGone(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	missing, down := answer{http.StatusGone, ""}, answer{http.StatusForbidden, ""}
	for name, tt := range map[string]struct {
		looks []answer // of a day each; zero: it is there
		gone  bool
	}{
		"always":           {slices.Repeat([]answer{missing}, 16), true},
		"at some looks":    {append(slices.Repeat([]answer{missing, down}, 8), missing), true},
		"for ten days":     {slices.Repeat([]answer{missing}, 11), false},
		"and back once":    {append(append(slices.Repeat([]answer{missing}, 10), answer{}), slices.Repeat([]answer{missing}, 10)...), false},
		"now as forbidden": {append(slices.Repeat([]answer{missing}, 16), down), false},
		"after a pause":    {[]answer{missing, missing}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, map[string]answer{})
			urls := r.articles(20)
			clock := now
			r.c.Now = func() time.Time { return clock }
			settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
			r.pages["/first.xml"], r.pages["/second.xml"] = sitemap(urls[:19]...), sitemap(urls[19:]...)
			r.pages["/index.xml"] = indexOf(r.url+"/second.xml", r.url+"/first.xml")
			_, at, err := r.read(settings, nil)
			var got result
			for _, look := range tt.looks {
				if err != nil {
					t.Fatal(err)
				}
				if clock = clock.Add(day); name == "after a pause" {
					clock = clock.Add(30 * day)
				}
				r.pages["/second.xml"] = look
				if look.status == 0 {
					r.pages["/second.xml"] = sitemap(urls[19:]...)
				}
				r.before = at // each is a full scan
				got, at, err = r.read(settings, nil)
			}
			if err != nil || got.exact != tt.gone || len(got.items) != 19 || !strings.Contains(got.notice, "/second.xml") || strings.Contains(got.notice, "two weeks") != tt.gone {
				t.Errorf("%+v %v", got, err)
			}
			r.pages["/second.xml"], r.before = sitemap(urls[19:]...), nil
			if got, _, err = r.read(settings, at); err != nil || got.notice != "" || !slices.Contains(got.items, "/19") {
				t.Errorf("back: %+v %v", got, err)
			}
		})
	}
}

// TestASitemapThatIsMissingForAPartOfAFullScan: what it names before the page that was read last was not listed.
func TestASitemapThatIsMissingForAPartOfAFullScan(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(25)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
	r.pages["/index.xml"] = indexOf(r.url+"/first.xml", r.url+"/second.xml")
	r.pages["/second.xml"] = sitemap(urls[5:]...)
	at := r.firstCheckpoint(settings)
	r.pages["/first.xml"] = sitemap(urls[:5]...)
	if got, _, err := r.read(settings, at); err != nil || got.exact {
		t.Errorf("%+v %v", got, err)
	}
}

// TestAnIndexOfWhichNoSitemapCanBeRead fails as a sitemap alone does.
func TestAnIndexOfWhichNoSitemapCanBeRead(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{"/a": article("A"), "/down.xml": {http.StatusBadGateway, ""}})
	for first, code := range map[string]string{"/none.xml": source.NotThere, "/down.xml": source.Unreadable, "/" + strings.Repeat("a", 3000): source.TooLarge} {
		r.pages["/index.xml"] = indexOf(r.url+first, r.url+"/gone.xml")
		_, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"}), nil)
		var failed *source.SyncError
		if !errors.As(err, &failed) || failed.Code != code {
			t.Errorf("%.20s: %v", first, err)
		}
	}
	r.pages["/index.xml"] = indexOf(r.url+"/"+strings.Repeat("a", 3000), r.url+"/gone.xml", r.url+"/one.xml")
	r.pages["/one.xml"] = sitemap(r.url + "/a")
	got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"}), nil)
	if err != nil || !slices.Equal(got.items, []string{"/a"}) || got.exact || !strings.Contains(got.notice, "2 sitemaps that the index names") || len(got.notice) > 500 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestManySitemapsThatHangKeepNoPageFromBeingRead: the first ends the reading once, and then a minute is spent on them. Looks
// begin with different ones, so that those behind them are read too.
func TestManySitemapsThatHangKeepNoPageFromBeingRead(t *testing.T) {
	t.Parallel()
	r := read(t, map[string]answer{})
	urls := r.articles(4)
	var sitemaps []string
	for i := range 100 {
		path := fmt.Sprintf("/%d.xml", i)
		sitemaps, r.pages[path] = append(sitemaps, r.url+path), answer{http.StatusGatewayTimeout, ""}
	}
	for i, u := range urls {
		r.pages[fmt.Sprintf("/%d.xml", 25*i)] = sitemap(u)
	}
	r.pages["/index.xml"] = indexOf(sitemaps...)
	settings := source.NewSettings(map[string]any{"sitemap": r.url + "/index.xml"})
	clock := now
	r.c.Now = func() time.Time { // each request takes ten seconds
		clock = clock.Add(10 * time.Second)
		return clock
	}
	look := func(at []byte, most int) (result, []byte, error) {
		r.asked = nil
		got, next, err := r.read(settings, at)
		var failed *source.SyncError
		if err != nil && (!errors.As(err, &failed) || failed.Code != source.Unreadable) {
			t.Fatal(err)
		}
		if len(r.asked)-len(got.items) > most {
			t.Errorf("asked for %q", r.asked)
		}
		return got, next, err
	}
	seen := map[string]bool{}
	for range 20 {
		_, at, err := look(nil, 4)
		if err == nil || at == nil {
			t.Fatal("the reading did not end first")
		}
		for looks := 1; ; looks++ {
			got, _, err := look(at, 9)
			if err == nil {
				for _, item := range got.items {
					seen[item] = true
				}
				break
			}
			if looks == 30 { // a look that finds no sitemap fails, and the next one is at others
				t.Fatal("no sitemap was read")
			}
		}
	}
	if len(seen) != len(urls) {
		t.Errorf("read %v", seen)
	}
}
