package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// webhookAttacks come from senders without a key and, mostly, without a valid signature.
var webhookAttacks = []attack{
	{"webhook/stalled, unknown source", []int{400, 401}, trickles(len900, func(c *client) request { return unsigned(c, "github", uuid.NewString()) })},
	{"webhook/stalled, github", []int{400, 401}, trickles(len900, func(c *client) request { return unsigned(c, "github", c.team.GitHub.ID) })},
	{"webhook/stalled, slack", []int{400, 401}, trickles(len900, func(c *client) request { return unsigned(c, "slack", c.team.Slack.ID) })},
	{"webhook/stalled at once", []int{400, 401}, trickles(0, func(c *client) request { return unsigned(c, "github", c.team.GitHub.ID) })},
	{"webhook/large, unknown source", []int{401}, sends(func(c *client) request { return whole(unsigned(c, "slack", uuid.NewString())) })},
	{"webhook/large, bad signature", []int{401}, sends(func(c *client) request { return whole(unsigned(c, "github", c.team.GitHub.ID)) })},
	{"webhook/large, no signature", []int{401}, sends(func(c *client) request {
		r := whole(unsigned(c, "github", c.team.GitHub.ID))
		r.header = ""
		return r
	})},
	{"webhook/small, unknown source", []int{401}, sends(func(c *client) request {
		r := unsigned(c, pick(c, []string{"github", "slack"}), uuid.NewString())
		r.body = []byte("{}")
		return r
	})},
	{"webhook/small, bad signature", []int{401}, sends(func(c *client) request {
		r := unsigned(c, "github", c.team.GitHub.ID)
		r.body = []byte("{}")
		return r
	})},
	{"webhook/signed, many values", []int{202, 400}, sends(func(c *client) request {
		body := prepared.signed
		mac := hmac.New(sha256.New, []byte(c.team.GitHub.Secret))
		mac.Write(body)
		return request{method: "POST", path: "/webhooks/github/" + c.team.GitHub.ID, body: body, header: fmt.Sprintf(
			"X-Hub-Signature-256: sha256=%x\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: %s\r\n", mac.Sum(nil), uuid.NewString())}
	})},
}

// len900 is how much a stalled sender sends at once: 900 KB of the announced 10 MB.
const len900 = 900 << 10

// unsigned returns a delivery whose signature is not the source's.
func unsigned(c *client, provider, id string) request {
	signature := hex.EncodeToString([]byte(strings.Repeat("x", 32)))
	return request{method: "POST", path: "/webhooks/" + provider + "/" + id, header: fmt.Sprintf(
		"X-Hub-Signature-256: sha256=%s\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: %d\r\nX-Slack-Signature: v0=%[1]s\r\nX-Slack-Request-Timestamp: %d\r\n",
		signature, c.random.Uint64(), time.Now().Unix())}
}

// whole gives r the largest allowed body.
func whole(r request) request {
	r.body = prepared.zeros
	return r
}
