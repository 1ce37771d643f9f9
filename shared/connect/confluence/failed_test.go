package confluence_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
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

// TestAFileThatFailsHoldsUpNoOther: it fails one sync. Then the earlier one stays, read by whom its page admits now, and each sync
// tries again.
func TestAFileThatFailsHoldsUpNoOther(t *testing.T) {
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

// TestAPageWhoseReadersFailHoldsUpNoOther: it fails one sync. Then nobody reads what is below it, until it is known who may.
func TestAPageWhoseReadersFailHoldsUpNoOther(t *testing.T) {
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

// TestAGroupWhoseMembersFailHoldsUpOnlyWhatDependsOnIt: it fails one sync. Then nobody reads the pages that are limited to it, until its
// members can be read.
func TestAGroupWhoseMembersFailHoldsUpOnlyWhatDependsOnIt(t *testing.T) {
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
