package quota_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/quota"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T09:24:00Z")
	w := quota.Day(now)
	perSecond := quota.State{Name: "team", Limit: 100, Used: 99, Window: quota.Window{Start: now, Reset: now.Add(time.Second)}}
	for _, c := range []struct {
		name   string
		now    time.Time
		states []quota.State
		want   map[string]string
	}{
		{"none", now, nil, nil},
		{"questions", now, []quota.State{quota.Answers(w, 127)}, map[string]string{
			"RateLimit-Policy": `"answers-day";q=1000;w=86400`, "RateLimit": `"answers-day";r=873;t=81360`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "873", "X-RateLimit-Reset": "1795334400",
		}},
		{"both, calls nearer to the end", now, []quota.State{quota.Answers(w, 127), quota.Calls(w, 310)}, map[string]string{
			"RateLimit-Policy":  `"answers-day";q=1000;w=86400, "pat-day";q=1000;w=86400`,
			"RateLimit":         `"answers-day";r=873;t=81360, "pat-day";r=690;t=81360`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "690", "X-RateLimit-Reset": "1795334400",
		}},
		{"both, questions nearer to the end", now, []quota.State{quota.Calls(w, 310), quota.Answers(w, 990)}, map[string]string{
			"RateLimit-Policy":  `"pat-day";q=1000;w=86400, "answers-day";q=1000;w=86400`,
			"RateLimit":         `"pat-day";r=690;t=81360, "answers-day";r=10;t=81360`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "10", "X-RateLimit-Reset": "1795334400",
		}},
		{"a rate, and questions", now, []quota.State{perSecond, quota.Answers(w, 127)}, map[string]string{
			"RateLimit-Policy":  `"team";q=100;w=1, "answers-day";q=1000;w=86400`,
			"RateLimit":         `"team";r=1;t=1, "answers-day";r=873;t=81360`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "873", "X-RateLimit-Reset": "1795334400",
		}},
		{"a rate alone", now, []quota.State{perSecond}, map[string]string{"RateLimit-Policy": `"team";q=100;w=1`, "RateLimit": `"team";r=1;t=1`}},
		{"used beyond the limit, part of a second left", at(t, "2026-11-22T07:59:59.25Z"), []quota.State{quota.Calls(w, 1003)}, map[string]string{
			"RateLimit-Policy": `"pat-day";q=1000;w=86400`, "RateLimit": `"pat-day";r=0;t=1`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795334400",
		}},
		{"answered after midnight", at(t, "2026-11-22T08:00:02Z"), []quota.State{quota.Calls(w, 1)}, map[string]string{
			"RateLimit-Policy": `"pat-day";q=1000;w=86400`, "RateLimit": `"pat-day";r=999;t=0`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "999", "X-RateLimit-Reset": "1795334400",
		}},
		{"day of 25 hours", at(t, "2026-11-01T07:00:00Z"), []quota.State{quota.Answers(quota.Day(at(t, "2026-11-01T07:00:00Z")), 0)}, map[string]string{
			"RateLimit-Policy": `"answers-day";q=1000;w=90000`, "RateLimit": `"answers-day";r=1000;t=90000`,
			"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "1000", "X-RateLimit-Reset": "1793606400",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := quota.Headers(c.now, c.states...); !maps.Equal(got, c.want) {
				t.Errorf("Headers =\n%v, want\n%v", got, c.want)
			}
		})
	}
}

func TestExceeded(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T09:24:00.5Z")
	w := quota.Day(now)
	for _, c := range []struct {
		state         quota.State
		title, detail string
	}{
		{quota.Answers(w, 1000), "Daily question quota exceeded", "The quota of 1000 questions of this team for the day 2026-11-21 (Pacific time) is used up."},
		{quota.Calls(w, 7), "Daily call quota exceeded", "The quota of 1000 calls of this personal key for the day 2026-11-21 (Pacific time) is used up."},
	} {
		var err error = quota.Exceeded(c.state)
		var exceeded *quota.ExceededError
		var public *apierr.Error
		if !errors.As(err, &exceeded) || !errors.As(err, &public) {
			t.Fatalf("%T is not both kinds of error", err)
		}
		if public.Kind != apierr.QuotaExceeded || public.Code != apierr.CodeQuotaExceeded || public.Detail != c.detail {
			t.Errorf("public error %+v, want detail %q", public, c.detail)
		}
		if exceeded.Title() != c.title || exceeded.Remaining() != 0 || exceeded.RetryAfter(now) != 81360 {
			t.Errorf("title %q, remaining %d, retry after %d; want %q, 0, 81360",
				exceeded.Title(), exceeded.Remaining(), exceeded.RetryAfter(now), c.title)
		}
	}
}
