package main

import (
	"testing"
	"time"

	"docent/client"
)

func TestOnlyADailyQuotaResetsWithTheDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for code, want := range map[string]string{
		"quota-exceeded": "No. (quota-exceeded)\nThe daily quota resets at 2026-11-25 14:00 UTC, in 2 h 0 min.",
		"rate-exceeded":  "No. (rate-exceeded)",
	} {
		if got := explain(&client.Error{Status: 429, Code: code, Detail: "No.", RetryAfter: 2 * time.Hour}, now, "docent ask"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
