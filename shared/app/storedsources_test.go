package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"docent/shared/source"
	"docent/shared/storedtest"
)

// storedSearched are the providers of which an item of each source type is searched for.
var storedSearched = []source.ProviderName{"github", "jira", "slack"}

// storedSpaces has an item of each source type, with a word that nothing else contains.
var storedSpaces = map[string]string{"code": "func kingfisher()", "pull_request": "Teach the cormorant to dive", "issue": "The albatross crashes on landing",
	"documentation": "The puffin nests in burrows", "message": "Who has seen the flamingo"}

// importOf is an import of one item of each source type, or of the one that only names.
func importOf(provider, only string) []byte {
	var lines strings.Builder
	for kind, body := range storedSpaces {
		if only != "" && kind != only {
			continue
		}
		line := map[string]any{"uri": "https://" + provider + ".test/" + kind, "title": provider + " " + kind, "body": body + " of " + provider + ".",
			"sourceType": kind, "author": "ada", "project": "acme/api", "createdAt": "2026-09-01T08:00:00Z", "updatedAt": "2026-09-02T08:00:00Z"}
		if kind == "issue" || kind == "pull_request" {
			line["number"], line["state"], line["labels"], line["assignees"] = "7", "closed", []string{"bug", "red"}, []string{"grace"}
			line["closedAt"] = "2026-09-03T08:00:00Z"
		}
		encoded, err := json.Marshal(line)
		if err != nil {
			panic(err) // texts always encode
		}
		lines.Write(append(encoded, '\n'))
	}
	return []byte(lines.String())
}

func (f *filling) fillSources() {
	f.t.Helper()
	settings := map[source.ProviderName]any{
		"github": map[string]any{"repositories": []string{"acme/api", "acme/slow"}, "accessToken": "not-a-token"},
		"gitlab": map[string]any{"projects": []string{"acme/api"}, "accessToken": "not-a-token"},
		"slack":  map[string]any{"signingSecret": "slack-signs"},
		"web":    map[string]any{"urls": []string{"https://crash.test/"}},
	}
	for _, provider := range Providers() {
		p := provider.Name
		body := map[string]any{"provider": p, "name": "The " + string(p)}
		if s := settings[p]; s != nil {
			body["settings"] = s
		}
		var made struct{ ID, WebhookSecret string }
		decodeStored(f.t, f.must(201, f.admin, "POST", "/data-sources", body), &made)
		f.m.IDs[string(p)] = made.ID
		if p == "github" {
			f.m.Signs[string(p)] = made.WebhookSecret
		}
		only := "issue"
		if slices.Contains(storedSearched, p) {
			only = ""
		}
		f.must(200, f.admin, "POST", "/data-sources/"+made.ID+"/items", importOf(string(p), only), "Content-Type", "application/x-ndjson")
	}
	f.m.Signs["slack"] = "slack-signs"
	for _, kind := range []string{"opened", "deleted"} {
		f.deliver(f.m, 1, kind)
	}
	f.deliver(f.m, 2, "opened")
	f.slack(f.m, "The toucan said hello.")
	for _, name := range storedQueues[:3] {
		f.drain(name)
	}
}

// leaveSyncs makes the first syncs: one will continue in an hour, one was stopped while another
// was requested.
func (f *filling) leaveSyncs() {
	f.t.Helper()
	ctx := context.WithValue(f.t.Context(), storedAsk{}, func() {
		if err := f.sources.SyncSoon(f.t.Context(), f.teamID, f.m.IDs["web"]); err != nil {
			f.t.Error(err)
		}
	})
	if _, err := f.syncing.Sync(ctx, f.teamID, f.m.IDs["github"], nil); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.syncing.Sync(ctx, f.teamID, f.m.IDs["web"], nil); err == nil {
		f.t.Fatal("the sync was not stopped")
	}
	// A source is paused whose settings were changed since its last sync.
	var made struct{ ID string }
	decodeStored(f.t, f.must(201, f.admin, "POST", "/data-sources", map[string]any{"provider": "github", "name": "Paused",
		"settings": map[string]any{"repositories": []string{"acme/before"}}}), &made)
	f.m.IDs["paused"] = made.ID
	f.must(200, f.admin, "PATCH", "/data-sources/"+made.ID, map[string]any{"paused": true, "settings": map[string]any{"repositories": []string{"acme/after"}}})
}

func hexHMAC(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// deliver sends a signed delivery of GitHub about an issue.
func (in *installation) deliver(m *storedtest.Manifest, issue int, action string) {
	in.t.Helper()
	body := fmt.Sprintf(`{"action":%q,"repository":{"full_name":"acme/api"},"issue":{"html_url":"https://github.test/acme/api/issues/%d","number":%d,`+
		`"title":"Delivered %d","body":"The pangolin was delivered: %s.","state":"open","user":{"login":"ada"},"created_at":"2026-09-01T00:00:00Z","updated_at":"2026-09-07T09:00:00Z"}}`,
		strings.Fields(action)[0], issue, issue, issue, action)
	in.must(202, "", "POST", "/webhooks/github/"+m.IDs["github"], []byte(body), "X-GitHub-Event", "issues",
		"X-GitHub-Delivery", fmt.Sprintf("delivery-%d-%s", issue, strings.ReplaceAll(action, " ", "-")), "X-Hub-Signature-256", "sha256="+hexHMAC(m.Signs["github"], body))
}

// slack sends a signed event of Slack about a message.
func (in *installation) slack(m *storedtest.Manifest, text string) {
	in.t.Helper()
	at := strconv.FormatInt(in.clock.Now().Unix(), 10)
	body := fmt.Sprintf(`{"type":"event_callback","event_id":"event-%s","event":{"type":"message","channel":"C1","user":"U1","text":%q,"ts":"%s.000100"}}`, at, text, at)
	in.must(202, "", "POST", "/webhooks/slack/"+m.IDs["slack"], []byte(body), "X-Slack-Request-Timestamp", at,
		"X-Slack-Signature", "v0="+hexHMAC(m.Signs["slack"], "v0:"+at+":"+body))
}
