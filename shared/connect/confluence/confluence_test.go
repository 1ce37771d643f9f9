package confluence_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/access"
	"docent/shared/clocktest"
	"docent/shared/connect/atlassian"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence"
	"docent/shared/connect/confluence/confluencetest"
	"docent/shared/connect/connecttest"
	"docent/shared/source"
)

// site is a server with the spaces ENG and OPS, and a library that is synced from it.
type site struct {
	*confluencetest.Server
	*atlassiantest.Library
	t      *testing.T
	clock  *clocktest.Clock
	pauses int
	access source.Access
	c      *confluence.Connector
}

func newSite(t *testing.T, cloud bool, settings map[string]any) *site {
	t.Helper()
	s := &site{t: t, clock: clocktest.New(atlassiantest.Day)}
	s.Server = confluencetest.New(t, cloud, s.clock.Now)
	s.Groups = map[string][]string{"everyone": {"ada", "grace", "eve"}, "engineering": {"ada", "grace"}, "hr": {"eve"}, "outside": {"zoe", "ada"}, "empty": {}}
	s.Spaces = map[string][]confluencetest.Permission{"ENG": {{Group: "everyone"}}, "OPS": {{Group: "engineering"}, {User: "eve"}}}
	all := map[string]any{"baseUrl": s.URL, "spaces": []string{"ENG", "OPS"}}
	if cloud {
		all["email"] = atlassiantest.Email
	}
	maps.Copy(all, settings)
	s.access = source.Access{Settings: source.NewSettings(all), Secrets: source.Secrets{"accessToken": atlassiantest.Token}}
	s.c = &confluence.Connector{Client: atlassian.Client{HTTP: connecttest.Fetcher(s.Server.Server.Server, s.Media).Client(0), Now: s.clock.Now,
		Stores: func(host string) bool { return strings.HasSuffix(s.Media.URL, "//"+host) },
		Pause:  func(context.Context, time.Duration) error { s.pauses++; return nil }}}
	s.Library = atlassiantest.NewLibrary(t, confluence.Provider, s.c, s.clock, s.access)
	return s
}

// page returns page n of ENG, created and changed n minutes after May.
func page(n int, title string) confluencetest.Page {
	at := time.Date(2026, 5, 1, 0, n, 0, 0, time.UTC)
	return confluencetest.Page{ID: n, Space: "ENG", Title: title, Body: "<p>Text of " + title + ".</p>", Created: at, Changed: at}
}

func comment(n, on int) confluencetest.Page {
	c := page(n, "")
	c.On, c.Body = on, fmt.Sprintf("<p>Comment %d.</p>", n)
	return c
}

// both runs a test for a Cloud and for a Data Center.
func both(t *testing.T, test func(t *testing.T, cloud bool)) {
	t.Helper()
	for name, cloud := range map[string]bool{"Cloud": true, "Data Center": false} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, cloud) })
	}
}

// titles returns the titles of the stored items, sorted.
func (s *site) titles() []string {
	s.t.Helper()
	out := []string{}
	for _, i := range s.Items() {
		out = append(out, i.Title)
	}
	slices.Sort(out)
	return out
}

func (s *site) want(titles ...string) {
	s.t.Helper()
	titles = slices.Sorted(slices.Values(titles)) // a copy, as tests in parallel share it
	if got := s.titles(); !slices.Equal(got, titles) {
		s.t.Errorf("stored %q, want %q", got, titles)
	}
}

// TestChangesAreReadAfterTheClockWasAhead: the time of the last reading is then in the future.
func TestChangesAreReadAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.clock.Advance(3 * time.Hour)
		s.MustSync()
		s.clock.Advance(-2 * time.Hour)
		late := page(1, "Handbook")
		late.Changed = s.clock.Now()
		s.Put(late)
		s.clock.Advance(15 * time.Minute)
		if s.MustSync(); s.Shown().LastError != nil {
			t.Errorf("%+v", s.Shown().LastError)
		}
		s.want("Handbook")
	})
}

func TestPagesAndCommentsAreRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		root, child := page(1, "Handbook"), page(2, "Rolling back")
		child.Parent, child.Labels = 1, []string{"release", "howto"}
		child.Body = `<p>Ask <ac:link><ri:user ri:account-id="5:zoe" ri:userkey="key-zoe"/></ac:link> or <ac:link><ri:user ri:account-id="5:stranger" ri:userkey="key-stranger"/></ac:link>.</p>`
		for _, p := range []confluencetest.Page{root, child, comment(3, 2)} {
			s.Put(p)
		}
		if p := s.MustSync(); p.Read != 3 || s.Shown().LastError != nil {
			t.Errorf("%+v %+v", p, s.Shown().LastError)
		}
		uri, anchor := s.URL+"/pages/viewpage.action?spaceKey=ENG&pageId=2", "#comment-3"
		if cloud {
			uri = s.URL + "/wiki/spaces/ENG/pages/2"
		}
		items := s.Items()
		got, note := items[uri], items[uri+anchor]
		if len(items) != 3 || got.Title != "Rolling back" || got.Excerpt != "Ask @Zoe or @someone." || got.Facts.Author != "Ada" || got.Facts.Project != "ENG" ||
			!slices.Equal(got.Facts.Labels, []string{"release", "howto"}) || !got.CreatedAt.Equal(child.Created) || !got.Facts.Changed.Equal(child.Changed) ||
			got.Metadata.JSON() != `{"ancestors":["Handbook"],"lastEditor":"Grace","type":"page","version":2}` {
			t.Errorf("%v\n%+v %+v %s", slices.Collect(maps.Keys(items)), got, got.Facts, got.Metadata.JSON())
		}
		if note.Title != "Comment: Rolling back" || note.Excerpt != "Comment 3." || !note.Facts.Comment || !note.Access.Equal(got.Access) {
			t.Errorf("%+v", note)
		}
	})
}

func TestAnUnchangedSpaceCostsThreeRequests(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 120 {
			s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
			s.Put(comment(n+1001, n+1))
		}
		s.Requests()
		p := s.MustSync()
		if len(s.Items()) != 240 || p.Read < 240 || cloud && p.Read > 240 { // numbered pages overlap
			t.Errorf("%d items, %+v", len(s.Items()), p)
		}
		t.Logf("the first sync of 240 items took %d requests", len(s.Requests()))
		s.clock.Advance(16 * time.Minute)
		if p := s.MustSync(); p.Read != 0 {
			t.Errorf("%+v", p)
		}
		if requests := s.Requests(); len(requests) != 6 {
			t.Errorf("two spaces took %d requests: %q", len(requests), requests)
		}
	})
}

func TestOnlyChangesAreReadAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 60 {
			s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
		}
		s.MustSync()
		s.clock.Advance(16 * time.Minute)
		changed, added := page(7, "Renamed"), page(61, "Added")
		changed.Changed, added.Created, added.Changed = s.clock.Now().Add(-15*time.Minute), s.clock.Now(), s.clock.Now()
		note := comment(62, 3)
		note.Created, note.Changed = s.clock.Now(), s.clock.Now()
		for _, p := range []confluencetest.Page{changed, added, note} {
			s.Put(p)
		}
		if p := s.MustSync(); p.Read != 3 {
			t.Errorf("%+v", p)
		}
		if got := s.titles(); len(got) != 62 || !slices.Contains(got, "Renamed") || !slices.Contains(got, "Added") || !slices.Contains(got, "Comment: Page 3") {
			t.Errorf("%d: %q", len(got), got)
		}
	})
}

func TestWhatMovesDuringAScanIsNotMissed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 120 {
			s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
		}
		searches := 0
		s.Before(func(path string, _ http.ResponseWriter) bool {
			if strings.Contains(path, "/content/search") && !strings.Contains(path, "id+in") {
				if searches++; searches == 2 { // pages that were read are deleted, others are new or change
					delete(s.Pages, 120)
					delete(s.Pages, 119)
					delete(s.Pages, 118)
					for n := range 5 {
						added := page(200+n, fmt.Sprint("Added ", n))
						added.Created, added.Changed = s.clock.Now(), s.clock.Now()
						s.Pages[200+n] = &added
						s.Pages[n+30].Changed = s.clock.Now()
					}
				}
			}
			return false
		})
		s.MustSync()
		s.Before(nil)
		s.clock.Advance(16 * time.Minute)
		s.MustSync()
		titles := s.titles()
		for n := range 117 {
			if !slices.Contains(titles, fmt.Sprint("Page ", n+1)) {
				t.Errorf("page %d was missed", n+1)
			}
		}
		for n := range 5 {
			if !slices.Contains(titles, fmt.Sprint("Added ", n)) {
				t.Errorf("added page %d was missed", n)
			}
		}
	})
}

// TestAReplyThatSaysNothingRemovesNothing: an item that the search missed is asked for.
func TestAReplyThatSaysNothingRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{`{}`, `{"status":"current"}`} {
		both(t, func(t *testing.T, cloud bool) {
			s := newSite(t, cloud, nil)
			s.Put(page(1, "One"))
			s.Put(page(2, "Two"))
			s.MustSync()
			s.Change(func() { s.Pages[2].Missed = true })
			s.Before(func(path string, w http.ResponseWriter) bool {
				if !(strings.Contains(path, "/content/2") || strings.Contains(path, "/pages/2")) {
					return false
				}
				_, _ = w.Write([]byte(reply))
				return true
			})
			s.clock.Advance(7 * time.Hour)
			s.MustSync()
			if len(s.Items()) != 2 || s.Shown().LastError == nil {
				t.Errorf("%s: %d items are left, %+v", reply, len(s.Items()), s.Shown().LastError)
			}
		})
	}
}

// TestNobodyReadsASpaceThatIsNotShown: who may read it now is not known, unless the source decides.
func TestNobodyReadsASpaceThatIsNotShown(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]bool{"members": true, "source": false} {
		both(t, func(t *testing.T, cloud bool) {
			s := newSite(t, cloud, map[string]any{"access": by})
			s.Put(page(1, "One"))
			s.MustSync()
			s.Change(func() { delete(s.Spaces, "ENG"); clear(s.Pages) })
			s.clock.Advance(7 * time.Hour)
			for range 5 {
				s.MustSync()
				s.clock.Advance(20 * time.Minute)
			}
			if len(s.Items()) != 1 {
				t.Fatalf("%d items", len(s.Items()))
			}
			for uri, i := range s.Items() {
				if hidden := i.Access != nil && len(i.Access.Users)+len(i.Access.Groups) == 0; hidden != want {
					t.Errorf("%s: %s is read by %+v", by, uri, i.Access)
				}
			}
		})
	}
}

func TestWhatIsGoneIsRemoved(t *testing.T) {
	t.Parallel()
	all := []string{"One", "Two", "Three", "Comment: One", "Comment: Two"}
	for _, tt := range []struct {
		name   string
		change func(s *site)
		want   []string
		code   string
	}{
		{"nothing", func(*site) {}, all, ""},
		{"a page in the trash, with its comments", func(s *site) { s.Pages[1].Trashed = true }, []string{"Two", "Three", "Comment: Two"}, ""},
		{"a purged page", func(s *site) { delete(s.Pages, 3) }, []string{"One", "Two", "Comment: One", "Comment: Two"}, ""},
		{"a comment", func(s *site) { delete(s.Pages, 11) }, []string{"One", "Two", "Three", "Comment: Two"}, ""},
		{"a page that the account may no longer view", func(s *site) { s.Pages[2].Hidden = true }, []string{"One", "Three", "Comment: One"}, ""},
		{"a page that the search misses stays", func(s *site) { s.Pages[3].Missed = true }, all, ""},
		{"comments that the search misses stay", func(s *site) { s.Pages[11].Missed, s.Pages[12].Missed = true, true }, all, ""},
		{"a page moved to another space that is read", func(s *site) { s.Pages[2].Space, s.Pages[12].Space = "OPS", "OPS" }, all, ""},
		{"a page moved to a space that is not", func(s *site) { s.Pages[2].Space, s.Pages[12].Space = "HR", "HR" }, []string{"One", "Three", "Comment: One"}, ""},
		{"a space that cannot be seen loses nothing", func(s *site) { delete(s.Spaces, "ENG"); clear(s.Pages) }, all, source.NotThere},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				inline := comment(12, 2)
				inline.Inline = true
				for _, p := range []confluencetest.Page{page(1, "One"), page(2, "Two"), page(3, "Three"), comment(11, 1), inline} {
					s.Put(p)
				}
				s.MustSync()
				s.want(all...)
				s.Change(func() { tt.change(s) })
				s.clock.Advance(7 * time.Hour)
				s.MustSync()
				s.want(tt.want...)
				if d := s.Shown(); (d.LastError == nil) != (tt.code == "") || d.LastError != nil && (d.LastError.Code != tt.code || !strings.Contains(d.LastError.Detail, "ENG")) {
					t.Errorf("shown %+v", d.LastError)
				}
			})
		})
	}
}

// TestEveryCallMayFail makes every request to the provider and every call of the store
// fail, one in each sync.
func TestEveryCallMayFail(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T, cloud bool) (*site, []string) {
		s := newSite(t, cloud, nil)
		want := []string{"Restricted", "Comment: Page 1", "Comment: Page 2"}
		for n := range 28 {
			s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
			want = append(want, fmt.Sprint("Page ", n+1))
		}
		below := page(50, "Restricted")
		below.Parent, below.Groups = 1, []string{"outside"}
		for _, p := range []confluencetest.Page{below, comment(61, 1), comment(62, 2), attachment(71, 1, "a.md", "Text."), attachment(72, 2, "b.docx", "PK Text.")} {
			s.Put(p)
		}
		return s, append(want, "a.md (Page 1)", "b.docx (Page 2)")
	}
	check := func(t *testing.T, s *site, want []string) {
		t.Helper()
		s.Recover()
		s.want(want...)
		s.wantFiles("PK Text.")
		for uri, i := range s.Items() {
			if groups := i.Access.Names().Groups; i.Title != "Restricted" && !slices.Equal(groups, []string{"everyone"}) {
				t.Errorf("%s is read by %v", uri, groups)
			} else if users := i.Access.Names().Users; i.Title == "Restricted" && (len(groups) > 0 || len(users) != 1) {
				t.Errorf("the restricted page is read by %v %v", groups, users)
			}
		}
	}
	both(t, func(t *testing.T, cloud bool) {
		atlassiantest.EveryCallMayFail(t, []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusUnauthorized}, 6, func(t *testing.T) atlassiantest.Filled {
			t.Helper()
			s, want := prepare(t, cloud)
			return atlassiantest.Filled{Server: s.Server.Server, Library: s.Library, Check: func(t *testing.T) { t.Helper(); check(t, s, want) }}
		})
	})
}

func names(users, groups []string) *access.Names { return &access.Names{Users: users, Groups: groups} }

func TestItemsAreReadByThoseWhoReadThemThere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		settings map[string]any
		change   func(s *site) // page 3 is below 2, which is below 1
		users    []string      // who may read page 3 and its comment, besides groups; nil: nobody
		groups   []string
		open     bool // no rule
		notice   bool
	}{
		{name: "no restriction", groups: []string{"everyone"}},
		{name: "a user", change: func(s *site) { s.Pages[3].Users = []string{"eve"} }, users: []string{"eve"}},
		{name: "a user who may not view the space", change: func(s *site) { s.Pages[3].Users = []string{"zoe"} }},
		{name: "a group within the space's", change: func(s *site) { s.Pages[3].Groups = []string{"hr"} }, groups: []string{"hr"}},
		{name: "a group that is partly in the space's", change: func(s *site) { s.Pages[3].Groups = []string{"outside"} }, users: []string{"ada"}},
		{name: "a group whose members are unknown", change: func(s *site) { s.Pages[3].Groups = []string{"deleted"} }},
		{name: "a group without members", change: func(s *site) { s.Pages[3].Groups = []string{"empty"} }},
		{name: "inherited from the parent", change: func(s *site) { s.Pages[2].Users = []string{"eve", "ada"} }, users: []string{"ada", "eve"}},
		{name: "inherited from the top", change: func(s *site) { s.Pages[1].Groups = []string{"hr"} }, groups: []string{"hr"}},
		{name: "all levels must admit", change: func(s *site) {
			s.Pages[1].Users, s.Pages[2].Groups, s.Pages[3].Users = []string{"ada", "eve"}, []string{"engineering"}, []string{"ada", "grace", "eve"}
		}, users: []string{"ada"}},
		{name: "levels that exclude each other", change: func(s *site) { s.Pages[1].Groups, s.Pages[3].Groups = []string{"hr"}, []string{"engineering"} }},
		{name: "a page above that the account may not view", change: func(s *site) { s.Pages[1].Hidden = true }, notice: true},
		{name: "a page above that the search misses", change: func(s *site) { s.Pages[1].Missed, s.Pages[1].Users = true, []string{"eve"} }, users: []string{"eve"}},
		{name: "permissions that the account may not see", change: func(s *site) { s.Secret = true }, notice: true},
		{name: "the source decides", settings: map[string]any{"access": "source"}, change: func(s *site) { s.Secret = true }, open: true},
		{name: "the source decides, except on restricted pages", settings: map[string]any{"access": "source"}, change: func(s *site) { s.Pages[1].Users = []string{"zoe"} }, users: []string{"zoe"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, tt.settings)
				two, three := page(2, "Two"), page(3, "Three")
				two.Parent, three.Parent = 1, 2
				for _, p := range []confluencetest.Page{page(1, "One"), two, three, comment(4, 3)} {
					s.Put(p)
				}
				if tt.change != nil {
					s.Change(func() { tt.change(s) })
				}
				s.MustSync()
				for _, i := range s.Items() {
					if !strings.Contains(i.Title, "Three") {
						continue
					}
					got := i.Access.Names()
					if tt.open != (got == nil) {
						t.Errorf("%s: %v", i.Title, got)
					} else if got == nil {
						continue
					}
					var users []string
					for _, u := range got.Users {
						users = append(users, strings.TrimSuffix(u, "@acme.example"))
						if cloud != strings.HasSuffix(u, "@acme.example") {
							t.Errorf("named %q", u)
						}
					}
					if want := names(tt.users, tt.groups); !slices.Equal(users, want.Users) || !slices.Equal(got.Groups, want.Groups) {
						t.Errorf("%s is read by %v %v, want %v", i.Title, users, got.Groups, want)
					}
				}
				d := s.Shown()
				if d.State != source.Ready || (d.LastError != nil) != tt.notice || tt.notice && (d.LastError.Code != "access-unknown" || !strings.Contains(d.LastError.Detail, "Who may read")) {
					t.Errorf("shown %s %+v", d.State, d.LastError)
				}
			})
		})
	}
}

func TestAChangedRestrictionHoldsAfterTheNextFullScan(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.Put(page(1, "One"))
		s.MustSync()
		s.Change(func() { s.Pages[1].Groups = []string{"hr"} })
		s.clock.Advance(6*time.Hour + time.Minute)
		s.MustSync()
		for _, i := range s.Items() {
			if got := i.Access.Names(); !slices.Equal(got.Groups, []string{"hr"}) {
				t.Errorf("read by %v", got)
			}
		}
	})
}
