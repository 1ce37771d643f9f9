package web_test

import (
	"net/netip"
	"strings"
	"testing"

	"docent/shared/connect/connecttest"
	"docent/shared/connect/web"
	"docent/shared/fetch"
	"docent/shared/source"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	const pages = `<urlset><url><loc>/a</loc></url></urlset>`
	anywhere := fetch.NewReaching(nil, func(netip.AddrPort) bool { return true })
	for name, c := range map[string]struct {
		site    map[string]answer
		urls    []string // paths; nil: /map.xml is the sitemap
		f       *fetch.Fetcher
		pointer string // of the field error; empty: there is none
		says    string // in the error; empty: there is none
	}{
		"pages":                  {site: map[string]answer{"/a": {200, "a"}, "/b": {200, "b"}}, urls: []string{"/a", "/b"}, f: anywhere},
		"a page is gone":         {site: map[string]answer{"/a": {200, "a"}}, urls: []string{"/a", "/b"}, f: anywhere, pointer: "/settings/urls/1", says: "status 404"},
		"a page needs a sign-in": {site: map[string]answer{"/a": {401, ""}}, urls: []string{"/a"}, f: anywhere, pointer: "/settings/urls/0", says: "status 401"},
		"a page is too large":    {site: map[string]answer{"/a": {200, strings.Repeat("a", fetch.MaxBytes+1)}}, urls: []string{"/a"}, f: anywhere, pointer: "/settings/urls/0", says: "larger"},
		"a page fails now":       {site: map[string]answer{"/a": {503, ""}}, urls: []string{"/a"}, f: anywhere, says: "status 503"},
		"robots.txt disallows":   {site: map[string]answer{"/robots.txt": {200, "User-agent: *\nDisallow: /"}, "/a": {200, ""}}, urls: []string{"/a"}, f: anywhere, pointer: "/settings/urls/0", says: "robots.txt"},
		"robots.txt fails now":   {site: map[string]answer{"/robots.txt": {500, ""}, "/a": {200, ""}}, urls: []string{"/a"}, f: anywhere, says: "robots.txt"},
		"a private address":      {urls: []string{"/a"}, f: fetch.New(nil), pointer: "/settings/urls/0", says: "public"},
		"a sitemap":              {site: map[string]answer{"/map.xml": {200, pages}}, f: anywhere},
		"no sitemap":             {f: anywhere, pointer: "/settings/sitemap", says: "status 404"},
		"a page as the sitemap":  {site: map[string]answer{"/map.xml": {200, "<html></html>"}}, f: anywhere, pointer: "/settings/sitemap", says: "not a valid XML sitemap"},
		"an empty sitemap":       {site: map[string]answer{"/map.xml": {200, "<urlset></urlset>"}}, f: anywhere, pointer: "/settings/sitemap", says: "names no page"},
		"another site's sitemap": {site: map[string]answer{"/map.xml": sitemap("https://www.acme.test/a")}, f: anywhere, pointer: "/settings/sitemap", says: "but some of www.acme.test"},
		"a large sitemap":        {site: map[string]answer{"/map.xml": {200, strings.Repeat(" ", 10<<20+1)}}, f: anywhere},
		"a large gzip":           {site: map[string]answer{"/map.xml": packed(answer{200, "<urlset>" + strings.Repeat("<url><loc>https://www.acme.test/a</loc></url>", 80_000) + "</urlset>"})}, f: anywhere}, // it is not read to its end
		"a small gzip":           {site: map[string]answer{"/map.xml": packed(answer{200, "<urlset></urlset>"})}, f: anywhere, pointer: "/settings/sitemap", says: "names no page"},
		"the sitemap fails now":  {site: map[string]answer{"/map.xml": {502, ""}}, f: anywhere, says: "status is 502"},
		"a private sitemap":      {f: fetch.New(nil), pointer: "/settings/sitemap", says: "public"},
		"a disallowed sitemap":   {site: map[string]answer{"/robots.txt": {200, "User-agent: *\nDisallow: /"}, "/map.xml": {200, pages}}, f: anywhere, pointer: "/settings/sitemap", says: "robots.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, c.site)
			settings := map[string]any{"sitemap": r.url + "/map.xml"}
			if c.urls != nil {
				var all []string
				for _, path := range c.urls {
					all = append(all, r.url+path)
				}
				settings = map[string]any{"urls": all}
			}
			connecttest.Probe(t, web.Provider, c.f, source.Access{Settings: source.NewSettings(settings)}, c.pointer, c.says)
			for _, path := range r.asked {
				if strings.Contains(c.says, "robots.txt") && path != "/robots.txt" {
					t.Errorf("%s was asked for", path)
				}
			}
		})
	}
}
