package slack_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/connect/slack"
	"docent/shared/connect/slack/slacktest"
	"docent/shared/source"
)

// everyChannel is a workspace of which no channel is chosen.
func everyChannel(t *testing.T) (*slacktest.Server, *slack.Connector, source.Access) {
	t.Helper()
	s, c, a := workspace(t)
	a.Settings = source.Settings{}
	return s, c, a
}

// listed reads the list from a checkpoint and returns the parts that it names.
func listed(t *testing.T, c *slack.Connector, a source.Access, at []byte) (parts []string, pages []source.SyncPage, err error) {
	t.Helper()
	for page, err := range c.Read(t.Context(), a, source.PartList, at) {
		if err != nil {
			return parts, pages, err
		}
		parts, pages = append(parts, page.Parts...), append(pages, page)
	}
	return parts, pages, nil
}

func TestWithoutChosenChannelsAllPublicOnesAreListed(t *testing.T) {
	t.Parallel()
	s, c, a := everyChannel(t)
	for id, channel := range map[string]slacktest.Channel{
		"C0000000002": {}, "C0000000003": {Archived: true}, "C0000000004": {Archived: true, Member: true}, "C0000000005": {Private: true, Member: true}, "C0000000006": {},
	} {
		channel.ID, channel.Name = id, "channel-"+id
		s.Channels[id] = &channel
	}
	for _, empty := range []any{nil, []string{}} {
		a.Settings = source.NewSettings(map[string]any{"channels": empty})
		if parts := c.Parts(a.Settings); !slices.Equal(parts, []string{source.PartList}) {
			t.Errorf("parts %q", parts)
		}
	}
	want := []string{ops, "C0000000002", "C0000000004", "C0000000006"}
	parts, pages, err := listed(t, c, a, nil)
	if err != nil || !slices.Equal(parts, want) || len(pages) != 3 || !pages[2].Last || pages[2].Exact {
		t.Fatalf("%q %+v %v", parts, pages, err)
	}
	if rest, _, err := listed(t, c, a, pages[0].Checkpoint); err != nil || !slices.Equal(rest, want[2:]) {
		t.Errorf("after the first page: %q %v", rest, err)
	}
	if again, _, err := listed(t, c, a, pages[2].Checkpoint); err != nil || !slices.Equal(again, want) {
		t.Errorf("the next sync: %q %v", again, err)
	}
	if _, _, err := listed(t, c, a, []byte(`{"cursor":"expired"}`)); !errors.Is(err, source.ErrFullScanNeeded) {
		t.Errorf("an expired cursor: %v", err)
	}
	s.Before = func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	var failed *source.SyncError
	if _, _, err := listed(t, c, a, nil); !errors.As(err, &failed) || failed.Code != source.RateLimited || failed.RetryAt.Sub(now).Seconds() != 90 {
		t.Errorf("limited: %v", err)
	}
	if !c.PartContains(a.Settings, source.PartList, "https://slack.com/archives/C0000000009/p1") || c.PartContains(a.Settings, source.PartList, "https://acme.test/C0000000009/p1") {
		t.Error("the list does not contain the items of all channels")
	}
}

// TestWhatBecomesOfAListedChannel: after it was read, something happens to it.
func TestWhatBecomesOfAListedChannel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*slacktest.Server, *slacktest.Channel)
		gone   bool
		notice string
		chosen string // the failure of a chosen channel; empty: none
	}{
		"nothing": {change: func(*slacktest.Server, *slacktest.Channel) {}},
		"deleted": {change: func(s *slacktest.Server, _ *slacktest.Channel) { delete(s.Channels, ops) }, gone: true, chosen: source.NotThere},
		"private": {change: func(_ *slacktest.Server, c *slacktest.Channel) { c.Private = true }},
		"private, and the app is not in it": {change: func(_ *slacktest.Server, c *slacktest.Channel) { c.Private, c.Member = true, false },
			gone: true, chosen: source.Unauthorized},
		"private, and the app may not see it":       {change: func(s *slacktest.Server, c *slacktest.Channel) { c.Private, s.Lacks = true, "groups:read" }, gone: true, chosen: source.Unauthorized},
		"private, and the app may not read it":      {change: func(s *slacktest.Server, c *slacktest.Channel) { c.Private, s.Lacks = true, "groups:history" }, gone: true, chosen: source.Unauthorized},
		"archived":                                  {change: func(_ *slacktest.Server, c *slacktest.Channel) { c.Archived = true }},
		"archived, and the app is not in it":        {change: func(_ *slacktest.Server, c *slacktest.Channel) { c.Archived, c.Member = true, false }, chosen: source.Unauthorized},
		"the app was removed":                       {change: func(_ *slacktest.Server, c *slacktest.Channel) { c.Member = false }},
		"the app was removed and may not join":      {change: func(s *slacktest.Server, c *slacktest.Channel) { c.Member, s.Lacks = false, "channels:join" }, notice: "ops is not read. The app is not in the channel. Invite it, or add the scope channels:join", chosen: source.Unauthorized},
		"the app lacks a scope that it always need": {change: func(s *slacktest.Server, _ *slacktest.Channel) { s.Lacks = "channels:history" }, chosen: source.Unauthorized},
		"the app lacks a scope of those of all kinds": {change: func(s *slacktest.Server, _ *slacktest.Channel) {
			s.Lacks, s.Needed = "channels:history", "channels:history,groups:history,mpim:history,im:history"
		}, chosen: source.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, a := workspace(t)
			s.Emails["U2"] = "bob@acme.test"
			chosen := a
			a.Settings = source.Settings{}
			_, end, err := read(t, c, a, nil)
			if err != nil || !end.Exact {
				t.Fatalf("first: %+v %v", end, err)
			}
			tt.change(s, s.Channels[ops])
			_, next, err := read(t, c, a, end.Checkpoint)
			var failed *source.SyncError
			switch lacking := strings.HasPrefix(name, "the app lacks a scope"); {
			case errors.Is(err, source.ErrPartGone) != tt.gone, lacking != (errors.As(err, &failed) && failed.Code == source.Unauthorized), !tt.gone && !lacking && err != nil:
				t.Errorf("%v", err)
			case err == nil && (!next.Last || len(next.Checkpoint) == 0 || (next.Notice != nil) != (tt.notice != "")):
				t.Errorf("%+v", next)
			case tt.notice != "" && !strings.Contains(next.Notice.Detail, tt.notice):
				t.Errorf("notice %q", next.Notice.Detail)
			}
			if _, _, err = read(t, c, chosen, nil); (tt.chosen == "") != (err == nil) || err != nil && (!errors.As(err, &failed) || failed.Code != tt.chosen) {
				t.Errorf("of a chosen channel: %v, want %q", err, tt.chosen)
			}
			if errors.Is(err, source.ErrPartGone) != tt.gone {
				t.Errorf("of a chosen channel: %v; whether it is gone: want %v", err, tt.gone)
			}
		})
	}
}

// TestAChannelThatCannotBeJoinedIsReadLater: when the app is in it, all of it is read.
func TestAChannelThatCannotBeJoinedIsReadLater(t *testing.T) {
	t.Parallel()
	s, c, a := everyChannel(t)
	s.Lacks = "channels:join"
	titles, end, err := read(t, c, a, nil)
	if err != nil || len(titles) > 0 || end.Notice == nil || !end.Last || end.Exact {
		t.Fatalf("%q %+v %v", titles, end, err)
	}
	s.Channels[ops].Member = true
	if titles, end, err = read(t, c, a, end.Checkpoint); err != nil || !slices.Equal(titles, all) || end.Notice != nil {
		t.Errorf("%q %+v %v", titles, end, err)
	}
}

func TestAllPublicChannelsAreCheckedBeforeTheFirstSync(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*slacktest.Server, *source.Access)
		says   string
	}{
		"good":                        {func(*slacktest.Server, *source.Access) {}, ""},
		"events only":                 {func(_ *slacktest.Server, a *source.Access) { delete(a.Secrets, "botToken") }, ""},
		"no channel":                  {func(s *slacktest.Server, _ *source.Access) { delete(s.Channels, ops) }, ""},
		"in a channel, may not join":  {func(s *slacktest.Server, _ *source.Access) { s.Channels[ops].Member, s.Lacks = true, "channels:join" }, ""},
		"in no channel, may not join": {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "channels:join" }, "scope channels:join"},
		"no scope to list":            {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "channels:read" }, "lacks the scope channels:read"},
		"no scope to read":            {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "channels:history" }, "lacks the scope channels:history"},
		"no scope to name users":      {func(s *slacktest.Server, _ *source.Access) { s.Lacks = "users:read" }, "lacks the scope users:read"},
		"a bad token":                 {func(_ *slacktest.Server, a *source.Access) { a.Secrets["botToken"] = "xoxb-other" }, "does not accept the bot token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, a := everyChannel(t)
			tt.change(s, &a)
			err := slack.ProbeAt(t.Context(), s.URL+"/api/", s.Fetcher(), a)
			var wrong *apierr.Error
			if (err == nil) != (tt.says == "") || err != nil && (!errors.As(err, &wrong) || wrong.Fields[0].Pointer != "/settings/botToken" || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWhichSettingsAreSynced(t *testing.T) {
	t.Parallel()
	some, none := []string{ops}, []string{}
	for name, tt := range map[string]struct {
		channels      []string
		token, secret string
		pointer       string
		synced        bool
	}{
		"nothing":             {pointer: "/settings/botToken"},
		"an empty list":       {channels: none, pointer: "/settings/botToken"},
		"events only":         {secret: "s"},
		"all public channels": {token: "t", synced: true},
		"an empty list means": {channels: none, token: "t", secret: "s", synced: true},
		"chosen channels":     {channels: some, token: "t", synced: true},
		"chosen, no token":    {channels: some, secret: "s", pointer: "/settings/botToken"},
		"a name":              {channels: []string{"#ops"}, token: "t", pointer: "/settings/channels/0"},
	} {
		settings, secrets := source.Settings{}, source.Secrets{}
		if tt.channels != nil {
			settings = source.NewSettings(map[string]any{"channels": tt.channels})
		}
		if tt.token != "" {
			secrets["botToken"] = tt.token
		}
		if tt.secret != "" {
			secrets["signingSecret"] = tt.secret
		}
		err := slack.Provider.Check(settings, secrets)
		var wrong *apierr.Error
		if errors.As(err, &wrong) != (tt.pointer != "") || wrong != nil && wrong.Fields[0].Pointer != tt.pointer {
			t.Errorf("%s: %v", name, err)
		}
		if synced := slack.Provider.IsSynced(settings, secrets); err == nil && synced != tt.synced {
			t.Errorf("%s: synced: %t", name, synced)
		}
	}
}

func TestEventsOfTheChannelsOfASource(t *testing.T) {
	t.Parallel()
	chosen, none := source.NewSettings(map[string]any{"channels": []string{ops}}), source.Settings{}
	for name, tt := range map[string]struct {
		event          string
		chosen, public bool // whether a source takes it that has chosen ops, or nothing
	}{
		"a chosen channel":          {`"channel":"` + ops + `","channel_type":"channel"`, true, true},
		"another one":               {`"channel":"C0000000002","channel_type":"channel"`, false, true},
		"a private one":             {`"channel":"C0000000003","channel_type":"group"`, false, false},
		"a private one, chosen":     {`"channel":"` + ops + `","channel_type":"group"`, true, false},
		"deleted in another one":    {`"channel":"C0000000002","channel_type":"channel","subtype":"message_deleted","deleted_ts":"1780000000.000100","event_ts":"1780000001.000100"`, false, true},
		"of an app before the kind": {`"channel":"` + ops + `"`, true, true},
	} {
		e, err := slack.Provider.Webhook.Read(t.Context(), source.Delivery{Body: []byte(`{"type":"event_callback","event_id":"E1","event":{"type":"message","user":"U1","text":"hello","ts":"1780000000.000100",` + tt.event + `}}`)})
		if err != nil || e.Concerns(chosen) != tt.chosen || e.Concerns(none) != tt.public {
			t.Errorf("%s: %+v %v", name, e, err)
		}
	}
}
