package document_test

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/pending/pendingtest"
)

func TestEndpointsGetIndexing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		topics          pending.Topics
		indexed, failed bool // whether endpoints are notified of it
	}{
		"all is wanted":      {pending.AboutIndexed | pending.AboutUnindexed, true, true},
		"only what fails":    {pending.AboutUnindexed, false, true},
		"only what succeeds": {pending.AboutIndexed, true, false},
		"other things":       {pending.AboutAnswers, false, false},
		"nothing":            {0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			if err := h.Table.Write(t.Context(), audit.SetTopics(teamID, c.topics)); err != nil {
				t.Fatal(err)
			}
			notice := func(kind, state, id string, version int64, about ...pending.Target) pending.Notice {
				return pending.Notice{ID: kind + "/" + id + "/" + strconv.FormatInt(version, 10), Type: kind, At: h.clock.Now().UnixMilli(), State: state,
					About: append([]pending.Target{{Type: "document", ID: id}}, about...)}
			}
			var want []pending.Notice
			id, version := h.put(h.text("Handbook", "Body."))
			if c.indexed {
				want = append(want, notice("document.indexed", "indexed", id, version, pending.Target{Type: "dataSource", ID: h.wiki}))
			}
			for receives := range 2 { // the second delivery tells nothing again
				h.deliver(w, h.message(0), receives+1)
			}
			h.clock.Advance(time.Second)
			id, version = h.put(h.text("Appendix", "Body."))
			if c.failed {
				want = append(want, notice("document.failed", "failed", id, version))
			}
			for range 2 {
				if err := w.GiveUp(t.Context(), h.message(1)); err != nil {
					t.Fatal(err)
				}
			}
			if got := pendingtest.Notices(t, h.Table); len(got) != len(want) || len(want) > 0 && !sameNotices(got, want) {
				t.Errorf("told %+v\nwant %+v", got, want)
			}
		})
	}
}

// sameNotices compares without the order, which the ids decide.
func sameNotices(got, want []pending.Notice) bool {
	byID := func(all []pending.Notice) map[string]pending.Notice {
		m := map[string]pending.Notice{}
		for _, n := range all {
			m[n.ID] = n
		}
		return m
	}
	return reflect.DeepEqual(byID(got), byID(want))
}
