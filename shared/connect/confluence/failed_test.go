package confluence_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/source"
)

// failing lets requests fail whose path contains a text.
func (s *site) failing(text string) {
	s.Before(func(path string, w http.ResponseWriter) bool {
		if !strings.Contains(path, text) {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
}

// syncAfter syncs once, and fails the test unless the source then shows an error with a code; empty: none.
func (s *site) syncAfter(d time.Duration, code, detail string) {
	s.t.Helper()
	s.clock.Advance(d)
	s.MustSync()
	if e := s.Shown().LastError; (e == nil) != (code == "") || e != nil && (e.Code != code || !strings.Contains(e.Detail, detail)) {
		s.t.Errorf("the source shows %+v, want %q", e, code)
	}
}

// TestAFailingFileDoesNotHoldUpOthers: it fails one sync. Then the earlier one stays, read by whom its page admits now, and each sync
// tries again.
func TestAFailingFileDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.Put(page(1, "One"))
		s.Put(attachment(2, 1, "a.pdf", "%PDF-1"))
		s.Put(attachment(3, 1, "b.pdf", "%PDF-2"))
		s.Put(attachment(4, 1, "c.pdf", "%PDF-3"))
		download := "/b.pdf"
		if cloud {
			download = "/att3/download"
		}
		s.failing(download)
		s.syncAfter(0, source.Unreadable, "500")
		s.syncAfter(2*time.Minute, source.ItemRejected, "b.pdf")
		s.want("One", "a.pdf (One)", "c.pdf (One)")
		s.syncAfter(16*time.Minute, source.ItemRejected, "later syncs try again")
		s.Before(nil)
		s.syncAfter(16*time.Minute, "", "")
		s.wantFiles("%PDF-1", "%PDF-2", "%PDF-3")

		s.failing(download)
		s.Change(func() {
			s.Pages[1].Groups = []string{"hr"}
			s.Pages[3].File, s.Pages[3].Changed = []byte("%PDF-4"), s.clock.Now()
		})
		s.syncAfter(7*time.Hour, source.Unreadable, "500")
		s.syncAfter(2*time.Minute, source.ItemRejected, "b.pdf")
		s.wantFiles("%PDF-1", "%PDF-2", "%PDF-3")
		for _, i := range s.Items() {
			if got := i.Access.Names(); got == nil || len(got.Groups) != 1 || got.Groups[0] != "hr" {
				t.Errorf("%s is read by %v", i.Title, got)
			}
		}
		s.Before(nil)
		s.syncAfter(16*time.Minute, "", "")
		s.wantFiles("%PDF-1", "%PDF-3", "%PDF-4")
	})
}

// TestAPageWhoseReadersFailDoesNotHoldUpOthers: it fails one sync. Then nobody reads what is below it, until it is known who may.
func TestAPageWhoseReadersFailDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		above, below := page(1, "Above"), page(2, "Below")
		above.Missed, below.Parent = true, 1
		s.Put(above)
		s.Put(below)
		s.Put(page(3, "Other"))
		closed := func(want bool) {
			t.Helper()
			for _, i := range s.Items() {
				if got := i.Access.Names(); (got != nil && len(got.Groups) == 0) != (want && i.Title == "Below") {
					t.Errorf("%s is read by %v", i.Title, got)
				}
			}
		}
		s.failing("/content/1/restriction")
		s.syncAfter(0, source.Unreadable, "page 1")
		s.syncAfter(2*time.Minute, source.ItemRejected, "who may read it")
		s.want("Below", "Other")
		closed(true)
		s.syncAfter(16*time.Minute, source.ItemRejected, "who may read it")
		s.Before(nil)
		s.syncAfter(16*time.Minute, "", "")
		closed(false)
		s.want("Below", "Other")
	})
}

// TestANameThatFailsIsLeftOut: the page is read without it.
func TestANameThatFailsIsLeftOut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, map[string]any{"access": "source"})
		one := page(1, "One")
		one.Body = `<p>Ask <ac:link><ri:user ri:account-id="5:zoe" ri:userkey="key-zoe"/></ac:link>.</p>`
		s.Put(one)
		s.failing("/rest/api/user")
		s.syncAfter(0, "", "")
		s.want("One")
	})
}

// TestAGroupWhoseMembersFailHoldsUpOnlyItsDependents: it fails one sync. Then nobody reads the pages that are limited to it, until its
// members can be read.
func TestAGroupWhoseMembersFailHoldsUpOnlyItsDependents(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		limited := page(1, "Limited")
		limited.Groups = []string{"outside"}
		s.Put(limited)
		s.Put(page(2, "Other"))
		readers := func(want string) {
			t.Helper()
			for _, i := range s.Items() {
				if got := i.Access.Names(); i.Title == "Limited" && (got == nil || strings.TrimSuffix(strings.Join(slices.Concat(got.Users, got.Groups), " "), "@acme.example") != want) {
					t.Errorf("%s is read by %v, want %q", i.Title, got, want)
				}
			}
		}
		s.failing("/member")
		s.syncAfter(0, source.Unreadable, "the members of the group")
		s.syncAfter(2*time.Minute, "access-unknown", "fails to return the members of the group")
		s.want("Limited", "Other")
		readers("")
		s.syncAfter(16*time.Minute, "access-unknown", "later syncs try again")
		s.Before(nil)
		s.syncAfter(16*time.Minute, "", "")
		readers("ada")
		before := len(s.Requests())
		s.syncAfter(16*time.Minute, "", "")
		if n := len(s.Requests()) - before; n > 6 { // a search for each part of the spaces
			t.Errorf("%d requests without a change", n)
		}
	})
}

// TestAPageThatFailsTheSearchDoesNotHoldUpOthers: whatever Confluence fails to return of one page, or of several at a time, the others
// and what is on them are read. Nobody reads what depends on readers that are not known.
func TestAPageThatFailsTheSearchDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expansion string // that fails for page 2
		readers   string // of its comment in the end
	}{
		"its text":                       {"body.storage", "everyone"},
		"its restrictions":               {"restrictions.read", ""},
		"its restrictions and ancestors": {"ancestors", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				for n, title := range []string{"One", "Two", "Three"} {
					s.Put(page(n+1, title))
					s.Put(comment(n+11, n+1))
				}
				s.MustSync()
				fail := func(path string, w http.ResponseWriter) bool {
					path, _ = url.QueryUnescape(path)
					_, ids, byID := strings.Cut(path, "id in (")
					ids, _, _ = strings.Cut(ids, ")")
					about := strings.Contains(path, "type = page") || byID && slices.Contains(strings.Split(ids, ","), "2")
					if !about || !strings.Contains(path, tt.expansion) || tt.expansion == "ancestors" && strings.Contains(path, "type = page") && !strings.Contains(path, "body") {
						return false
					}
					w.WriteHeader(http.StatusInternalServerError)
					return true
				}
				s.Before(fail)
				s.Change(func() {
					for n := range 3 {
						s.Pages[n+1].Body, s.Pages[n+1].Changed = "<p>Second.</p>", s.clock.Now()
						s.Pages[n+11].Changed = s.clock.Now()
					}
				})
				s.syncAfter(7*time.Hour, source.Unreadable, "500")
				s.syncAfter(2*time.Minute, source.ItemRejected, "Confluence does not return")
				for range 2 { // a changes sync, and a full scan
					texts := map[string]string{}
					for _, i := range s.Items() {
						texts[i.Title] = i.Excerpt
						n := i.Access.Names()
						if got := strings.Join(n.Groups, " "); i.Title == "Comment: Two" || i.Title == "Comment:" {
							if got != tt.readers {
								t.Errorf("the comment is read by %q", got)
							}
						} else if got != "everyone" {
							t.Errorf("%s is read by %q", i.Title, got)
						}
					}
					if len(texts) != 6 || texts["One"] != "Second." || texts["Three"] != "Second." || texts["Two"] == "Second." || texts["Two"] == "" {
						t.Errorf("stored %q", texts)
					}
					s.syncAfter(7*time.Hour, source.ItemRejected, "Confluence does not return")
				}
				s.Before(nil)
				s.syncAfter(16*time.Minute, "", "")
				for _, i := range s.Items() {
					if got := strings.Join(i.Access.Names().Groups, " "); got != "everyone" {
						t.Errorf("in the end %s is read by %q", i.Title, got)
					}
					if i.Title == "Two" && i.Excerpt != "Second." {
						t.Errorf("in the end: %q", i.Excerpt)
					}
				}
			})
		})
	}
}

// TestAGroupThatAnswersOnceIsTriedByTheNextSync: it fails again in the full scan that its answer starts.
func TestAGroupThatAnswersOnceIsTriedByTheNextSync(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		limited := page(1, "Limited")
		limited.Groups = []string{"outside"}
		s.Put(limited)
		s.failing("/member")
		s.syncAfter(0, source.Unreadable, "the members of the group")
		s.syncAfter(2*time.Minute, "access-unknown", "fails to return the members of the group")
		searched := false
		s.Before(func(path string, w http.ResponseWriter) bool {
			searched = searched || strings.Contains(path, "/search")
			if !searched || !strings.Contains(path, "/member") {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			return true
		})
		s.syncAfter(16*time.Minute, source.Unreadable, "the members of the group")
		s.Before(nil)
		s.syncAfter(16*time.Minute, "", "")
		for _, i := range s.Items() {
			if got := i.Access.Names(); got == nil || len(got.Users) != 1 {
				t.Errorf("%s is read by %v", i.Title, got)
			}
		}
	})
}

// TestAnInterruptedScanForgetsNoSearchThatFails: the one that fails for ever may be before the interruption. Otherwise each such full scan
// would end with it once.
func TestAnInterruptedScanForgetsNoSearchThatFails(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 40 {
			s.Put(page(n+1, fmt.Sprint("Page ", n+1)))
		}
		s.failing("body.storage")
		const results = "some pages of the space ENG"
		a := s.access
		for n := range 40 {
			if cloud {
				a.Failed = append(a.Failed, fmt.Sprintf("%s/wiki/spaces/ENG/pages/%d", s.URL, n+1))
			} else {
				a.Failed = append(a.Failed, fmt.Sprintf("%s/pages/viewpage.action?spaceKey=ENG&pageId=%d", s.URL, n+1))
			}
		}
		a.Failed = append(a.Failed, results)
		var at []byte
		for page, err := range s.c.Read(t.Context(), a, "ENG pages", nil) {
			if err != nil {
				t.Fatal(err)
			}
			at = page.Checkpoint
			break
		}
		s.Before(nil)
		forgets := func(at []byte) (forgotten bool) {
			for page, err := range s.c.Read(t.Context(), a, "ENG pages", at) {
				if err != nil {
					t.Fatal(err)
				}
				forgotten = forgotten || slices.Contains(page.Unread, results)
			}
			return forgotten
		}
		if forgets(at) {
			t.Error("the rest of the scan forgets the search that failed")
		}
		if !forgets(nil) {
			t.Error("a whole scan without a failure remembers it")
		}
	})
}

// hanging replies by a handler of this process, but never to the requests that it chooses.
type hanging struct {
	handler http.Handler
	hangs   func(u *url.URL) bool
}

func (h hanging) RoundTrip(q *http.Request) (*http.Response, error) {
	if h.hangs(q.URL) {
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, q)
	return w.Result(), nil
}

// TestASearchWithoutReplyDoesNotHoldUpOthers: one of its results lets it hang.
func TestASearchWithoutReplyDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n, title := range []string{"One", "Two", "Three"} {
			s.Put(page(n+1, title))
		}
		handler := s.Config.Handler
		synctest.Test(t, func(t *testing.T) {
			s.c.HTTP = &http.Client{Transport: hanging{handler, func(u *url.URL) bool {
				cql := u.Query().Get("cql")
				return strings.Contains(u.Query().Get("expand"), "body.storage") && (strings.Contains(cql, "type = page") || cql == "id in (2)")
			}}}
			a := s.access
			for range 3 {
				var read []string
				var err error
				for page, failed := range s.c.Read(t.Context(), a, "ENG pages", nil) {
					if err = failed; err != nil {
						break
					}
					for _, i := range page.Items {
						if !i.KeepBody {
							read = append(read, i.Title)
						}
					}
				}
				if err == nil {
					if slices.Sort(read); !slices.Equal(read, []string{"One", "Three"}) {
						t.Errorf("read %q", read)
					}
					return
				}
				var one *source.SyncError
				if !errors.As(err, &one) || one.URI == "" {
					t.Fatalf("the reading ends with %v", err)
				}
				a.Failed = append(a.Failed, one.URI)
			}
			t.Errorf("the reading never ends; failed %q", a.Failed)
		})
	})
}

// TestAPageOfResultsThatTakesLongerThanATurnIsReadInSeveral: each turn goes on behind what the one before has read, whether the names of
// accounts take long, or the results that have to be read one by one, or those that failed before.
func TestAPageOfResultsThatTakesLongerThanATurnIsReadInSeveral(t *testing.T) {
	t.Parallel()
	for _, slow := range []string{"/rest/api/user", "id in ("} {
		t.Run(slow, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, map[string]any{"access": "source"})
				a := s.access
				a.Settings = source.NewSettings(map[string]any{"baseUrl": s.URL, "spaces": []string{"ENG"}, "access": "source", "email": a.Settings.Text("email")})
				if slow == "id in (" {
					a.Failed = []string{"some pages of the space ENG"} // the search with all failed before
				}
				for n := range 12 {
					one := page(n+1, fmt.Sprint("Page ", n))
					one.Body = fmt.Sprintf(`<p>Ask <ac:link><ri:user ri:account-id="5:a%d" ri:userkey="key-%d"/></ac:link>.</p>`, n, n)
					s.Put(one)
				}
				asked := map[string]int{}
				s.Before(func(path string, w http.ResponseWriter) bool {
					path, _ = url.QueryUnescape(path)
					if strings.Contains(path, slow) {
						asked[path]++
						s.clock.Advance(20 * time.Second)
					} else if slow == "id in (" && strings.Contains(path, "type = page") && strings.Contains(path, "body") {
						w.WriteHeader(http.StatusInternalServerError)
						return true
					}
					return false
				})
				read, turns := map[string]bool{}, 0
				for at := []byte(nil); len(read) < 12 && turns < 14; turns++ {
					for page, err := range s.c.Read(t.Context(), a, "ENG pages", at) {
						if err != nil {
							t.Fatal(err)
						}
						for _, i := range page.Items {
							read[i.URI] = true
						}
						at = page.Checkpoint
						break // the turn is over
					}
				}
				for path, times := range asked {
					if times > 1 {
						t.Errorf("%s is asked for %d times", path, times)
					}
				}
				if len(read) < 12 || turns < 3 || len(asked) != 12 {
					t.Errorf("%d pages in %d turns with %d slow requests", len(read), turns, len(asked))
				}
			})
		})
	}
}

// TestItemsOfAGroupAreReadableAgainWhenItCanBeRead although its members can be read again in the same full scan, after an interruption: what was read before is
// opened by another one, and not only when the next one is due.
func TestItemsOfAGroupAreReadableAgainWhenItCanBeRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for n := range 60 {
			one := page(n+1, fmt.Sprint("Page ", n+1))
			if n == 0 || n == 59 { // on the last page of results, and on the first one
				one.Groups = []string{"outside"}
			}
			s.Put(one)
		}
		readers := func(when string, want ...string) {
			t.Helper()
			for _, i := range s.Items() {
				if n := i.Access.Names(); (i.Title == "Page 1" || i.Title == "Page 60") && !slices.Equal(n.Users, want) {
					t.Errorf("%s, %s is read by %q, want %q", when, i.Title, n.Users, want)
				}
			}
		}
		s.syncAfter(0, "", "")
		ada := "ada"
		if cloud {
			ada = "ada@acme.example"
		}
		readers("at first", ada)
		s.Before(func(path string, w http.ResponseWriter) bool {
			switch {
			case strings.Contains(path, "/outside/member") || strings.Contains(path, "membersByGroupId"):
				w.WriteHeader(http.StatusInternalServerError)
			case strings.Contains(path, "/content/search") && (strings.Contains(path, "cursor=") || strings.Contains(path, "start=")):
				w.Header().Set("Retry-After", "600")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				return false
			}
			return true
		})
		for _, after := range []time.Duration{7 * time.Hour, 2 * time.Minute} { // a full scan is due
			s.clock.Advance(after)
			s.MustSync()
		}
		if e := s.Shown().LastError; e == nil || e.Code != source.RateLimited {
			t.Errorf("the source shows %+v", e)
		}
		s.Before(nil)
		for range 2 {
			s.clock.Advance(16 * time.Minute)
			s.MustSync()
		}
		readers("in the end", ada)
	})
}
