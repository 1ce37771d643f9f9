package audit_test

import (
	"testing"

	"docent/shared/apierr"
	"docent/shared/audit"
)

// FuzzCursor: for any cursor that a client sends, and any position in a valid cursor, the reply
// is a page or an error.
func FuzzCursor(f *testing.F) {
	w := newWorld(f)
	w.write(numbered(1, 30)...)
	good := w.feed(audit.Query{Limit: 7}).Next
	f.Add(good, int64(7), int64(0), int64(0), int64(0), byte(0))
	f.Add("", int64(31), int64(20), int64(5), int64(1), byte(3))
	f.Add(good+"A", int64(-1), int64(1)<<62, int64(-9), int64(-1), byte(1))
	f.Add("AQ", int64(1)<<62, int64(1)<<62, int64(1)<<62, int64(1)<<62, byte(2))
	f.Fuzz(func(t *testing.T, text string, at, end, low, made int64, flags byte) {
		for _, cursor := range []string{text, audit.SealPlace(t, w.log, teamID, at, end, low, made, flags)} {
			page, err := w.log.Feed(t.Context(), teamID, audit.Query{Limit: 7, After: cursor})
			if err != nil {
				if !apierr.IsCode(err, apierr.CodeInvalidCursor) && !apierr.IsCode(err, apierr.CodeCursorExpired) {
					t.Fatalf("%q: %v", cursor, err)
				}
				continue
			}
			if len(page.Events) > 7 || page.More && page.Next == "" {
				t.Fatalf("%q: %d events, next %q", cursor, len(page.Events), page.Next)
			}
		}
	})
}

// FuzzFilter: for any query, the reply is a page within its filters or an error, and its cursor
// is valid only with these filters.
func FuzzFilter(f *testing.F) {
	w := newWorld(f)
	w.write(numbered(1, 10)...)
	f.Add("", "", "", "", "", "", "")
	f.Add("collection.created", "configuration", "", "success", "2026-11-21T11:00:00Z", "9999-12-31T00:00:00Z", "desc")
	f.Add("document.deleted", "data", "x", "failure", audit.EventID(teamID, 3), "", "asc")
	f.Add("nonsense", "", "", "", "0000-00-00T00:00:00Z", "2026-11-21T12:00:00+23:59", "sideways")
	f.Fuzz(func(t *testing.T, kind, category, actor, outcome, since, until, order string) {
		q := audit.Query{Limit: 4, Types: []string{kind, ""}, Categories: []string{category}, Actors: []string{actor},
			Outcomes: []string{outcome}, Since: since, Until: until, Order: order}
		for range 3 {
			page, err := w.log.Feed(t.Context(), teamID, q)
			if err != nil {
				if !apierr.IsCode(err, apierr.CodeInvalidRequest) {
					t.Fatalf("%+v: %v", q, err)
				}
				return
			}
			for _, e := range page.Events {
				if n := e.Native(); kind != "" && string(n.EventType) != kind || category != "" && n.Category != category ||
					actor != "" && n.Actor.ID != actor || outcome != "" && n.Outcome.Result != outcome {
					t.Fatalf("%+v gave %+v", q, n)
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
			other := q
			other.Actors = []string{actor, actor + " and another"}
			if _, err := w.log.Feed(t.Context(), teamID, other); !apierr.IsCode(err, apierr.CodeInvalidCursor) {
				t.Fatalf("a cursor under other filters: %v", err)
			}
		}
	})
}
