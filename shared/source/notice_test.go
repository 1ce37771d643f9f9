package source_test

import (
	"testing"
	"time"

	"docent/shared/audit"
	"docent/shared/pending"
	"docent/shared/pending/pendingtest"
	"docent/shared/source"
)

func TestEndpointsGetFailedSyncs(t *testing.T) {
	t.Parallel()
	for name, topics := range map[string]pending.Topics{"wanted": pending.AboutSources, "not wanted": pending.AboutIndexed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			if err := l.store.Write(t.Context(), audit.SetTopics(l.team, topics)); err != nil {
				t.Fatal(err)
			}
			l.mustSync()
			if told := pendingtest.Notices(t, l.store); len(told) > 0 {
				t.Errorf("a sync that succeeds is told: %+v", told)
			}
			l.clock.Advance(20 * time.Minute)
			l.shelf.at["a 0"] = func() error { return &source.SyncError{Code: source.NotThere, Detail: "No such part."} }
			_ = l.sync()
			told := pendingtest.Notices(t, l.store)
			if topics&pending.AboutSources == 0 {
				if len(told) > 0 {
					t.Errorf("told %+v", told)
				}
				return
			}
			if len(told) != 1 || told[0].Type != "source.failed" || told[0].State != "failed" || len(told[0].About) != 1 ||
				told[0].About[0] != (pending.Target{Type: "dataSource", ID: l.id}) {
				t.Errorf("told %+v", told)
			}
		})
	}
}
