package httpapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func hmacOf(secret, message string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// githubCall is a signed delivery.
func githubCall(id, secret, event, delivery, body string) call {
	return call{"POST", "/webhooks/github/" + id, "", body, map[string]string{
		"X-Hub-Signature-256": "sha256=" + hmacOf(secret, body), "X-GitHub-Event": event, "X-GitHub-Delivery": delivery}}
}

// issueEvent returns the payload of an issue on a day of May.
func issueEvent(action string, day int, title, more string) string {
	return fmt.Sprintf(`{"action":%q,"repository":{"full_name":"acme/api"},"issue":{"html_url":"https://tracker.test/issues/1","number":1,
		"title":%q,"body":"It fails.","state":"open","user":{"login":"ada"},"assignees":[{"login":"grace"}],"labels":[{"name":"bug"}],
		"created_at":"2026-05-01T00:00:00Z","updated_at":"2026-05-%02dT00:00:00Z","closed_at":null%s}}`, action, title, day, more)
}

func (a *api) github(x tenant) (id, secret string) {
	a.t.Helper()
	id, reply := a.connect(x, "github", map[string]any{"repositories": []string{"acme/api"}})
	return id, reply.text(a.t, "webhookSecret")
}

// onlyIssue returns the title of the one issue, "" if there is none.
func (a *api) onlyIssue(x tenant) string {
	a.t.Helper()
	var body struct{ Sources []struct{ Title string } }
	a.query(x.key, "issues", map[string]any{"query": "all issues"}).want(a.t, 200).json(a.t, &body)
	switch len(body.Sources) {
	case 0:
		return ""
	case 1:
		return body.Sources[0].Title
	default:
		a.t.Fatalf("%d issues", len(body.Sources))
		return ""
	}
}

func TestGitHubDeliveriesInAnyOrder(t *testing.T) {
	t.Parallel()
	edits := func(day int) string { return issueEvent("edited", day, fmt.Sprintf("Day %d", day), "") }
	for _, tt := range []struct {
		name   string
		bodies []string
		want   string
	}{
		{"in order", []string{issueEvent("opened", 1, "Day 1", ""), edits(2)}, "Day 2"},
		{"out of order", []string{edits(3), issueEvent("opened", 1, "Day 1", ""), edits(2)}, "Day 3"},
		{"removed", []string{edits(1), issueEvent("deleted", 2, "Day 2", "")}, ""},
		{"removed, then an older change", []string{issueEvent("deleted", 4, "", ""), edits(3)}, ""},
		{"an older removal", []string{edits(5), issueEvent("deleted", 4, "", "")}, "Day 5"},
		{"changed after its removal", []string{issueEvent("transferred", 4, "", ""), edits(5)}, "Day 5"},
		{"twice", []string{edits(2), edits(2)}, "Day 2"},
		{"another repository", []string{strings.Replace(edits(2), "acme/api", "acme/other", 1)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			acme := a.newTenant("acme")
			id, secret := a.github(acme)
			for i, body := range tt.bodies {
				if reply := a.do(githubCall(id, secret, "issues", strconv.Itoa(i), body)).want(t, 202); len(reply.body) != 0 {
					t.Errorf("a body: %s", reply.body)
				}
			}
			if got := a.onlyIssue(acme); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestGitHubItems(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, secret := a.github(acme)
	pull := `{"action":"closed","repository":{"full_name":"Acme/API"},"pull_request":{"html_url":"https://tracker.test/pulls/7","number":7,"title":"Fix it",
		"body":null,"state":"closed","user":{"login":"ada"},"created_at":"2026-05-01T00:00:00Z","updated_at":"2026-05-03T00:00:00Z",
		"closed_at":"2026-05-03T00:00:00Z","merged_at":"2026-05-03T00:00:00Z"}}`
	comment := `{"action":"created","repository":{"full_name":"acme/api"},"issue":{"number":1,"title":"Login fails","html_url":"https://tracker.test/issues/1"},
		"comment":{"html_url":"https://tracker.test/issues/1#c1","body":"Clear the cookies.","user":{"login":"grace"},"created_at":"2026-05-04T00:00:00Z","updated_at":"2026-05-04T00:00:00Z"}}`
	review := `{"action":"submitted","repository":{"full_name":"acme/api"},"pull_request":{"number":7,"title":"Fix it","html_url":"https://tracker.test/pulls/7"},
		"review":{"html_url":"https://tracker.test/pulls/7#r1","body":"Expire the session first.","state":"changes_requested","user":{"login":"grace"},"submitted_at":"2026-05-04T00:00:00Z"}}`
	for event, body := range map[string]string{"issues": issueEvent("opened", 2, "Login fails", ""), "pull_request": pull, "issue_comment": comment, "pull_request_review": review,
		"ping": `{"zen":"Keep it logically awesome."}`, "push": `{"ref":"refs/heads/main","repository":{"full_name":"acme/api"}}`} {
		a.do(githubCall(id, secret, event, "d-"+event, body)).want(t, 202)
	}
	a.drain()
	if got := a.query(acme.key, "prs", map[string]any{"query": "PRs merged in May by @ada"}).found(t); !slices.Equal(got, []string{"pulls/7"}) {
		t.Errorf("pull requests: %v", got)
	}
	if got := a.onlyIssue(acme); got != "Login fails" { // the comment is none
		t.Errorf("issues: %q", got)
	}
	if got := a.search(acme.key, "issues", "clear the cookies").found(t); !slices.Equal(got, []string{"issues/1#c1"}) {
		t.Errorf("the comment: %v", got)
	}
	if got := a.search(acme.key, "prs", "expire the session").found(t); !slices.Equal(got, []string{"pulls/7#r1"}) {
		t.Errorf("the review: %v", got)
	}
	edited := strings.NewReplacer(`"submitted"`, `"edited"`, "Expire the session first.", " ", `"number":7`, `"number":7,"updated_at":"2026-05-05T00:00:00Z"`).Replace(review)
	a.do(githubCall(id, secret, "pull_request_review", "emptied", edited)).want(t, 202)
	a.drain()
	if got := a.search(acme.key, "prs", "expire the session").found(t); len(got) != 0 {
		t.Errorf("a review without its text: %v", got)
	}
	if list := a.do(call{"GET", "/data-sources", acme.key, nil, nil}); !strings.Contains(string(list.body), `"state":"ready"`) || !strings.Contains(string(list.body), `"lastSync":`) {
		t.Errorf("the data source: %s", list.body)
	}
	bad := strings.Replace(issueEvent("edited", 9, "Login fails", ""), `"It fails."`, `"b"`, 1)
	bad = strings.Replace(bad, "https://tracker.test/issues/1", "nowhere", 1)
	a.do(githubCall(id, secret, "issues", "bad", bad)).want(t, 202)
	if list := a.do(call{"GET", "/data-sources", acme.key, nil, nil}); !strings.Contains(string(list.body), `"state":"ready"`) || !strings.Contains(string(list.body), "item-rejected") {
		t.Errorf("an item that could not be taken does not show: %s", list.body)
	}
	a.do(githubCall(id, secret, "issues", "form", "payload=%7B%7D")).wantCode(t, 400, "invalid-request")
}

func TestWebhooksRaceToTheNewest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, secret := a.github(acme)
	var group sync.WaitGroup
	for day := 1; day <= 20; day++ {
		group.Go(func() {
			a.do(githubCall(id, secret, "issues", strconv.Itoa(day), issueEvent("edited", day, fmt.Sprintf("Day %d", day), ""))).want(t, 202)
		})
	}
	group.Wait()
	if got := a.onlyIssue(acme); got != "Day 20" {
		t.Errorf("got %q", got)
	}
}

func slackCall(id, secret string, at time.Time, body string) call {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return call{"POST", "/webhooks/slack/" + id, "", body, map[string]string{
		"X-Slack-Signature": "v0=" + hmacOf(secret, "v0:"+stamp+":"+body), "X-Slack-Request-Timestamp": stamp}}
}

func TestSlackEvents(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const secret = "slack-signing-secret"
	id, _ := a.connect(acme, "slack", map[string]any{"signingSecret": secret})
	send := func(event string) response {
		return a.do(slackCall(id, secret, a.clock.Now(), event))
	}
	if got := send(`{"type":"url_verification","challenge":"abc"}`).want(t, 200); string(got.body) != `{"challenge":"abc"}` {
		t.Errorf("challenge: %s", got.body)
	}
	event := func(n int, inner string) string {
		return fmt.Sprintf(`{"type":"event_callback","event_id":"Ev%d","event":{"type":"message","channel":"C1",%s}}`, n, inner)
	}
	for n, inner := range []string{
		`"user":"U1","text":"The <https://x.test/a|deploy runbook> moved &amp; grew","ts":"1779000000.000100"`,
		`"subtype":"message_changed","event_ts":"1779000300.000100","message":{"user":"U1","text":"The zeppelin runbook moved","ts":"1779000000.000100","edited":{"ts":"1779000200.000000"}}`,
		`"subtype":"message_changed","event_ts":"1779000100.000100","message":{"user":"U1","text":"older edit","ts":"1779000000.000100","edited":{"ts":"1779000050.000000"}}`,
		`"user":"U2","text":"Lunch is at noon","ts":"1779000001.000100"`,
		`"subtype":"message_deleted","deleted_ts":"1779000001.000100","event_ts":"1779000400.000100"`,
		`"user":"U2","text":"Lunch is at noon","ts":"1779000001.000100","x":1`,
		`"subtype":"channel_join","user":"U3","text":"U3 has joined","ts":"1779000002.000100"`,
		`"user":"U1","text":"","ts":"1779000003.000100"`,
		`"user":"U1","text":"no time","ts":"soon"`,
	} {
		send(event(n, inner)).want(t, 202)
	}
	a.drain()
	var body struct {
		Sources []struct{ Content, Title, URL, Provider string }
	}
	a.search(acme.key, "messages", "zeppelin runbook").json(t, &body)
	if len(body.Sources) != 1 || fmt.Sprint(body.Sources[0]) != "{The zeppelin runbook moved The zeppelin runbook moved https://slack.com/archives/C1/p1779000000000100 slack}" {
		t.Errorf("messages: %+v", body.Sources)
	}
	for _, gone := range []string{"lunch noon", "joined", "older edit"} {
		a.search(acme.key, "messages", gone).json(t, &body)
		for _, s := range body.Sources {
			if !strings.Contains(s.Content, "zeppelin") {
				t.Errorf("%s: %+v", gone, s)
			}
		}
	}
	for _, off := range []time.Duration{-5*time.Minute - time.Second, 5*time.Minute + time.Second} {
		a.refused(slackCall(id, secret, a.clock.Now().Add(off), `{}`), 401, "unauthorized")
	}
	a.do(slackCall(id, secret, a.clock.Now().Add(-5*time.Minute), `{}`)).want(t, 202)
}

func TestSlackFilesAreRemovedWithTheirMessages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const secret = "slack-signing-secret"
	id, _ := a.connect(acme, "slack", map[string]any{"signingSecret": secret})
	for _, file := range []string{"p1779000000000100?file=F1", "p1779000000000100?file=F2", "p1779000001000100?file=F3"} {
		a.do(call{"POST", "/data-sources/" + id + "/items", acme.pat, `{"uri":"https://slack.com/archives/C1/` + file + `","title":"Plan","body":"The zeppelin plan.",` +
			`"sourceType":"message","updatedAt":"2026-05-01T00:00:00Z"}`, map[string]string{"Content-Type": "application/x-ndjson"}}).want(t, 200)
	}
	for n, inner := range []string{
		`"subtype":"message_changed","event_ts":"1779000300.000100","message":{"user":"U1","text":"Without the second zeppelin","ts":"1779000000.000100",
			"files":[{"id":"F1","mode":"hosted"},{"id":"F2","mode":"tombstone"}]}`,
		`"subtype":"message_deleted","deleted_ts":"1779000001.000100","event_ts":"1779000400.000100","previous_message":{"files":[{"id":"F3","mode":"hosted"}]}`,
	} {
		a.do(slackCall(id, secret, a.clock.Now(), fmt.Sprintf(`{"type":"event_callback","event_id":"Ev%d","event":{"type":"message","channel":"C1",%s}}`, n, inner))).want(t, 202)
	}
	a.drain()
	var body struct{ Sources []struct{ URL string } }
	a.search(acme.key, "messages", "zeppelin").json(t, &body)
	var left []string
	for _, s := range body.Sources {
		left = append(left, strings.TrimPrefix(s.URL, "https://slack.com/archives/C1/"))
	}
	slices.Sort(left)
	if want := []string{"p1779000000000100", "p1779000000000100?file=F1"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// TestUnsignedDeliveriesAreAllTheSame: whatever is wrong, a sender without the secret gets the
// same reply, and nothing changes.
func TestUnsignedDeliveriesAreAllTheSame(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, secret := a.github(acme)
	const signing = "slack-signing-secret"
	slack, _ := a.connect(acme, "slack", map[string]any{"signingSecret": signing})
	jira, _ := a.connect(acme, "jira", nil)
	wiki := a.newCollection(acme.key, "wiki")
	gone, goneSecret := a.github(acme)
	a.do(call{"DELETE", "/data-sources/" + gone, acme.pat, nil, nil}).want(t, 204)
	body := issueEvent("opened", 1, "Forged", "")
	good := githubCall(id, secret, "issues", "d", body)
	with := func(c call, header, value string) call {
		headers := map[string]string{}
		for k, v := range c.header {
			headers[k] = v
		}
		if headers[header] = value; value == "" {
			delete(headers, header)
		}
		c.header = headers
		return c
	}
	at := func(path string) call { c := good; c.path = path; return c }
	other := good
	other.body = body + " "
	empty := good
	empty.body = nil
	now := a.clock.Now()
	replies := map[string]bool{}
	for name, c := range map[string]call{
		"no signature": with(good, "X-Hub-Signature-256", ""), "no prefix": with(good, "X-Hub-Signature-256", hmacOf(secret, body)),
		"SHA-1": with(good, "X-Hub-Signature-256", "sha1="+hmacOf(secret, body)), "another secret": githubCall(id, "guess", "issues", "d", body),
		"the empty secret": githubCall(id, "", "issues", "d", body), "cut": with(good, "X-Hub-Signature-256", "sha256="+hmacOf(secret, body)[:62]),
		"no hex": with(good, "X-Hub-Signature-256", "sha256="+strings.Repeat("z", 64)), "another body": other, "no body": empty, "no JSON": githubCall(id, "guess", "issues", "d", "{"),
		"unknown source": at("/webhooks/github/" + unknownID), "no id": at("/webhooks/github/nonsense"), "a collection": at("/webhooks/github/" + wiki),
		"another provider": at("/webhooks/github/" + slack), "no webhook": at("/webhooks/github/" + jira), "deleted": githubCall(gone, goneSecret, "issues", "d", body),
		"a gzip coding": with(githubCall(id, "guess", "issues", "d", body), "Content-Encoding", "gzip"), "a media type": with(githubCall(id, "guess", "issues", "d", body), "Content-Type", "text/html"),
		"with a key":          with(githubCall(id, "guess", "issues", "d", body), "Authorization", "Bearer "+acme.pat),
		"slack, no signature": with(slackCall(slack, signing, now, body), "X-Slack-Signature", ""), "slack, no time": with(slackCall(slack, signing, now, body), "X-Slack-Request-Timestamp", ""),
		"slack, another time": with(slackCall(slack, signing, now, body), "X-Slack-Request-Timestamp", "1"), "slack, another secret": slackCall(slack, "guess", now, body),
		"slack, of github": slackCall(id, signing, now, body), "slack, unknown": slackCall(unknownID, signing, now, body), "slack, the check": slackCall(slack, "guess", now, `{"type":"url_verification","challenge":"abc"}`),
	} {
		t.Run(name, func(t *testing.T) {
			reply := a.in(t).refused(c, 401, "unauthorized")
			replies[shown(reply)] = true
		})
	}
	if len(replies) != 1 {
		t.Errorf("%d different replies: %v", len(replies), replies)
	}
	if got := a.onlyIssue(acme); got != "" {
		t.Errorf("a forged issue: %s", got)
	}
	huge := good
	huge.body = strings.Repeat(" ", 10<<20+1)
	a.refused(huge, 413, "request-too-large")
	for _, c := range []call{{"GET", "/webhooks/github/" + id, "", nil, nil}, {"POST", "/webhooks/gitlab/" + id, "", body, nil}, {"POST", "/webhooks", "", body, nil}, {"POST", "//webhooks/github/" + id, "", body, nil}} {
		a.refused(c, 401, "unauthorized")
	}
	a.refused(call{"GET", "/webhooks/github/" + id, acme.key, nil, nil}, 405, "method-not-allowed")
	if strings.Contains(a.log.String(), secret) {
		t.Error("the log contains a secret")
	}
}

// TestRejectedDeliveriesAreRecorded: at most once per minute for each known source. An unknown
// source belongs to no team.
func TestRejectedDeliveriesAreRecorded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	id, _ := a.github(acme)
	slack, _ := a.connect(acme, "slack", map[string]any{"signingSecret": "slack-signing-secret"})
	const forged = `{"forged":"Birnenmost"}`
	for n := range 5 {
		a.do(githubCall(id, "guess", "issues", strconv.Itoa(n), forged)).want(t, 401)
		a.do(slackCall(slack, "guess", a.clock.Now(), forged)).want(t, 401)
		a.do(githubCall(unknownID, "guess", "issues", "d", forged)).want(t, 401)
	}
	reply := a.do(call{"GET", "/security-events?eventType=data_source.webhook_rejected", acme.key, nil, nil}).want(t, 200)
	var page struct {
		Events []struct {
			Description string
			Outcome     struct {
				Result, Reason string
				StatusCode     int
			}
			Actor struct {
				Type       string
				Credential struct{ Type string }
			}
			Targets []struct{ Type, ID string }
			Client  struct{ IP string }
			Request struct{ Method, Path string }
		}
	}
	reply.json(t, &page)
	if len(page.Events) != 2 || strings.Contains(string(reply.body), "Birnenmost") {
		t.Fatalf("%s", reply.body)
	}
	for i, source := range []string{id, slack} {
		e := page.Events[i]
		if e.Targets[0].Type != "dataSource" || e.Targets[0].ID != source || e.Outcome.Result != "failure" || e.Outcome.StatusCode != 401 ||
			e.Actor.Credential.Type != "webhook_signature" || e.Client.IP == "" || e.Request.Method != "POST" || !strings.HasSuffix(e.Request.Path, source) ||
			e.Description != "A sender of webhooks was refused for a bad signature by the data source "+source {
			t.Errorf("%+v", e)
		}
	}
	a.clock.Advance(time.Minute)
	a.do(githubCall(id, "guess", "issues", "d", forged)).want(t, 401)
	if n := len(a.feed(acme.key, "&eventType=data_source.webhook_rejected").Events); n != 3 {
		t.Errorf("%d events a minute later", n)
	}
}
