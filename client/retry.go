package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The bounds of repeating a call: five tries, and no single wait over a minute. If a server asks for more, a person
// has to decide. A call that is refused because the team sends too many at once has failed only after patience.
const (
	tries    = 5
	maxWait  = time.Minute
	minWait  = 500 * time.Millisecond
	patience = 2 * time.Minute
)

// do sends k until it succeeds, is refused permanently, or the tries are used up. It repeats calls that reached no
// server, except one whose certificate is not trusted, and a 5xx or a 429 with a short Retry-After. A DELETE of what is
// not there succeeds if an earlier try may have removed it.
func (c *Client) do(ctx context.Context, k call) (reply, error) {
	waited := time.Duration(0) // for the rate
	arrived := false           // an earlier try may have been carried out
	for try := 1; ; try++ {
		r, err := c.once(ctx, k)
		if err == nil || arrived && k.method == http.MethodDelete && IsStatus(err, http.StatusNotFound) {
			return r, nil
		}
		arrived = arrived || mayHaveArrived(err)
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		wait, again := backOff(err, try)
		if !again {
			return reply{}, c.explain(err)
		}
		if isTooFast(err) && waited < patience {
			wait += rand.N(wait) //nolint:gosec // not a secret: parallel calls are repeated at different times
			waited += wait
			try--
		} else if try == tries {
			return reply{}, fmt.Errorf("%w; %d tries", c.explain(err), tries)
		}
		if c.Retrying != nil {
			c.Retrying(c.explain(err))
		}
		if err := c.Pause(ctx, wait); err != nil {
			return reply{}, err
		}
	}
}

// backOff returns how long to wait after the given try, counted from 1, and whether to try again. It uses the wait
// that the server asks for; otherwise the wait doubles, with jitter so that parallel calls do not repeat together.
func backOff(err error, try int) (time.Duration, bool) {
	var e *Error
	if errors.As(err, &e) {
		switch {
		case e.Status == http.StatusTooManyRequests && e.RetryAfter == 0:
			return 0, false
		case e.Status == http.StatusTooManyRequests, e.Status >= 500:
			if e.RetryAfter > 0 {
				return e.RetryAfter, e.RetryAfter <= maxWait
			}
		default:
			return 0, false
		}
	}
	var distrusted *tls.CertificateVerificationError
	if errors.As(err, &distrusted) || errors.Is(err, http.ErrSchemeMismatch) {
		return 0, false
	}
	wait := minWait << (try - 1)
	return wait + rand.N(wait/2), true //nolint:gosec // not a secret: it spreads retries
}

// mayHaveArrived reports whether the server may have carried out a call that failed with err.
func mayHaveArrived(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Status >= 500
	}
	var network *net.OpError
	return !errors.As(err, &network) || network.Op != "dial"
}

// isTooFast reports whether a call was refused because of the requests per second.
func isTooFast(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "rate-exceeded"
}

// explain returns a *NoReplyError for an error that came from no server.
func (c *Client) explain(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the address is already in the message
	}
	return &NoReplyError{Server: c.base, Err: err}
}
