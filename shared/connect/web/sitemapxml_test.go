package web_test

import (
	"slices"
	"strings"
	"testing"

	"docent/shared/source"
)

// TestSitemapsInOtherSetsOfCharacters are read as far as sites use them.
func TestSitemapsInOtherSetsOfCharacters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path string
		read bool
	}{
		"UTF-8": {"/caf\u00e9", true}, "utf8": {"/caf\u00e9", true}, "US-ASCII": {"/cafe", true}, "ISO-8859-1": {"/caf\xe9", true}, "windows-1252": {"/caf\xe9", true},
		"UTF-16": {"/cafe", false}, "": {"/caf\u00e9", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, map[string]answer{"/cafe": article("A"), "/caf%C3%A9": article("B")})
			declared := `<?xml version="1.0" encoding="` + name + `"?>`
			if name == "" {
				declared = ""
			}
			r.pages["/sitemap.xml"] = answer{200, declared + "<urlset><url><loc>" + r.url + tt.path + "</loc></url></urlset>"}
			got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"}), nil)
			if (err == nil) != tt.read || tt.read && (len(got.items) != 1 || !slices.Contains([]string{"/cafe", "/caf%C3%A9"}, got.items[0])) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestSitemapWithElementsOfManyAttributesIsNotRead, because the prefixes that elements within each other declare are all in memory.
func TestSitemapWithElementsOfManyAttributesIsNotRead(t *testing.T) {
	t.Parallel()
	for attributes, isRead := range map[int]bool{100: true, 101: false} {
		r := read(t, map[string]answer{"/a": article("A")})
		r.pages["/sitemap.xml"] = answer{200, "<urlset" + strings.Repeat(` xmlns:x=""`, attributes) + "><url><loc>" + r.url + "/a</loc></url></urlset>"}
		got, _, err := r.read(source.NewSettings(map[string]any{"sitemap": r.url + "/sitemap.xml"}), nil)
		if (err == nil) != isRead || isRead && len(got.items) != 1 {
			t.Errorf("%d attributes: %+v, %v", attributes, got, err)
		}
	}
}
