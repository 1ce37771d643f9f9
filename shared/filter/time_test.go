package filter_test

import (
	"testing"

	"docent/shared/apierr"
	"docent/shared/filter"
)

// What only looks like a time is a string: it is never compared as a time, and refused as a bound.
func TestTimesFollowRFC3339(t *testing.T) {
	t.Parallel()
	for text, isTime := range map[string]bool{
		"2026-11-01": true, "2026-11-01T01:00:00Z": true, "2026-11-01T01:00:00.123456789+14:00": true, "2024-02-29": true, "0000-01-01": true,
		"2026-11-01T1:00:00Z": false, "2026-11-01T01:00:00,5Z": false, "2026-11-01T01:00:00+24:30": false, "2026-11-01T01:00:00+10:60": false,
		"2026-02-29": false, "2026-11-01 01:00:00Z": false, "2026-11-01T01:00:00": false, "2026-11-01T24:00:00Z": false, "2026-11-01T23:59:60Z": false, "2026-1-01": false,
	} {
		document := filter.Attributes{Metadata: filter.Metadata{"reviewed": filter.Text(text)}}
		if got := parse(t, `{"reviewed":{"lt":"2027-01-01"}}`).Match(document); got != isTime {
			t.Errorf("%s is compared as a time: %t", text, got)
		}
		if !parse(t, `{"reviewed":"`+text+`"}`).Match(document) {
			t.Errorf("%s is not equal to itself", text)
		}
		if _, err := filter.Parse([]byte(`{"reviewed":{"lt":"` + text + `"}}`)); apierr.IsCode(err, apierr.CodeInvalidRequest) == isTime {
			t.Errorf("%s as a bound: %v", text, err)
		}
	}
}
