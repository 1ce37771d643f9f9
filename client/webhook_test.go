package client_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/client"
)

// The example of the libraries of the Standard Webhooks specification.
const (
	webhookSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	webhookBody      = `{"test": 2432232314}`
	webhookSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var webhookSent = time.Unix(1614265330, 0)

func TestWebhooksAreVerified(t *testing.T) {
	t.Parallel()
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another"))
	for name, c := range map[string]struct {
		body, secret string
		header       map[string]string
		after        time.Duration
		valid        bool
	}{
		"as it was sent":      {valid: true},
		"five minutes old":    {after: 5 * time.Minute, valid: true},
		"a fast clock":        {after: -5 * time.Minute, valid: true},
		"several signatures":  {header: map[string]string{"webhook-signature": "v1a,x v1,AAAA " + webhookSignature}, valid: true},
		"another body":        {body: webhookBody + " "},
		"another secret":      {secret: other},
		"another id":          {header: map[string]string{"webhook-id": "x"}},
		"another time":        {header: map[string]string{"webhook-timestamp": "1614265331"}},
		"no time":             {header: map[string]string{"webhook-timestamp": "soon"}},
		"a time before times": {header: map[string]string{"webhook-timestamp": "-1"}},
		"a time without end":  {header: map[string]string{"webhook-timestamp": strings.Repeat("9", 30)}},
		"too old":             {after: 5*time.Minute + time.Second},
		"from the future":     {after: -5*time.Minute - time.Second},
		"another version":     {header: map[string]string{"webhook-signature": strings.Replace(webhookSignature, "v1", "v2", 1)}},
		"no base64":           {header: map[string]string{"webhook-signature": "v1,!"}},
		"no signature":        {header: map[string]string{"webhook-signature": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
			header.Set("webhook-timestamp", "1614265330")
			header.Set("webhook-signature", webhookSignature)
			for name, value := range c.header {
				header.Set(name, value)
			}
			body, secret := webhookBody, webhookSecret
			if c.body != "" {
				body = c.body
			}
			if c.secret != "" {
				secret = c.secret
			}
			err := client.VerifyWebhook([]byte(body), header, secret, webhookSent.Add(c.after))
			if c.valid != (err == nil) || err != nil && !errors.Is(err, client.ErrBadWebhook) {
				t.Errorf("error %v", err)
			}
		})
	}
	header := http.Header{"Webhook-Id": {"x"}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {"v1,AAAA"}}
	for _, secret := range []string{"", "whsec_", "whsec_!"} {
		if err := client.VerifyWebhook(nil, header, secret, webhookSent); err == nil || errors.Is(err, client.ErrBadWebhook) {
			t.Errorf("the secret %q: %v", secret, err)
		}
	}
}
