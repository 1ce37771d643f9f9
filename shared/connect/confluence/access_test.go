package confluence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/atlassian"
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
		"not told what it is below":      {func(p *confluencetest.Page) { p.Parent, p.Lost = 2, true }, 1, nil, source.ItemRejected},
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

// TestAPageOfWhichItIsNotToldWhatItIsBelowIsReadByNobody: a page above it may be restricted. That holds for what is on it, and until it is told.
func TestAPageOfWhichItIsNotToldWhatItIsBelowIsReadByNobody(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		above, below := page(1, "Staff"), page(2, "Plans")
		above.Groups, below.Parent, below.Lost = []string{"hr"}, 1, true
		s.Put(above)
		s.Put(below)
		s.Put(comment(3, 2))
		readers := func() (groups []string) {
			for uri, i := range s.Items() {
				if i.Title != "Staff" {
					groups = append(groups, fmt.Sprint(strings.Contains(uri, "#comment-"), i.Access.Names().Groups))
				}
			}
			slices.Sort(groups)
			return groups
		}
		for range 3 {
			s.syncAfter(16*time.Minute, source.ItemRejected, "who may read it")
			if got := readers(); !slices.Equal(got, []string{"false []", "true []"}) {
				t.Fatalf("read by %q", got)
			}
		}
		below.Lost = false
		s.Put(below)
		s.syncAfter(16*time.Minute, "", "")
		if got := readers(); !slices.Equal(got, []string{"false [hr]", "true [hr]"}) {
			t.Errorf("then read by %q", got)
		}
	})
}

// TestAPageInAFolderIsReadByThoseWhoMayReadTheFolder: a folder of the Cloud is among what a page is below, and is no item.
func TestAPageInAFolderIsReadByThoseWhoMayReadTheFolder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(folder *confluencetest.Page)
		groups []string
		code   string
	}{
		"restricted":              {func(f *confluencetest.Page) { f.Groups = []string{"hr"} }, []string{"hr"}, ""},
		"open":                    {func(*confluencetest.Page) {}, []string{"everyone"}, ""},
		"not found by searches":   {func(f *confluencetest.Page) { f.Missed, f.Groups = true, []string{"hr"} }, []string{"hr"}, ""},
		"hidden from the account": {func(f *confluencetest.Page) { f.Hidden = true }, []string{}, atlassian.AccessUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, true, nil)
			folder, below := page(1, "Staff"), page(2, "Plans")
			folder.Folder, below.Parent = true, 1
			tt.change(&folder)
			s.Put(folder)
			s.Put(below)
			s.MustSync()
			for _, i := range s.Items() {
				if got := i.Access.Names().Groups; i.Title != "Plans" || !slices.Equal(got, tt.groups) || i.Metadata.JSON() != `{"ancestors":["Staff"],"lastEditor":"Grace","type":"page","version":2}` {
					t.Errorf("%s is read by %q, with %s", i.Title, got, i.Metadata.JSON())
				}
			}
			if d := s.Shown(); (d.LastError != nil) != (tt.code != "") || d.LastError != nil && d.LastError.Code != tt.code || len(s.Items()) != 1 {
				t.Errorf("%d items, shown %+v", len(s.Items()), d.LastError)
			}
		})
	}
}
