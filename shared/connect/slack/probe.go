package slack

import (
	"context"
	"fmt"
	"net/url"
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

// Probe asks Slack for each channel, and for a message of the first one.
func (o opener) Probe(ctx context.Context, f *fetch.Fetcher, a source.Access) error {
	c := &Connector{HTTP: f.Client(0), Now: time.Now, Pause: connect.AtOnce, Base: o.base}
	for i, channel := range a.Settings.List(channels) {
		r := c.open(a, channel)
		about, err := r.join(ctx)
		if err == nil && i == 0 {
			_, err = call[historyReply](ctx, r, "conversations.history?limit=1&channel="+url.QueryEscape(channel))
			if isCode(err, "ratelimited") {
				err = nil
			}
		}
		if err == nil && i == 0 || err == nil && about.Private {
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
