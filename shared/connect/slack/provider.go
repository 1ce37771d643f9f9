package slack

import (
	"regexp"
	"time"

	"docent/shared/apierr"
	"docent/shared/source"
)

// The settings and secrets of a source, and the headers of a delivery.
const (
	channels        = "channels"
	botToken        = "botToken"
	signingSecret   = "signingSecret"
	signatureHeader = "X-Slack-Signature"
	timestampHeader = "X-Slack-Request-Timestamp"
)

// maxChannels bounds the channels of one source.
const maxChannels = 100

// Provider reads channels of a Slack workspace, all public ones if none are chosen, and takes
// messages from its Events API and from the archive of an export. Only a source with channels
// or a bot token is synced.
var Provider = source.Provider{
	Name: "slack", Title: "Slack messages",
	Settings: []source.Setting{
		{Name: channels, Kind: source.List, Help: "ids of the channels to read, up to 100; without one and with a bot token, all public channels are read", Flag: "channel", Placeholder: "ID", Parts: true},
		{Name: botToken, Kind: source.Secret, Help: "the bot token of the app, to read channels", Flag: "bot-token-env", Env: "SLACK_BOT_TOKEN"},
		{Name: signingSecret, Kind: source.Secret, Help: "the signing secret of the app, for its events", Flag: "secret-env", Env: "SLACK_SIGNING_SECRET"},
	},
	Check: check,
	Connected: func(s source.Settings, secrets source.Secrets) bool {
		return len(s.List(channels)) > 0 || secrets[botToken] != ""
	},
	Opener: opener{base, files}, SyncEvery: 15 * time.Minute,
	FullScanEvery: 7 * 24 * time.Hour, // it needs a request per page and thread; events tell most of what it finds
	Webhook: &source.Webhook{
		OperationID: "takeSlackEvent", Summary: "Take an event of Slack",
		Headers: []source.Header{
			{Name: signatureHeader, Help: "v0= and the hex HMAC-SHA-256 of v0:, the timestamp, : and the body."},
			{Name: timestampHeader, Help: "Unix seconds, at most 5 minutes off."},
		},
		Reply: "The reply to Slack's check of the URL.", ReplyText: "challenge", Label: "Events URL",
		Guide:     "enter it as the Request URL of the app's event subscriptions, and subscribe to message.channels",
		Signature: `^v0=[0-9a-fA-F]{64}$`, Verify: verify, Read: readEvent,
	},
}

var channelForm = regexp.MustCompile(`^[CG][A-Z0-9]{8,20}$`)

func check(s source.Settings, secrets source.Secrets) error {
	if len(s.List(channels)) == 0 {
		if secrets[botToken] == "" && secrets[signingSecret] == "" {
			return apierr.BadField("/settings/"+botToken, "is required to read channels, or the signing secret to take events")
		}
		return nil
	}
	if err := s.CheckList(channels, maxChannels, func(pointer, id string) error {
		if !channelForm.MatchString(id) {
			return apierr.BadField(pointer, "must be the id of a channel, such as C0123ABCD")
		}
		return nil
	}); err != nil {
		return err
	}
	return source.CheckSecret("/settings/"+botToken, secrets[botToken])
}
