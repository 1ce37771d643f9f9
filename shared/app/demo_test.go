package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestAFirstStartThatIsInterruptedShowsItsKeys stops the first start while the demo team is made. Later starts show no
// keys, because they find a team.
func TestAFirstStartThatIsInterruptedShowsItsKeys(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	opened := false
	l, err := OpenLocal(t.Context(), t.TempDir(), LocalOptions{Log: slog.New(slog.DiscardHandler), NoSync: true, Now: func() time.Time {
		if opened { // so the first record is made
			cancel()
		}
		return time.Now()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opened = true
	var out bytes.Buffer
	if err := l.greet(ctx, ServeConfig{Demo: true, Out: &out, BaseURL: usualBase}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "team key              docent_team_") || !strings.Contains(out.String(), "admin's personal key  docent_pat_") {
		t.Errorf("printed %q", &out)
	}
}
