package confluence_test

import (
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/confluence/confluencetest"
	"docent/shared/source"
)

// TestRestrictionsThatAreNotToldOpenNothing: a reply without them is not one that names nobody, which means everybody.
func TestRestrictionsThatAreNotToldOpenNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(p *confluencetest.Page)
		syncs  int
		groups []string
		code   string
	}{
		"told by a request of their own": {func(p *confluencetest.Page) { p.Sparse, p.Groups = true, []string{"hr"} }, 1, []string{"hr"}, ""},
		"none, by a request of its own":  {func(p *confluencetest.Page) { p.Sparse = true }, 1, []string{"everyone"}, ""},
		"never told":                     {func(p *confluencetest.Page) { p.Sparse, p.Silent = true, true }, 2, nil, source.ItemRejected},
		"only users that are not shown":  {func(p *confluencetest.Page) { p.Unseen = 2 }, 1, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				one := page(1, "Plans")
				tt.change(&one)
				s.Put(one)
				s.Put(page(2, "Guide"))
				for range tt.syncs {
					s.MustSync()
				}
				for uri, i := range s.Items() {
					got := i.Access.Names()
					want := []string{"everyone"}
					if i.Title == "Plans" {
						want = tt.groups
					}
					if got == nil || len(got.Users) > 0 || !slices.Equal(got.Groups, append([]string{}, want...)) {
						t.Errorf("%s is read by %+v", uri[strings.LastIndexByte(uri, '/'):], got)
					}
				}
				if d := s.Shown(); (d.LastError != nil) != (tt.code != "") || d.LastError != nil && d.LastError.Code != tt.code || len(s.Items()) != 2 {
					t.Errorf("%d items, shown %+v", len(s.Items()), d.LastError)
				}
			})
		})
	}
}
