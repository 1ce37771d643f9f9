package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how much the time of a webhook may differ from the receiver's clock.
const WebhookTolerance = 5 * time.Minute

// ErrBadWebhook means that a request is not a webhook that was signed with the secret just now. Reply with status 400.
var ErrBadWebhook = errors.New("not a valid webhook")

// VerifyWebhook checks the signature of a webhook by the Standard Webhooks specification: body is the request's body as
// it was received, secret begins with whsec_, and now is the time. It returns an error that wraps ErrBadWebhook for any
// other request, and another error for a secret that is none. A receiver may get an event more than once: it should
// remember the header webhook-id of those that it handled.
func VerifyWebhook(body []byte, header http.Header, secret string, now time.Time) error {
	id, sent, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || sent == "" || signatures == "" {
		return fmt.Errorf("%w: webhook-id, webhook-timestamp or webhook-signature is missing", ErrBadWebhook)
	}
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || seconds < 0 {
		return fmt.Errorf("%w: webhook-timestamp is not a time", ErrBadWebhook)
	}
	if seconds < now.Add(-WebhookTolerance).Unix() || seconds > now.Add(WebhookTolerance).Unix() {
		return fmt.Errorf("%w: it is too old, or from the future", ErrBadWebhook)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return errors.New("the secret of a webhook is whsec_ followed by base64")
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.", id, sent) // a hash does not fail
	_, _ = mac.Write(body)
	want := mac.Sum(nil)
	for signature := range strings.SplitSeq(signatures, " ") { // one for each secret while a secret is replaced
		text, ok := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return fmt.Errorf("%w: no signature is of this secret", ErrBadWebhook)
}
