package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/connect/slack"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/source"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const ops = "C0000000001"

// workspace is a server with a channel of five messages, one of them with three replies.
func workspace(t testing.TB) (*slacktest.Server, *slack.Connector, source.Access) {
	t.Helper()
	s := slacktest.New(t)
	c := &slacktest.Channel{ID: ops, Name: "ops", Replies: map[string][]slacktest.Message{}, Members: []string{"U1", "U2"}}
	for n := range 5 {
		c.Messages = append(c.Messages, message(n*1000, fmt.Sprintf("Message %d", n)))
	}
	s.Channels[ops] = c
	s.Emails["U1"], s.Emails["U2"] = "ada@acme.test", ""
	reply(c, 1, 1001, 1002, 1003)
	return s, &slack.Connector{HTTP: s.Fetcher().Client(0), Now: func() time.Time { return now }, Pause: func(context.Context, time.Duration) error { return nil }, Base: s.URL + "/api/", Files: s.URL + "/files/"},
		source.Access{Settings: source.NewSettings(map[string]any{"channels": []string{ops}}), Secrets: source.Secrets{"botToken": slacktest.Token}}
}

// message is one, this many seconds after the first.
func message(seconds int, text string) slacktest.Message {
	return slacktest.Message{Type: "message", User: "U1", Text: text, TS: fmt.Sprintf("%d.000100", 1780000000+seconds)}
}

// reply adds replies to the thread of a message.
func reply(c *slacktest.Channel, n int, seconds ...int) {
	first := &c.Messages[n]
	for _, at := range seconds {
		m := message(at, fmt.Sprintf("Reply %d", at))
		m.ThreadTS = first.TS
		c.Replies[first.TS] = append(c.Replies[first.TS], m)
		first.ThreadTS, first.LatestReply = first.TS, m.TS
		first.ReplyCount++
	}
}

// read reads the channel from a checkpoint and returns the titles of what it yields, each
// once, and the last page.
func read(t *testing.T, c *slack.Connector, a source.Access, at []byte) (titles []string, last source.SyncPage, err error) {
	t.Helper()
	for page, err := range c.Read(t.Context(), a, ops, at) {
		if err != nil {
			return titles, last, err
		}
		for _, i := range page.Items {
			if !slices.Contains(titles, i.Title) {
				titles = append(titles, i.Title)
			}
		}
		last = page
	}
	slices.Sort(titles)
	return titles, last, nil
}

var all = []string{"Message 0", "Message 1", "Message 2", "Message 3", "Message 4", "Reply 1001", "Reply 1002", "Reply 1003"}

func TestAChannelIsReadAndThenWhatChanged(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	titles, end, err := read(t, c, a, nil)
	if err != nil || !slices.Equal(titles, all) || !end.Last || !end.Exact {
		t.Fatalf("%q %+v %v", titles, end, err)
	}
	if asked := s.Requests(); asked[1] != "conversations.join" || len(asked) != 8 { // info, join, users, 3 of history, 2 of replies
		t.Errorf("asked %q", asked)
	}
	channel := s.Channels[ops]
	channel.Messages = append(channel.Messages, message(5000, "Message 5"))
	reply(channel, 1, 5001)
	titles, end, err = read(t, c, a, end.Checkpoint)
	if err != nil || !slices.Contains(titles, "Message 5") || !slices.Contains(titles, "Reply 5001") || slices.Contains(titles, "Reply 1001") || end.Exact {
		t.Errorf("%q %+v %v", titles, end, err)
	}
	channel.Messages = slices.DeleteFunc(channel.Messages, func(m slacktest.Message) bool { return m.TS < "1780004000" })
	s.Requests()
	if _, _, err := read(t, c, a, end.Checkpoint); err != nil {
		t.Error(err)
	}
	if asked := s.Requests(); !slices.Equal(asked, []string{"conversations.info", "conversations.history"}) {
		t.Errorf("without a change: %q", asked)
	}
}

// TestReadingContinuesAfterEachCall fails each call once, in two ways, and continues from
// the last checkpoint.
func TestReadingContinuesAfterEachCall(t *testing.T) {
	t.Parallel()
	kills := 0
	for at := 1; at <= 8; at++ {
		for status, limited := range map[int]bool{http.StatusTooManyRequests: true, http.StatusForbidden: false} {
			kills++
			t.Run(fmt.Sprint(at, " ", status), func(t *testing.T) {
				t.Parallel()
				s, c, a := workspace(t)
				s.Before = func(n int, w http.ResponseWriter) bool {
					if n != at {
						return false
					}
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(status)
					return true
				}
				first := map[string]bool{}
				var saved []byte
				var failed *source.SyncError
				for page, err := range c.Read(t.Context(), a, ops, nil) {
					if err != nil {
						if !errors.As(err, &failed) || failed.RetryAt.Equal(now.Add(time.Minute)) != limited {
							t.Errorf("failed: %v", err)
						}
						break
					}
					saved = page.Checkpoint
					for _, i := range page.Items {
						first[i.Title] = true
					}
				}
				done := len(s.Requests())
				s.Before = nil
				titles, end, err := read(t, c, a, saved)
				for _, title := range titles {
					first[title] = true
				}
				if failed == nil || err != nil || len(first) != len(all) || !end.Exact {
					t.Errorf("after %v: %d of %d, %v", failed, len(first), len(all), err)
				}
				if again := len(s.Requests()); saved != nil && done+again > 8+2 { // the failed one, and what Slack says about the channel
					t.Errorf("%d and %d requests", done, again)
				}
			})
		}
	}
	t.Logf("%d kills", kills)
}

// TestDeactivatedMembersAndBotsOfAPrivateChannelDoNotReadIt: Slack may still list the first as members, and always lists the bot that reads it.
func TestDeactivatedMembersAndBotsOfAPrivateChannelDoNotReadIt(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	s.Channels[ops].Private, s.Channels[ops].Member = true, true
	s.Channels[ops].Members = []string{"U1", "U2", "UDOCENT", "UOTHER"}
	s.Emails["U2"], s.Former = "bob@acme.test", []string{"U2"}
	s.Emails["UDOCENT"], s.Emails["UOTHER"], s.Bots = "", "bot@acme.test", []string{"UDOCENT", "UOTHER"}
	for page, err := range c.Read(t.Context(), a, ops, nil) {
		if err != nil || page.Notice != nil {
			t.Fatal(page.Notice, err)
		}
		for _, i := range page.Items {
			if i.Access == nil || !slices.Equal(i.Access.Users, []string{"ada@acme.test"}) {
				t.Errorf("%s: %+v", i.Title, i.Access)
			}
		}
	}
}

func TestPrivateChannelsCarryTheirMembers(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	s.Channels[ops].Private, s.Channels[ops].Member = true, true
	var end source.SyncPage
	for page, err := range c.Read(t.Context(), a, ops, nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			if i.Access == nil || !slices.Equal(i.Access.Users, []string{"ada@acme.test"}) || len(i.Access.Groups) != 0 {
				t.Errorf("%s: %+v", i.Title, i.Access)
			}
		}
		if end = page; page.Notice == nil || !strings.Contains(page.Notice.Detail, "users:read.email") {
			t.Errorf("notice %v", page.Notice)
		}
	}
	s.Channels[ops].Members = []string{"U2"}
	s.Emails["U2"] = "bob@acme.test"
	c = &slack.Connector{HTTP: c.HTTP, Now: c.Now, Pause: c.Pause, Base: c.Base, Files: c.Files}                             // that knows no users
	for _, at := range [][]byte{end.Checkpoint, []byte(`{"since":"1780003000.000100","name":"ops","private":false}`), nil} { // a member left; it was public; at a full scan
		var first source.SyncPage
		again := a
		again.Before = end.Checkpoint
		for page, err := range c.Read(t.Context(), again, ops, at) {
			if err != nil {
				t.Fatal(err)
			}
			first = page
			break
		}
		if first.Readers == nil || !slices.Equal(first.Readers.Users, []string{"bob@acme.test"}) || len(first.Items) > 0 || first.Last {
			t.Errorf("after %q: %+v", at, first)
		}
		var pages []source.SyncPage // after an interruption
		for page, err := range c.Read(t.Context(), a, ops, first.Checkpoint) {
			if err != nil {
				t.Fatal(err)
			}
			if pages = append(pages, page); (page.Readers != nil) != (len(pages) == 1) {
				t.Errorf("after %q, again: %+v", at, page)
			}
		}
		for page, err := range c.Read(t.Context(), a, ops, pages[1].Checkpoint) {
			if err != nil || page.Readers != nil {
				t.Errorf("after %q, then: %+v %v", at, page, err)
			}
		}
	}
	s.Emails["U2"] = ""
	c = &slack.Connector{HTTP: c.HTTP, Now: c.Now, Pause: c.Pause, Base: c.Base, Files: c.Files}
	s.Channels[ops].Private = false
	if _, _, err := read(t, c, a, end.Checkpoint); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("after it became public: %v", err)
	}
	s.Channels[ops].Private = true
	for page, err := range c.Read(t.Context(), a, ops, nil) {
		for _, i := range page.Items {
			if err != nil || i.Access == nil || len(i.Access.Users) != 0 {
				t.Errorf("of nobody known: %+v, %v", i.Access, err)
			}
		}
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*slacktest.Server, *source.Access)
		says    string
		pointer string // of the probe's field error
	}{
		"a bad token":            {func(_ *slacktest.Server, a *source.Access) { a.Secrets["botToken"] = "xoxb-other" }, "does not accept the bot token: invalid_auth", "/settings/botToken"},
		"no scope":               {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "channels:history" }, "lacks the scope channels:history", "/settings/botToken"},
		"no scope to name users": {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "users:read" }, "lacks the scope users:read", "/settings/botToken"},
		"no scope to join":       {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "channels:join" }, "not in the channel. Invite it, or add the scope channels:join", "/settings/channels/0"},
		"no such channel":        {func(s *slacktest.Server, _ *source.Access) { delete(s.Channels, ops) }, "no such channel", "/settings/channels/0"},
		"a private one":          {func(s *slacktest.Server, _ *source.Access) { s.Channels[ops].Private = true }, "not in the channel", "/settings/channels/0"},
		"an archived one":        {func(s *slacktest.Server, _ *source.Access) { s.Channels[ops].Archived = true }, "archived", "/settings/channels/0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, a := workspace(t)
			tt.change(s, &a)
			var failed *source.SyncError
			if _, _, err := read(t, c, a, nil); !errors.As(err, &failed) || !strings.Contains(failed.Detail, tt.says) {
				t.Errorf("read: %v", err)
			}
			var wrong *apierr.Error
			if err := slack.ProbeAt(t.Context(), s.URL+"/api/", s.Fetcher(), a); !errors.As(err, &wrong) || wrong.Fields[0].Pointer != tt.pointer || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("probe: %v", err)
			}
		})
	}
	s, _, a := workspace(t)
	if err := slack.ProbeAt(t.Context(), s.URL+"/api/", s.Fetcher(), a); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// TestADeletedMessageWithRepliesIsRemoved: Slack still lists one that has replies, as a message that it was deleted.
func TestADeletedMessageWithRepliesIsRemoved(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	first := &s.Channels[ops].Messages[1]
	first.Subtype, first.User, first.Text = "tombstone", "USLACKBOT", "This message was deleted."
	uri := "https://slack.com/archives/" + ops + "/p1780001000000100"
	var removed []string
	for page, err := range c.Read(t.Context(), a, ops, nil) {
		if err != nil {
			t.Fatal(err)
		}
		removed = append(removed, page.Removed...)
		if slices.ContainsFunc(page.Items, func(i source.Item) bool { return i.URI == uri }) {
			t.Error("it is an item")
		}
	}
	if !slices.Contains(removed, uri) {
		t.Errorf("removed %q", removed)
	}
	e, err := slack.Provider.Webhook.Read(t.Context(), source.Delivery{Body: []byte(`{"type":"event_callback","event_id":"E1","event":{"type":"message","subtype":"message_changed","channel":"` + ops +
		`","channel_type":"channel","event_ts":"1780009000.000100","message":{"type":"message","subtype":"tombstone","user":"USLACKBOT","text":"This message was deleted.","ts":"1780001000.000100"},` +
		`"previous_message":{"user":"U1","text":"Secret.","ts":"1780001000.000100","files":[{"id":"F1"}]}}}`)})
	if err != nil || e.Item != nil || !slices.Equal(e.Removed, []string{uri, uri + "?file=F1"}) || e.At.Unix() != 1780009000 {
		t.Errorf("the event is %+v, %v", e, err)
	}
}

// TestAReplyDuringASyncIsReadByTheNext: while older pages are read, a thread of the first page gets a reply, and then one of theirs.
func TestAReplyDuringASyncIsReadByTheNext(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	reply(s.Channels[ops], 3, 3001)
	s.Before = func(n int, _ http.ResponseWriter) bool {
		if n == 6 { // after info, join, history, users and the replies to message 3
			reply(s.Channels[ops], 3, 6000)
			reply(s.Channels[ops], 1, 6001)
		}
		return false
	}
	titles, end, err := read(t, c, a, nil)
	if err != nil || !slices.Contains(titles, "Reply 6001") || slices.Contains(titles, "Reply 6000") {
		t.Fatalf("%q, %v", titles, err)
	}
	if titles, _, err = read(t, c, a, end.Checkpoint); err != nil || !slices.Contains(titles, "Reply 6000") {
		t.Errorf("then %q, %v", titles, err)
	}
}

func TestAHiddenHistoryRemovesNothing(t *testing.T) {
	t.Parallel()
	s, c, a := workspace(t)
	s.Channels[ops].Limited = true
	if _, end, err := read(t, c, a, nil); err != nil || end.Exact {
		t.Errorf("%+v %v", end, err)
	}
}
