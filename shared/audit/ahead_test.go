package audit_test

import (
	"slices"
	"sync"
	"testing"

	"docent/shared/audit"
	"docent/shared/table"
)

func (w *world) claimed() int64 {
	w.t.Helper()
	head, err := w.store.Get(w.t.Context(), audit.HeadKey(teamID))
	if err != nil {
		w.t.Fatal(err)
	}
	return head.Numbers["seq"]
}

func TestWritesTakeWhatWasClaimedAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	ctx, end := w.log.ClaimAhead(t.Context(), teamID, 1)
	for _, id := range []string{"2", "3"} { // the second write claims its own
		if err := w.log.Write(ctx, teamID, []audit.Event{about(id)}, thing(id)); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2", "3"}) || w.claimed() != 3 {
		t.Errorf("feed %v, %d numbers", got, w.claimed())
	}
}

// TestUnusedNumbersClaimedAheadBlockNoReader: unused numbers of a refused write, of no write
// and of another team's write block no reader.
func TestUnusedNumbersClaimedAheadBlockNoReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("1")
	refused, end := w.log.ClaimAhead(t.Context(), teamID, 1)
	if err := w.log.Write(refused, teamID, []audit.Event{about("1")}, thing("1")); table.AsConditionFailed(err) == nil {
		t.Errorf("a condition that does not hold: %v", err)
	}
	end()
	_, end = w.log.ClaimAhead(t.Context(), teamID, 2)
	end()
	foreign, end := w.log.ClaimAhead(t.Context(), "0190d2a0-0000-7000-8000-00000000000b", 1)
	if err := w.log.Write(foreign, teamID, []audit.Event{about("2")}, thing("2")); err != nil {
		t.Fatal(err)
	}
	end()
	if got := w.all(audit.Query{}); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("feed %v", got)
	}
}

func TestRacingWritesOfOneRequestShareNoNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, end := w.log.ClaimAhead(t.Context(), teamID, 1)
	want := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var all sync.WaitGroup
	for _, id := range want {
		all.Go(func() {
			if err := w.log.Write(ctx, teamID, []audit.Event{about(id)}, thing(id)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	end()
	got := w.all(audit.Query{})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("feed %v", got)
	}
}
