package connectors_test

import (
	"slices"
	"testing"
	"time"

	"docent/shared/clocktest"
	"docent/shared/connect/atlassian/atlassiantest"
	"docent/shared/connect/confluence/confluencetest"
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
