package jira_test

import (
	"net/http"
	"testing"
	"time"

	"docent/shared/source"
)

// TestATokenThatIsTakenForNoneIsNotAccepted: Jira answers its search as one of an anonymous visitor, who sees no issue. It is no sync
// without changes, so that what changes meanwhile is read with the next token.
func TestATokenThatIsTakenForNoneIsNotAccepted(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, cloud bool) {
		s := newSite(t, cloud, nil)
		s.put(issue(1))
		s.MustSync()
		s.want("OPS-1")
		s.Before(func(_ string, w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Seraph-LoginReason", "AUTHENTICATED_FAILED")
			_, _ = w.Write([]byte(`{"issues":[],"total":0,"isLast":true}`))
			return true
		})
		s.clock.Advance(time.Hour)
		two := issue(2)
		two.Updated = s.clock.Now()
		s.put(two)
		s.MustSync()
		if d := s.Shown(); d.LastError == nil || d.LastError.Code != source.Unauthorized || d.State != source.Failed {
			t.Errorf("shown %s %+v", d.State, d.LastError)
		}
		s.Before(nil)
		s.clock.Advance(time.Hour)
		s.MustSync()
		s.want("OPS-1", "OPS-2")
		if d := s.Shown(); d.LastError != nil {
			t.Errorf("then %+v", d.LastError)
		}
	})
}

// TestATokenOfWhichOneLoginSucceedsIsAccepted, although another one of the same request failed.
func TestATokenOfWhichOneLoginSucceedsIsAccepted(t *testing.T) {
	t.Parallel()
	for _, reasons := range [][]string{{"OK"}, {"AUTHENTICATED_FAILED", "OK"}, {"OK, AUTHENTICATED_FAILED"}, {"AUTHENTICATION_DENIED,ok"}, {"OUT"}} {
		s := newSite(t, false, nil)
		s.put(issue(1))
		s.Before(func(_ string, w http.ResponseWriter) bool {
			for _, reason := range reasons {
				w.Header().Add("X-Seraph-LoginReason", reason)
			}
			return false
		})
		s.MustSync()
		s.want("OPS-1")
		if d := s.Shown(); d.LastError != nil {
			t.Errorf("%q: %+v", reasons, d.LastError)
		}
	}
}
