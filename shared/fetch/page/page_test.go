package page_test

import (
	"net/url"
	"strings"
	"testing"

	"docent/shared/fetch/page"
	"docent/shared/growthtest"
)

func TestAPageTakesMemoryInProportionToItsLength(t *testing.T) {
	rep := strings.Repeat
	readInProportion(t, map[string]func(n int) string{
		"rows and columns": func(n int) string {
			return "<table><tr>" + rep("<td>a</td>", n) + "</tr>" + rep("<tr><td>b</td></tr>", n) + "</table>"
		},
		"a cell to pad to": func(n int) string {
			return "<table><tr><td>" + rep("x", 30*n) + "</td></tr>" + rep("<tr><td>b</td></tr>", n) + "</table>"
		},
		"spans": func(n int) string { return rep("<table><tr><td colspan=9000>a</td></tr></table>", n/100) },
		"quotations": func(n int) string {
			return rep("<blockquote>", min(n/20, 200)) + rep("a<br>", n) + rep("</blockquote>", min(n/20, 200))
		},
	})
}

// readInProportion reads pages of growing n that have one of the shapes within their text.
func readInProportion(t *testing.T, shapes map[string]func(n int) string) {
	t.Helper()
	at, err := url.Parse("https://docs.test/a")
	if err != nil {
		t.Fatal(err)
	}
	text := "<p>" + strings.Repeat("All about it is written here, and more of it. ", 40) + "</p>"
	for name, inner := range shapes {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 1000, func(n int) {
				body := "<html><head><title>t</title></head><body><article><h1>t</h1>" + text + inner(n) + text + "</article></body></html>"
				if p, err := page.Read(t.Context(), []byte(body), "text/html; charset=utf-8", "text/html", at); err != nil || !strings.Contains(p.Content, "All about it") {
					t.Errorf("read %d bytes: %v", len(p.Content), err)
				}
			})
		})
	}
}

func TestLinksLeadWhereABrowserWouldGo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ head, link, want string }{
		"relative":                   {"", "c", "https://docs.test/a/c"},
		"from the top":               {"", "/c", "https://docs.test/c"},
		"within the page":            {"", "#c", "https://docs.test/a/b?v=1#c"},
		"another site":               {"", "https://other.test/c", "https://other.test/c"},
		"a base":                     {`<base href="https://docs.test/guide/">`, "c", "https://docs.test/guide/c"},
		"a base below":               {`<base target="_top"><base href="../d/x"><base href="/e/">`, "c", "https://docs.test/d/c"},
		"within a page with a base":  {`<base href="/guide/">`, "#c", "https://docs.test/guide/#c"},
		"a base that is no web page": {`<base href="javascript:1">`, "c", "https://docs.test/a/c"},
	} {
		at, err := url.Parse("https://docs.test/a/b?v=1#part")
		if err != nil {
			t.Fatal(err)
		}
		text := "<p>" + strings.Repeat("All about it is written here, and more of it. ", 40) + `<a href="` + tt.link + `">link</a></p>`
		p, err := page.Read(t.Context(), []byte("<html><head><title>t</title>"+tt.head+"</head><body><article><h1>t</h1>"+text+"</article></body></html>"), "text/html; charset=utf-8", "text/html", at)
		if err != nil || !strings.Contains(p.Content, "[link]("+tt.want+")") {
			t.Errorf("%s: %q, %v", name, p.Content[max(0, len(p.Content)-100):], err)
		}
	}
}

// TestALongAddressIsNotRepeatedForEachLink: the text would be hundreds of times as long as the page.
func TestALongAddressIsNotRepeatedForEachLink(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 2000) + "/"
	text := "<p>" + strings.Repeat("All about it is written here, and more of it. ", 40) + "</p>"
	for name, tt := range map[string]struct {
		path, head, body string
	}{
		"pictures":          {long, "", strings.Repeat("<img src=b>", 30_000)},
		"sets of pictures":  {long, "", `<img srcset="` + strings.Repeat("b 1x,", 30_000) + `">`},
		"parts of the page": {long, "", strings.Repeat("<p>More about it.<a href=#b>b</a></p>", 30_000)},
		"a base":            {"", `<base href="/` + long + `">`, strings.Repeat("<img src=b>", 30_000)},
	} {
		at, err := url.Parse("https://docs.test/" + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		body := "<html><head><title>t</title>" + tt.head + "</head><body><article><h1>t</h1>" + text + tt.body + text + "</article></body></html>"
		if p, err := page.Read(t.Context(), []byte(body), "text/html; charset=utf-8", "text/html", at); err != nil || len(p.Content) > 16<<20 || !strings.Contains(p.Content, "All about it") {
			t.Errorf("%s: %d bytes of %d, %v", name, len(p.Content), len(body), err)
		}
	}
}
