package quota

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers returns the response headers that report states at the time now: RateLimit-Policy and
// RateLimit as in draft-ietf-httpapi-ratelimit-headers-11 with all states, and
// X-RateLimit-Limit, -Remaining and -Reset (Unix seconds) of the daily quota with the least
// remaining, if there is one. Without states it returns nil.
func Headers(now time.Time, states ...State) map[string]string {
	if len(states) == 0 {
		return nil
	}
	policies := make([]string, len(states))
	limits := make([]string, len(states))
	var nearest *State
	for i, s := range states {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Name, s.Limit, s.Window.Seconds())
		limits[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Name, s.Remaining(), s.secondsToReset(now))
		if daily := s.Window.Date != ""; daily && (nearest == nil || s.Remaining() < nearest.Remaining()) {
			nearest = &states[i]
		}
	}
	headers := map[string]string{"RateLimit-Policy": strings.Join(policies, ", "), "RateLimit": strings.Join(limits, ", ")}
	if nearest != nil {
		headers["X-RateLimit-Limit"] = strconv.FormatInt(nearest.Limit, 10)
		headers["X-RateLimit-Remaining"] = strconv.FormatInt(nearest.Remaining(), 10)
		headers["X-RateLimit-Reset"] = strconv.FormatInt(nearest.Window.Reset.Unix(), 10)
	}
	return headers
}
