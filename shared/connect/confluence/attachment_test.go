package confluence_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/confluence/confluencetest"
	"docent/shared/document"
	"docent/shared/extract"
	"docent/shared/source"
)

// attachment returns a file on a page.
func attachment(n, on int, name, text string) confluencetest.Page {
	a := page(n, name)
	a.On, a.Body, a.File = on, "", []byte(text)
	return a
}

// fileOf returns the stored file of an item.
func (s *site) fileOf(i document.Found) string {
	s.t.Helper()
	file, err := s.Blobs.Get(s.t.Context(), i.Original.Blob)
	if err != nil {
		s.t.Errorf("%s: %v", i.URI, err)
	}
	return string(file)
}

// wantFiles fails the test unless exactly these files are stored with items.
func (s *site) wantFiles(texts ...string) {
	s.t.Helper()
	var got []string
	for _, i := range s.Items() {
		if i.Original != nil {
			got = append(got, s.fileOf(i))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, texts) {
		s.t.Errorf("stored files %q, want %q", got, texts)
	}
}

// downloads returns how many files were asked for since the last call.
func (s *site) downloads() (n int) {
	for _, path := range s.Requests() {
		if strings.Contains(path, "/download") {
			n++
		}
	}
	return n
}

func TestAttachmentsAreRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		restricted := page(1, "Handbook")
		restricted.Groups = []string{"hr"}
		for _, p := range []confluencetest.Page{restricted, attachment(2, 1, "Plan & 50 %.pdf", "%PDF-1.7 text"), attachment(3, 1, "notes.md", "\ufeff# Notes"),
			attachment(6, 1, "guide.rst", "Guide\n====="), attachment(4, 1, "photo.png", "PNG"), attachment(5, 99, "of a blog post.md", "Text.")} {
			s.Put(p)
		}
		if p := s.MustSync(); p.Read != 4 || p.Rejected != 0 || s.Shown().LastError != nil {
			t.Errorf("%+v %+v", p, s.Shown().LastError)
		}
		if n := s.downloads(); n != 3 {
			t.Errorf("%d downloads", n)
		}
		base, prefix := s.URL, ""
		if cloud {
			base, prefix = s.URL+"/wiki", "att"
		}
		items := s.Items()
		plan := items[base+"/download/attachments/1/Plan%20&%2050%20%25.pdf?space=ENG&attachment="+prefix+"2"]
		notes := items[base+"/download/attachments/1/notes.md?space=ENG&attachment="+prefix+"3"]
		guide := items[base+"/download/attachments/1/guide.rst?space=ENG&attachment="+prefix+"6"]
		if guide.MediaType != extract.RST || guide.Original == nil || s.fileOf(guide) != "Guide\n=====" {
			t.Errorf("%+v", guide)
		}
		if len(items) != 4 || plan.Title != "Plan & 50 %.pdf (Handbook)" || plan.MediaType != extract.PDF || plan.Facts.Author != "Ada" || plan.Facts.Project != "ENG" ||
			plan.Metadata.JSON() != `{"lastEditor":"Grace","page":"Handbook","type":"attachment","version":2}` || plan.Original == nil || s.fileOf(plan) != "%PDF-1.7 text" {
			t.Errorf("%d items, %+v %s", len(items), plan, plan.Metadata.JSON())
		}
		if notes.MediaType != "" || notes.Original != nil || notes.Excerpt != "# Notes" {
			t.Errorf("%+v", notes)
		}
		for _, i := range []document.Found{plan, notes} {
			if got := i.Access.Names(); got == nil || !slices.Equal(got.Groups, []string{"hr"}) {
				t.Errorf("%s is read by %v", i.Title, got)
			}
		}
	})
}

func TestAnUnchangedAttachmentIsNotDownloadedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		for _, p := range []confluencetest.Page{page(1, "One"), attachment(2, 1, "a.pdf", "%PDF-1"), attachment(3, 1, "b.txt", "Text.")} {
			s.Put(p)
		}
		s.MustSync()
		if n := s.downloads(); n != 2 {
			t.Errorf("first: %d downloads", n)
		}
		s.Change(func() { s.Pages[1].Groups, s.Pages[1].Title = []string{"hr"}, "First" })
		s.clock.Advance(7 * time.Hour)
		s.MustSync()
		if n := s.downloads(); n != 0 {
			t.Errorf("unchanged: %d downloads", n)
		}
		s.want("First", "a.pdf (First)", "b.txt (First)")
		s.wantFiles("%PDF-1")
		for _, i := range s.Items() {
			if got := i.Access.Names(); got == nil || !slices.Equal(got.Groups, []string{"hr"}) || i.MediaType == "" && i.Title != "First" && i.Excerpt != "Text." {
				t.Errorf("%s is read by %v: %q", i.Title, got, i.Excerpt)
			}
		}
		s.Change(func() { s.Pages[2].File, s.Pages[2].Changed = []byte("%PDF-2"), s.clock.Now() })
		s.clock.Advance(16 * time.Minute)
		for range 2 { // the second sync lists it again, because the search is asked for some minutes more
			s.MustSync()
		}
		if n := s.downloads(); n != 1 {
			t.Errorf("changed: %d downloads", n)
		}
		s.wantFiles("%PDF-2")
	})
}

func TestAttachmentsThatAreGoneAreRemoved(t *testing.T) {
	t.Parallel()
	all := []string{"One", "Two", "a.pdf (One)", "b.md (Two)"}
	for name, tt := range map[string]struct {
		change func(s *site)
		want   []string
	}{
		"nothing":                         {func(*site) {}, all},
		"in the trash":                    {func(s *site) { s.Pages[11].Trashed = true }, []string{"One", "Two", "b.md (Two)"}},
		"purged":                          {func(s *site) { delete(s.Pages, 12) }, []string{"One", "Two", "a.pdf (One)"}},
		"with its page":                   {func(s *site) { s.Pages[1].Trashed = true }, []string{"Two", "b.md (Two)"}},
		"that the search misses, stays":   {func(s *site) { s.Pages[11].Missed, s.Pages[12].Missed = true, true }, all},
		"renamed":                         {func(s *site) { s.Pages[11].Title = "c.pdf" }, []string{"One", "Two", "c.pdf (One)", "b.md (Two)"}},
		"moved to another page":           {func(s *site) { s.Pages[11].On = 2 }, []string{"One", "Two", "a.pdf (Two)", "b.md (Two)"}},
		"with a page that cannot be seen": {func(s *site) { s.Pages[2].Hidden = true }, []string{"One", "a.pdf (One)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				for _, p := range []confluencetest.Page{page(1, "One"), page(2, "Two"), attachment(11, 1, "a.pdf", "%PDF-1"), attachment(12, 2, "b.md", "Text.")} {
					s.Put(p)
				}
				s.MustSync()
				s.want(all...)
				s.Change(func() { tt.change(s) })
				s.clock.Advance(7 * time.Hour)
				s.MustSync()
				s.want(tt.want...)
			})
		})
	}
}

// TestFilesThatAreLeftOut: the source says why, the others are read, and an earlier text does not stay.
func TestFilesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", source.MaxFile+1)
	html := func(path string, w http.ResponseWriter) bool {
		if !strings.Contains(path, "/download") || strings.Contains(path, "71") || strings.Contains(path, "good") {
			return false
		}
		w.Header().Set("Content-Type", "text/html;charset=UTF-8")
		_, _ = fmt.Fprint(w, "<html>Log in</html>")
		return true
	}
	for name, tt := range map[string]struct {
		file   confluencetest.Page
		change func(s *site)
		before func(path string, w http.ResponseWriter) bool
		why    string
		asked  int // downloads
	}{
		"too large":                          {file: confluencetest.Page{File: []byte("Text."), Size: source.MaxFile + 1}, why: "it has more than 10 MB"},
		"larger than was said":               {file: confluencetest.Page{File: []byte(large), Size: 5}, why: "it has more than 10 MB", asked: 1},
		"reStructuredText that is too large": {file: confluencetest.Page{File: make([]byte, 5<<20), Title: "bad.rst", Size: 5}, why: "it has more than 4 MB", asked: 1},
		"empty":                              {file: confluencetest.Page{File: []byte{}}, why: "it is empty", asked: 1},
		"no text":                            {file: confluencetest.Page{File: []byte("Caf\xe9")}, why: "it is not valid UTF-8", asked: 1},
		"no file of its type":                {file: confluencetest.Page{File: []byte("Text."), Title: "bad.docx"}, why: "it is not what its name says", asked: 1},
		"a page to log in":                   {file: confluencetest.Page{File: []byte("Text.")}, before: html, why: "Confluence sent a web page in its place", asked: 1},
		"a redirect to another host":         {file: confluencetest.Page{File: []byte("Text.")}, change: func(s *site) { s.Leads = "https://169.254.169.254/latest" }, why: "its download leads to an address", asked: 1},
		"a redirect that is not encrypted":   {file: confluencetest.Page{File: []byte("Text.")}, change: func(s *site) { s.Leads = strings.Replace(s.Media.URL, "https:", "http:", 1) }, why: "its download leads to an address", asked: 1},
		"a redirect to what is not allowed":  {file: confluencetest.Page{File: []byte("Text.")}, change: func(s *site) { s.Leads = "https://files.acme.example/x" }, why: "its download leads to an address", asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, cloud bool) {
				s := newSite(t, cloud, nil)
				s.Put(page(1, "One"))
				name := tt.file.Title
				if name == "" {
					name = "bad.txt"
				}
				s.Put(attachment(70, 1, name, "PK An earlier text."))
				s.Put(attachment(71, 1, "good.txt", "Good."))
				s.MustSync()
				s.want("One", name+" (One)", "good.txt (One)")
				s.downloads()
				bad := attachment(70, 1, name, "")
				bad.File, bad.Size, bad.Changed = tt.file.File, tt.file.Size, s.clock.Now()
				s.Put(bad)
				s.Before(tt.before)
				if tt.change != nil {
					s.Change(func() { tt.change(s) })
				}
				s.clock.Advance(16 * time.Minute)
				p := s.MustSync()
				s.want("One", "good.txt (One)")
				d := s.Shown()
				if p.Rejected != 1 || d.State != source.Ready || d.LastError == nil || d.LastError.Code != source.ItemRejected ||
					!strings.Contains(d.LastError.Detail, tt.why) || !strings.Contains(d.LastError.Detail, "/bad.") {
					t.Errorf("%+v, shown %+v", p, d.LastError)
				}
				if n := s.downloads(); n != tt.asked {
					t.Errorf("%d downloads", n)
				}
			})
		})
	}
}

func TestTheNewestAttachmentsOfASpaceAreRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.c.Attachments = 30
		s.Put(page(1, "One"))
		for n := range 60 {
			s.Put(attachment(100+n, 1, fmt.Sprintf("%02d.txt", n), "Text."))
		}
		s.MustSync()
		titles := s.titles()
		if d := s.Shown(); !slices.Contains(titles, "59.txt (One)") || slices.Contains(titles, "00.txt (One)") || len(titles) < 31 ||
			d.State != source.Ready || d.LastError == nil || d.LastError.Code != source.TooLarge || !strings.Contains(d.LastError.Detail, "ENG has more than 30 attachments") {
			t.Errorf("%q %+v", titles, d.LastError)
		}
	})
}
