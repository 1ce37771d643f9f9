package atlassiantest

import (
	"fmt"
	"net/http"
	"testing"

	"docent/shared/app/faulttest"
)

// Filled is a site with content and a library that reads it. Check fails the test unless everything is stored as it should be; it may
// sync again.
type Filled struct {
	*Server
	*Library
	Check func(t *testing.T)
}

// EveryCallMayFail makes every request to the provider, and every call of the store, fail, one in each sync of a new site. A request is
// refused with each of statuses, by an outage up to the given number of retries too.
func EveryCallMayFail(t *testing.T, statuses []int, retries int, open func(t *testing.T) Filled) {
	t.Helper()
	s := open(t)
	s.Requests()
	s.Plan.Watch()
	s.MustSync()
	requests, calls := len(s.Requests()), s.Plan.Seen()
	s.Check(t)
	kills := 0
	for at := 0; at < requests; at += faulttest.EveryNth {
		for _, status := range statuses {
			kills++
			t.Run(fmt.Sprintf("request %d %d", at+1, status), func(t *testing.T) {
				t.Parallel()
				s := open(t)
				n := 0
				s.Before(func(_ string, w http.ResponseWriter) bool {
					n++
					failed := n == at+1 || n > at && n <= at+retries && status == http.StatusInternalServerError
					if failed {
						w.Header().Set("Retry-After", "60")
						Refuse(w, status, "Not now.")
					}
					return failed
				})
				s.MustSync()
				s.Check(t)
			})
		}
	}
	for at, name := range calls {
		if at%faulttest.EveryNth != 0 {
			continue
		}
		for _, mode := range faulttest.ModesOf(name) {
			if mode == faulttest.TimeOut || mode == faulttest.Throttle || at > 30 && at%4 > 0 {
				continue // for the connector as a call that fails; and the same calls for every item
			}
			kills++
			t.Run(fmt.Sprintf("call %d %s %s", at+1, name, mode), func(t *testing.T) {
				t.Parallel()
				s := open(t)
				s.Plan.Arm(mode, at+1)
				_, _ = s.Sync()
				s.Plan.Disarm()
				s.Check(t)
			})
		}
	}
	t.Logf("%d requests, %d calls of the store, %d kills", requests, len(calls), kills)
}
