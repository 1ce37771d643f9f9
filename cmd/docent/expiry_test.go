package main

import (
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct{ text, want string }{
		{"90d", "2027-01-30T12:00:00Z"},
		{"12h", "2026-11-02T00:00:00Z"},
		{"1h30m", "2026-11-01T13:30:00Z"},
		{"2027-03-04", "2027-03-04T00:00:00Z"},
		{"2027-03-04T05:06:07+02:00", "2027-03-04T03:06:07Z"},
		{"0d", ""},
		{"-1d", ""},
		{"99999d", ""},
		{"9999999999d", ""},
		{"1.5d", ""},
		{"tomorrow", ""},
		{"", ""},
	}
	for _, tc := range cases {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			var e expiry
			err := e.UnmarshalText([]byte(tc.text))
			at, ok := e.from(now)
			switch {
			case tc.want == "" && (err == nil || ok):
				t.Fatalf("taken as %v", at)
			case tc.want != "" && (err != nil || at.UTC().Format(time.RFC3339) != tc.want):
				t.Fatalf("%v, %v; want %s", at, err, tc.want)
			}
		})
	}
}
