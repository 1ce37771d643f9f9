package connectors_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/connect/gitlab/gitlabtest"
	"docent/shared/connect/slack/slacktest"
)

// TestALateEventOfAChannelThatIsPrivateNowShowsNothing: Slack repeats events for hours, and each says that the channel was public.
func TestALateEventOfAChannelThatIsPrivateNowShowsNothing(t *testing.T) {
	t.Parallel()
	const channel, ts, uri = "C0000000001", "1780000000.000100", "https://slack.com/archives/C0000000001/p1780000000000100"
	for name, tt := range map[string]struct {
		change func(*slacktest.Channel)
		public bool // it stays
		kept   bool // a team key reads the message
	}{
		"public":                            {func(*slacktest.Channel) {}, true, true},
		"private":                           {func(c *slacktest.Channel) { c.Private = true }, false, true},
		"private, and the app is not in it": {func(c *slacktest.Channel) { c.Private, c.Member = true, false }, false, false},
	} {
		for _, chosen := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", chosen ", chosen), func(t *testing.T) {
				t.Parallel()
				s := slacktest.New(t)
				c := &slacktest.Channel{ID: channel, Name: "ops", Members: []string{"U2"}}
				c.Messages = []slacktest.Message{{Type: "message", User: "U2", Text: "The salary of Ben is high.", TS: ts}}
				s.Channels[channel], s.Emails["U2"] = c, "ben@acme.test"
				h := newHouse(t, s.Server)
				settings := map[string]any{"botToken": slacktest.Token, "signingSecret": "signing-secret"}
				if chosen {
					settings["channels"] = []string{channel}
				}
				id := h.connect("slack", settings)
				sync := func() {
					t.Helper()
					h.clock.Advance(time.Hour)
					if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
						t.Fatal(err)
					}
				}
				reads := func(key string) bool {
					t.Helper()
					var got struct{ Results []struct{ Error any } }
					h.call(key, "POST", "/context/get", map[string]any{"urls": []string{uri}}, &got)
					return got.Results[0].Error == nil
				}
				sync()
				if !reads(h.admin) {
					t.Fatal("the message of a public channel is not there")
				}
				tt.change(c)
				sync()
				body := `{"type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"` + channel +
					`","channel_type":"channel","user":"U2","text":"The salary of Ben is high.","ts":"` + ts + `"}}`
				stamp := strconv.FormatInt(h.clock.Now().Unix(), 10)
				mac := hmac.New(sha256.New, []byte("signing-secret"))
				mac.Write([]byte("v0:" + stamp + ":" + body))
				r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/webhooks/slack/"+id, strings.NewReader(body))
				r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
				r.Header.Set("X-Slack-Request-Timestamp", stamp)
				w := httptest.NewRecorder()
				h.local.Handler("https://docent.test/v1").ServeHTTP(w, r)
				if w.Code != 202 && w.Code != 200 {
					t.Fatalf("the event: %d %s", w.Code, w.Body)
				}
				for range 2 {
					if reads(h.admin) != tt.public {
						t.Errorf("who is not in the channel reads it: %t", !tt.public)
					}
					if reads(h.key) != tt.kept {
						t.Errorf("it is stored: %t", !tt.kept)
					}
					sync()
				}
			})
		}
	}
}

// TestWhoMayNoLongerReadAChannelReadsNothingAtOnce, however long Slack takes to show its history again.
func TestWhoMayNoLongerReadAChannelReadsNothingAtOnce(t *testing.T) {
	t.Parallel()
	const channel = "C0000000001"
	for name, tt := range map[string]struct {
		private bool // before
		change  func(*slacktest.Channel)
		later   time.Duration
	}{
		"it becomes private":             {false, func(c *slacktest.Channel) { c.Private, c.Members = true, []string{"U2"} }, time.Hour},
		"a member leaves":                {true, func(c *slacktest.Channel) { c.Members = []string{"U2"} }, time.Hour},
		"a member leaves at a full scan": {true, func(c *slacktest.Channel) { c.Members = []string{"U2"} }, 8 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slacktest.New(t)
			c := &slacktest.Channel{ID: channel, Name: "ops", Members: []string{"U1", "U2"}, Private: tt.private, Member: tt.private}
			var uris []string
			for n := range 5 {
				c.Messages = append(c.Messages, slacktest.Message{Type: "message", User: "U2", Text: "The salary of Ben is high.", TS: fmt.Sprintf("178000000%d.000100", n)})
				uris = append(uris, fmt.Sprintf("https://slack.com/archives/%s/p178000000%d000100", channel, n))
			}
			s.Channels[channel], s.Emails["U1"], s.Emails["U2"] = c, "ada@acme.test", "ben@acme.test"
			h := newHouse(t, s.Server)
			id := h.connect("slack", map[string]any{"botToken": slacktest.Token, "channels": []string{channel}})
			read := func(key string) (n int) {
				t.Helper()
				var got struct{ Results []struct{ Error any } }
				h.call(key, "POST", "/context/get", map[string]any{"urls": uris}, &got)
				for _, r := range got.Results {
					if r.Error == nil {
						n++
					}
				}
				return n
			}
			sync := func() {
				t.Helper()
				if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
					t.Fatal(err)
				}
			}
			sync()
			if n := read(h.admin); n != 5 {
				t.Fatalf("before, %d are read", n)
			}
			h.clock.Advance(tt.later)
			s.Change(func() { tt.change(c); s.Limited = "conversations.history" })
			sync()
			if mine, all := read(h.admin), read(h.key); mine != 0 || all != 5 {
				t.Errorf("who may not reads %d, a team key %d", mine, all)
			}
			h.clock.Advance(2 * time.Hour)
			s.Change(func() { s.Limited, c.Members = "", []string{"U1", "U2"} })
			sync()
			if n := read(h.admin); n != 5 {
				t.Errorf("back in the channel, %d are read", n)
			}
		})
	}
}

// TestAProjectThatIsNotShownAnyMoreIsReadByNobody: it was public, and nobody knows who may read it now.
func TestAProjectThatIsNotShownAnyMoreIsReadByNobody(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]int{"members": 0, "source": 1} {
		s := gitlabtest.New(t)
		put := func(visibility string) {
			s.Put("acme/api", func(p *gitlabtest.Project) {
				p.Visibility, p.Issues = visibility, []gitlabtest.Record{gitlabtest.NewIssue(1, "Salaries")}
			})
		}
		put("public")
		h := newHouse(t, s.Server)
		id := h.connect("gitlab", map[string]any{"projects": []string{"acme/api"}, "include": []string{"issues"}, "baseUrl": s.URL, "access": by})
		found := func(key string) int {
			var got struct{ Sources []struct{ URL string } }
			h.call(key, "POST", "/context/search", map[string]any{"query": "salaries"}, &got)
			return len(got.Sources)
		}
		sync := func() {
			t.Helper()
			if _, err := h.local.SyncSource(t.Context(), h.team, id, nil); err != nil {
				t.Fatal(err)
			}
			h.clock.Advance(20 * time.Minute)
		}
		sync()
		if n := found(h.admin); n != 1 {
			t.Fatalf("%s: while it is public, %d are found", by, n)
		}
		put("private")
		for range 5 {
			sync()
		}
		if mine, all := found(h.admin), found(h.key); mine != want || all != 1 {
			t.Errorf("%s: while it is private, a member finds %d, a team key %d", by, mine, all)
		}
		put("public")
		sync()
		if n := found(h.admin); n != 1 {
			t.Errorf("%s: when it is public again, %d are found", by, n)
		}
	}
}
