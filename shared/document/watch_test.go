package document_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/document"
)

func TestAWatchLooksOnceASecond(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	errDown := errors.New("down")
	looks, closed, failure := 0, false, error(nil)
	w := document.NewWatch(clock.Now, func(context.Context) (bool, error) {
		looks++
		return closed, failure
	})
	for _, step := range []struct {
		name    string
		later   time.Duration
		closed  bool
		failure error
		looks   int
		err     string // the code of the error
	}{
		{"the caller has just looked", 0, true, nil, 0, ""},
		{"less than a second later", 999 * time.Millisecond, true, nil, 0, ""},
		{"a second later", time.Millisecond, false, nil, 1, ""},
		{"a look fails", time.Second, false, errDown, 2, "down"},
		{"it looks again at once", 0, false, nil, 3, ""},
		{"the clock is set back", -time.Hour, false, nil, 4, ""},
		{"a document is closed", time.Second, true, nil, 5, apierr.CodeAccessChanged},
		{"what was closed stays so", time.Minute, false, nil, 5, apierr.CodeAccessChanged},
	} {
		clock.Advance(step.later)
		closed, failure = step.closed, step.failure
		err := w.Check(t.Context())
		ok := err == nil
		if step.err == "down" {
			ok = errors.Is(err, errDown)
		} else if step.err != "" {
			ok = apierr.IsCode(err, step.err)
		}
		if !ok || looks != step.looks {
			t.Errorf("%s: %v after %d looks, want %q after %d", step.name, err, looks, step.err, step.looks)
		}
	}
}
