package webhook_test

import (
	"testing"

	"docent/shared/audit"
)

// TestARestoreUsesNoWebhookIDAgain: events after a restore have other webhook-ids than those that it has
// lost, even at the same time, so that receivers do not take them for repeats.
func TestARestoreUsesNoWebhookIDAgain(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, restored := range []bool{false, true} {
		w := newWorld(t) // all worlds begin at the same time
		w.endpoint("https://a.test/", string(audit.CollectionDeleted), "answer.completed")
		if restored {
			if err := audit.SkipNumbers(t.Context(), w.store, w.clock.Now(), []string{team}); err != nil {
				t.Fatal(err)
			}
		}
		w.happen(audit.CollectionDeleted, 2)
		w.happen(audit.AnswerAsked, 2)
		w.work()
		for _, p := range w.taken() {
			if used[p.id] {
				t.Errorf("%s, of %s, is used again", p.id, p.kind)
			}
			used[p.id] = true
		}
	}
	if len(used) != 8 {
		t.Errorf("%d ids, want 8", len(used))
	}
}
