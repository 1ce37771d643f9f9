package slack

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"docent/shared/connect"
	"docent/shared/fetch"
	"docent/shared/pause"
	"docent/shared/source"
)

// Where the API and files are.
const (
	base  = "https://slack.com/api/"
	files = "https://files.slack.com/"
)

type opener struct{ base, files string }

// Open returns the connector.
func (o opener) Open(f *fetch.Fetcher, now func() time.Time) source.Connector {
	return &Connector{HTTP: f.Client(0), Now: now, Pause: pause.For, Base: o.base, Files: o.files}
}

// Probe asks Slack for each channel, and for a message of the first one. Without chosen
// channels it asks for the list of the public ones, and for one of them.
func (o opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce, Base: o.base}
	if len(a.Settings.List(channels)) == 0 {
		if a.Secrets[botToken] == "" {
			return nil // it reads nothing
		}
		return source.BadSetting(c.open(a, "").probeList(ctx), map[string]string{source.Unauthorized: botToken, source.Refused: botToken})
	}
	for i, channel := range a.Settings.List(channels) {
		r := c.open(a, channel)
		about, err := r.join(ctx)
		if err == nil && i == 0 {
			err = r.probeHistory(ctx)
		}
		if err == nil && i == 0 || err == nil && !about.isOpen() {
			_, err = call[usersReply](ctx, r, "users.list?limit=1")
		}
		if i > 0 && ctx.Err() != nil {
			return nil // the first sync checks the rest
		}
		if err != nil {
			at := fmt.Sprintf("%s/%d", channels, i)
			where := map[string]string{source.Unauthorized: botToken, source.NotThere: at, source.Refused: at}
			if isCode(err, "not_in_channel") || isCode(err, "is_archived") {
				where[source.Unauthorized] = at
			}
			return source.BadSetting(err, where)
		}
	}
	return nil
}

// probeHistory asks for one message of the channel.
func (r *reading) probeHistory(ctx context.Context) error {
	_, err := call[historyReply](ctx, r, "conversations.history?limit=1&channel="+url.QueryEscape(r.channel))
	if isCode(err, "ratelimited") {
		return nil
	}
	return err
}

// probeList asks for the public channels and the users, and for a message of a channel,
// preferably one that the app is in.
func (r *reading) probeList(ctx context.Context) error {
	reply, err := r.channels(ctx, "")
	if err != nil {
		return err
	}
	if _, err := call[usersReply](ctx, r, "users.list?limit=1"); err != nil {
		return err
	}
	readable := slices.DeleteFunc(reply.Channels, func(c about) bool { return !c.readable() })
	if len(readable) == 0 {
		return nil
	}
	one := readable[max(slices.IndexFunc(readable, func(c about) bool { return c.Member }), 0)]
	r.channel = one.ID
	if _, err := r.join(ctx); err != nil {
		return err
	}
	return r.probeHistory(ctx)
}
