package app

import (
	"strings"
	"testing"
	"time"

	"docent/shared/pending"
)

// TestFailedIndexingIsVisibleAndPutAgainRetries: a document that cannot be indexed is shown as
// failed, and putting it again unchanged retries.
func TestFailedIndexingIsVisibleAndPutAgainRetries(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki := h.collection("wiki")
	h.put(wiki, smallURI, "The zebra is small.")
	state := func() string { return string(h.must(200, "GET", "/documents/"+h.id(smallURI), nil).body) }
	h.outwait(indexPatience)
	if got := state(); !strings.Contains(got, `"state":"failed","error":{"code":"internal"`) {
		t.Fatalf("given up: %s", got)
	}
	h.work() // the late message finds nothing to do
	if got := state(); !strings.Contains(got, `"failed"`) {
		t.Fatalf("after the late message: %s", got)
	}
	h.put(wiki, smallURI, "The zebra is small.")
	h.work()
	if got := state(); !strings.Contains(got, `"state":"indexed"`) {
		t.Errorf("put again: %s", got)
	}
	h.found(t, "zebra", true)
	h.repair()
	h.consistent(t)
}

// TestWorkOfADeletedDocumentFailsNothing: giving up work that is no longer needed leaves no
// trace.
func TestWorkOfADeletedDocumentFailsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wiki := h.collection("wiki")
	h.put(wiki, smallURI, "The zebra is small.")
	h.must(204, "DELETE", "/documents/"+h.id(smallURI), nil)
	h.outwait(indexPatience)
	h.work()
	h.repair()
	h.consistent(t)
}

// TestAnUnansweredQuestionFails: a question that no worker finishes in time fails with a code
// that says so. Asked under another id, it is answered.
func TestAnUnansweredQuestionFails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.must(204, "PUT", "/answers/"+questionID, map[string]string{"question": "How small is the zebra?"})
	h.outwait(patience(pending.AnswerQuestion))
	if got := string(h.must(200, "GET", "/answers/"+questionID, nil).body); !strings.Contains(got, `"state":"failed","error":{"code":"timeout"`) {
		t.Errorf("given up: %s", got)
	}
	h.work() // the late message changes nothing
	if got := string(h.must(200, "GET", "/answers/"+questionID, nil).body); !strings.Contains(got, `"failed"`) {
		t.Errorf("after the late message: %s", got)
	}
}

// outwait sweeps until work that is pending now has been so for longer than patience, and returns how much was given up.
func (h *home) outwait(patience time.Duration) (givenUp int) {
	h.t.Helper()
	const pause = 5 * time.Minute // after a longer pause, patience counts from the start
	for range patience/pause + 2 {
		swept, err := h.services.sweeper.Sweep(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		givenUp += swept.GivenUp
		h.clock.Advance(pause)
	}
	return givenUp
}
