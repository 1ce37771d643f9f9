package slack

import "docent/shared/source"

const (
	signingSecret   = "signingSecret"
	signatureHeader = "X-Slack-Signature"
	timestampHeader = "X-Slack-Request-Timestamp"
)

// Provider takes the messages of a Slack workspace from its Events API, and from
// the archive of an export.
var Provider = source.Provider{
	Name: "slack",
	Settings: []source.Setting{{Name: signingSecret, Kind: source.Secret, Help: "the signing secret of the app",
		Flag: "secret-env", Env: "SLACK_SIGNING_SECRET"}},
	Check: func(_ source.Settings, secrets source.Secrets) error {
		return source.CheckSecret("/settings/"+signingSecret, secrets[signingSecret])
	},
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
