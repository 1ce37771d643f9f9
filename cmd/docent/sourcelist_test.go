package main

import (
	"encoding/json"
	"testing"

	"docent/client"
)

func TestTheNoteOfASourceIsItsError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"sync":{"state":"reading"},"lastError":{"code":"unauthorized","detail":"No."}}`: "unauthorized: No.",
		`{"sync":{"state":"reading"}}`:                                            "reading, 0 read",
		`{"sync":{"state":"reading","part":"acme/api","read":2}}`:                 "reading acme/api, 2 read",
		`{"sync":{"state":"waiting","read":2},"lastSync":"2026-11-01T00:00:00Z"}`: "2 read, 0 removed",
		`{}`: "",
	} {
		var d client.DataSource
		if err := json.Unmarshal([]byte(text), &d); err != nil || note(d) != want {
			t.Errorf("%s: %q, %v", text, note(d), err)
		}
	}
}
