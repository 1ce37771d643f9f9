package connectors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence/confluencetest"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/source"
)

// TestAnAttachmentIsFoundByItsPage: the text of a file is read after the sync, a reference leads to the page, and only
// those who may read the page of the wiki find it.
func TestAnAttachmentIsFoundByItsPage(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	server := confluencetest.New(t, false, clock.Now)
	server.Spaces = map[string][]confluencetest.Permission{"ENG": {{Group: "everyone"}}}
	at := clock.Now().Add(-time.Hour)
	server.Put(confluencetest.Page{ID: 1, Space: "ENG", Title: "Runbook", Body: "<p>See the file.</p>", Created: at, Changed: at})
	file := confluencetest.Page{ID: 2, Space: "ENG", Title: "runbook.pdf", On: 1, Created: at, Changed: at,
		File: []byte("%PDF-1.7\nTo roll back a deployment, run the undo command.\nThe office closes at six.")}
	server.Put(file)
	h := newHouse(t, server.Server.Server)
	id := h.connect("confluence", map[string]any{"baseUrl": server.URL, "spaces": []string{"ENG"}, "accessToken": atlassiantest.Token})
	found := func(key, query string) []string {
		t.Helper()
		if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
			t.Fatal(err)
		}
		if err := h.local.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		var reply struct{ Sources []struct{ URL string } }
		h.call(key, "POST", "/context/search", map[string]any{"query": query}, &reply)
		urls := []string{}
		for _, s := range reply.Sources {
			urls = append(urls, s.URL)
		}
		return urls
	}
	const query = "roll back a deployment with the undo command"
	address := server.URL + "/download/attachments/1/runbook.pdf?space=ENG&attachment=2#page=2"
	if got := found(h.key, query); !slices.Contains(got, address) {
		t.Errorf("found %q, want %q", got, address)
	}
	if got := found(h.admin, query); len(got) != 0 {
		t.Errorf("who is not in the group finds %q", got)
	}
	if text := h.texts([]string{address})[address]; text == "" {
		t.Error("what names the page cannot be read")
	}
	file.File, file.Changed = []byte("%PDF-1.7\nDeployments are never rolled back."), h.clock.Now()
	server.Put(file)
	clock.Advance(20 * time.Minute)
	h.clock.Advance(20 * time.Minute)
	if got := found(h.key, "undo command"); slices.Contains(got, address) && h.texts([]string{address})[address] != "Deployments are never rolled back." {
		t.Errorf("the earlier text is found: %q", got)
	}
	server.Change(func() { delete(server.Pages, 2) })
	clock.Advance(7 * time.Hour)
	h.clock.Advance(7 * time.Hour)
	if got := found(h.key, "deployments are never rolled back"); slices.Contains(got, address) {
		t.Errorf("what was removed is found: %q", got)
	}
}

// slackMessage is one, this many seconds after the first.
func slackMessage(seconds int, text string) slacktest.Message {
	return slacktest.Message{Type: "message", User: "U1", Text: text, TS: fmt.Sprintf("%d.000100", 1780000000+seconds)}
}

// TestAFailingSlackFileHoldsUpNoMessage: the channel goes on without it after its second failure and says so. Each later sync tries it
// again, also when its message is long behind, and reads it when it can be downloaded.
func TestAFailingSlackFileHoldsUpNoMessage(t *testing.T) {
	t.Parallel()
	server := slacktest.New(t)
	pdf := func(id string) []slacktest.File {
		return []slacktest.File{server.Attach(id, id+".pdf", "application/pdf", []byte("%PDF-1.7\nText of "+id))}
	}
	const day = 24 * 60 * 60
	first := slackMessage(0, "First")
	first.ThreadTS, first.LatestReply, first.ReplyCount, first.Files = first.TS, slackMessage(10, "").TS, 1, pdf("F1")
	reply := slackMessage(10, "Reply")
	reply.ThreadTS, reply.Files = first.TS, pdf("F2")
	channel := &slacktest.Channel{ID: "C0000000001", Name: "ops", Messages: []slacktest.Message{first, slackMessage(20, "Second")},
		Replies: map[string][]slacktest.Message{first.TS: {reply}}}
	server.Channels[channel.ID] = channel
	server.Broken = true
	h := newHouse(t, server.Server)
	id := h.connect("slack", map[string]any{"channels": []string{channel.ID}, "botToken": slacktest.Token})
	files := []string{"https://slack.com/archives/C0000000001/p1780000000000100?file=F1", "https://slack.com/archives/C0000000001/p1780000010000100?file=F2"}
	messages := []string{"https://slack.com/archives/C0000000001/p1780000000000100", "https://slack.com/archives/C0000000001/p1780000010000100", "https://slack.com/archives/C0000000001/p1780000020000100",
		"https://slack.com/archives/C0000000001/p1780864000000100"}
	for n, tt := range []struct {
		change          func()
		messages, files int
		code, detail    string
	}{
		{func() {}, 2, 0, source.Unreadable, "Slack failed with status 500"},
		{func() {}, 3, 0, source.ItemRejected, "could not be downloaded"},
		{func() { channel.Messages = append(channel.Messages, slackMessage(10*day, "Third")) }, 4, 0, source.ItemRejected, "could not be downloaded"},
		{func() { server.Failing = "conversations.replies" }, 4, 0, source.ItemRejected, "does not return its message"},
		{func() {
			channel.Messages = append(channel.Messages, slackMessage(20*day, "Fourth"))
			server.Broken, server.Failing = false, ""
		}, 4, 2, "", ""},
	} {
		server.Change(tt.change)
		h.clock.Advance(16 * time.Minute)
		if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
			t.Fatal(err)
		}
		if err := h.local.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		shown, err := h.local.SyncedSources(t.Context(), h.team)
		if err != nil {
			t.Fatal(err)
		}
		if e := shown[0].LastError; e == nil && tt.code != "" || e != nil && (e.Code != tt.code || !strings.Contains(e.Detail, tt.detail)) {
			t.Errorf("%d: the source shows %+v", n, e)
		}
		if m, f := len(h.texts(messages)), len(h.texts(files)); m != tt.messages || f != tt.files {
			t.Errorf("%d: %d messages and %d files are stored", n, m, f)
		}
	}
	server.Requests()
	h.clock.Advance(16 * time.Minute)
	if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
		t.Fatal(err)
	}
	if asked := server.Requests(); slices.Contains(asked, "conversations.replies") {
		t.Errorf("when nothing fails, asked %q", asked)
	}
}
