package webhook

import (
	"strconv"
	"strings"
	"time"
)

// pauses are the times between the attempts of a delivery, about 3 days together.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Bounds of failures.
const (
	disableAfter = 3 * 24 * time.Hour // of nothing but failures, without the time when no worker ran
	longestPause = 5 * time.Minute    // of an endpoint that fails
	longestRetry = 24 * time.Hour     // that Retry-After may ask for
	longestWait  = 27 * time.Hour     // from an attempt to the next: above longestRetry and the last of the pauses with its jitter
	// expireAfter is when a delivery that still waits is given up, because its endpoint was
	// disabled for long.
	expireAfter = 7 * 24 * time.Hour
)

// pauseOf returns how long an endpoint rests after the given number of consecutive rounds without a success.
func pauseOf(rounds int64) time.Duration {
	return min(pauses[0]<<min(max(rounds-1, 0), 10), longestPause)
}

// retryAfter returns how long a reply asks to wait, 0 if it does not.
func (r Reply) retryAfter(now time.Time) time.Duration {
	text := strings.TrimSpace(r.RetryAfter)
	if text == "" {
		return 0
	}
	wait := time.Duration(0)
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(n) * time.Second
	} else if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestRetry)
}

// succeeded reports whether the endpoint took the delivery.
func (r Reply) succeeded() bool { return r.Status >= 200 && r.Status < 300 }

// gone is the status by which an endpoint ends its subscription.
const gone = 410

// after returns d after an attempt at now with its reply.
func (d Delivery) after(r Reply, now time.Time, jitter func(time.Duration) time.Duration) Delivery {
	d.Attempts++
	d.version++
	d.LastAttemptAt, d.LastStatus, d.LastError, d.NextAttemptAt = &now, r.Status, r.Error, nil
	switch {
	case r.succeeded():
		d.Status = Delivered
	case r.Status == gone || d.Attempts > len(pauses):
		d.Status = Failed
	default:
		pause := pauses[d.Attempts-1]
		if jitter != nil {
			pause += jitter(pause / 10)
		}
		next := now.Add(max(pause, r.retryAfter(now))).Truncate(time.Millisecond)
		d.NextAttemptAt = &next
	}
	return d
}
