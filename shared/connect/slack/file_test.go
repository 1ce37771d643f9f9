package slack_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"docent/shared/connect/slack/slacktest"
	"docent/shared/extract"
	"docent/shared/source"
)

const pdf = "application/pdf"

// filesOf returns the items with a file that a whole read of the channel yields, and the uris that it removes.
func filesOf(t *testing.T, s *slacktest.Server, private bool) (items []source.Item, removed []string) {
	t.Helper()
	_, c, a := workspace(t)
	c.HTTP, c.Base, c.Files = s.Fetcher().Client(0), s.URL+"/api/", s.URL+"/files/"
	s.Channels[ops].Private, s.Channels[ops].Member = private, private
	for page, err := range c.Read(t.Context(), a, ops, nil) {
		if err != nil {
			t.Fatal(err)
		}
		removed = append(removed, page.Removed...)
		for _, i := range page.Items {
			if i.File != nil {
				items = append(items, i)
			}
		}
	}
	return items, removed
}

func TestFilesOfMessagesAreRead(t *testing.T) {
	t.Parallel()
	s, c, _ := workspace(t)
	channel := s.Channels[ops]
	channel.Messages[0].Files = []slacktest.File{s.Attach("F1", "Plan.pdf", pdf, []byte("%PDF-1.7 text")), s.Attach("F2", "photo.png", "image/png", []byte("PNG"))}
	channel.Messages[2].Text, channel.Messages[2].Files = "", []slacktest.File{s.Attach("F3", "notes.md", "text/plain", []byte("# Notes"))}
	deleted := s.Attach("F4", "old.pdf", pdf, nil)
	deleted.Mode = "tombstone"
	channel.Messages[3].Files = []slacktest.File{deleted}
	thread := channel.Messages[1].TS
	channel.Replies[thread][0].Files = []slacktest.File{s.Attach("F5", "Budget.xlsx", extract.XLSX, []byte("PK budget"))}
	for _, private := range []bool{false, true} {
		items, removed := filesOf(t, s, private)
		var got []string
		for _, i := range items {
			file, err := i.File.Read(t.Context())
			if err != nil {
				t.Errorf("%s: %v", i.Title, err)
			}
			got = append(got, strings.Join([]string{i.URI, i.Title, i.File.MediaType, string(file)}, " "))
			if i.UpdatedAt.IsZero() || i.Author != "name of U1" || i.Metadata.JSON() != `{"type":"attachment"}` || !c.PartContains(source.Settings{}, ops, i.URI) {
				t.Errorf("%+v", i)
			}
			if private != (i.Access != nil && slices.Equal(i.Access.Users, []string{"ada@acme.test"})) {
				t.Errorf("private %v: %s is read by %+v", private, i.Title, i.Access)
			}
		}
		slices.Sort(got)
		at := "https://slack.com/archives/" + ops + "/p"
		want := []string{at + "1780000000000100?file=F1 Plan.pdf (#ops) application/pdf %PDF-1.7 text", at + "1780001001000100?file=F5 Budget.xlsx (#ops) " + extract.XLSX + " PK budget",
			at + "1780002000000100?file=F3 notes.md (#ops)  # Notes"}
		if !slices.Equal(got, want) || !slices.Equal(removed, []string{at + "1780003000000100?file=F4"}) {
			t.Errorf("got  %q\nwant %q\nremoved %q", got, want, removed)
		}
	}
}

// TestFilesThatAreLeftOut: the source says why; the token is sent to Slack only.
func TestFilesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*slacktest.Server, *slacktest.File)
		why    string
	}{
		"no scope": {func(s *slacktest.Server, _ *slacktest.File) { s.Lacks = "files:read" }, "web page in its place"},
		"missing":  {func(s *slacktest.Server, _ *slacktest.File) { delete(s.Stored, "F1") }, "it is missing"},
		"too large": {func(s *slacktest.Server, _ *slacktest.File) {
			s.Stored["F1"] = bytes.Repeat([]byte("x"), source.MaxFile+1)
		}, "more than 10 MB"},
		"another host":    {func(_ *slacktest.Server, f *slacktest.File) { f.Download = "https://files.slack.com.attack.test/F1" }, "invalid address"},
		"the API":         {func(s *slacktest.Server, f *slacktest.File) { f.Download = s.URL + "/files/../api/users.list" }, "invalid address"},
		"without address": {func(_ *slacktest.Server, f *slacktest.File) { f.Download = "" }, "invalid address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := workspace(t)
			f := s.Attach("F1", "Plan.pdf", pdf, []byte("%PDF-1.7 text"))
			tt.change(s, &f)
			s.Channels[ops].Messages[0].Files = []slacktest.File{f}
			items, _ := filesOf(t, s, false)
			if len(items) != 1 {
				t.Fatalf("%+v", items)
			}
			var why *source.FileError
			if _, err := items[0].File.Read(t.Context()); !errors.As(err, &why) || !strings.Contains(why.Why, tt.why) {
				t.Errorf("%v, want %q", err, tt.why)
			}
		})
	}
}

// TestFilesOfOtherWorkspacesAreAskedFor: a message has no more than their ids.
func TestFilesOfOtherWorkspacesAreAskedFor(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	channel := s.Channels[ops]
	gone := s.Share("F4", "old.pdf", pdf, nil)
	s.Foreign["F4"] = slacktest.File{ID: "F4", Mode: "tombstone"}
	hidden := s.Share("F5", "secret.pdf", pdf, nil)
	delete(s.Foreign, "F5")
	channel.Messages[1].Files = []slacktest.File{s.Share("F1", "Plan.pdf", pdf, []byte("%PDF-1.7 text")), s.Share("F2", "photo.png", "image/png", nil), gone, hidden}
	channel.Replies[channel.Messages[1].TS][0].Files = []slacktest.File{s.Share("F3", "notes.md", "text/plain", []byte("# Notes"))}
	at := "https://slack.com/archives/" + ops + "/p"
	for _, lacks := range []string{"", "files:read"} {
		s.Change(func() { s.Lacks = lacks })
		s.Requests()
		got, removed, skipped := map[string]string{}, []string{}, map[string]string{}
		for page, err := range c.Read(t.Context(), a, ops, nil) {
			if err != nil {
				t.Fatal(err)
			}
			removed = append(removed, page.Removed...)
			for _, left := range page.Skipped {
				skipped[left.URI] = left.Why
			}
			for _, i := range page.Items {
				if i.File == nil {
					continue
				}
				file, err := i.File.Read(t.Context())
				if err != nil {
					t.Error(err)
				}
				got[i.URI] = i.Title + " " + string(file)
			}
		}
		want := map[string]string{at + "1780001000000100?file=F1": "Plan.pdf (#ops) %PDF-1.7 text", at + "1780001001000100?file=F3": "notes.md (#ops) # Notes"}
		left := map[string]string{at + "1780001000000100?file=F5": "Slack does not show it to the app"}
		if lacks != "" {
			want, left = map[string]string{}, map[string]string{}
			for _, uri := range []string{"1780001000000100?file=F1", "1780001000000100?file=F2", "1780001000000100?file=F4", "1780001000000100?file=F5", "1780001001000100?file=F3"} {
				left[at+uri] = "the app lacks the scope files:read"
			}
		} else if !slices.Contains(removed, at+"1780001000000100?file=F4") {
			t.Errorf("removed %q", removed)
		}
		if !maps.Equal(got, want) || !maps.Equal(skipped, left) {
			t.Errorf("without %q\ngot  %q\nwant %q\nleft out %q", lacks, got, want, skipped)
		}
		if asked := len(slices.DeleteFunc(s.Requests(), func(method string) bool { return method != "files.info" })); lacks == "" && asked > 8 {
			t.Errorf("asked %d times, though the first message of a thread is on each of its pages", asked)
		}
	}
}

// TestAFailingFileHoldsUpOnlyItself: the first reading ends with it, and the next one goes on without it.
func TestAFailingFileHoldsUpOnlyItself(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	s.Channels[ops].Messages[0].Files = []slacktest.File{s.Share("F1", "Plan.pdf", pdf, []byte("%PDF-1.7 text"))}
	s.Failing = "files.info"
	read := func() (failed []source.SkippedItem, items int, err error) {
		for page, e := range c.Read(t.Context(), a, ops, nil) {
			failed, items, err = append(failed, page.Failed...), items+len(page.Items), e
		}
		return failed, items, err
	}
	if _, _, err := read(); !source.IsOfOne(err) {
		t.Fatalf("first: %v", err)
	}
	a.Failed = []string{"https://slack.com/archives/" + ops + "/p1780000000000100?file=F1"}
	failed, items, err := read()
	if err != nil || items < 8 || len(failed) != 1 || failed[0].URI != a.Failed[0] {
		t.Errorf("again: %d items, failed %v, %v", items, failed, err)
	}
}
