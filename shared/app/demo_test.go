package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"docent/shared/app/faulttest"
	"docent/shared/table"
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

// TestADemoThatWasNotFinishedIsFinishedByTheNextStart: whichever write is the last before the disk is full or the process is killed,
// the next start shows keys that work, of one demo team that is whole.
func TestADemoThatWasNotFinishedIsFinishedByTheNextStart(t *testing.T) {
	t.Parallel()
	for at, ends := 1, false; !ends; at++ {
		stop := func() {} // called when the first sample is put, so that no start waits until they are found
		l := openHere(t, t.TempDir())
		l.documents.Now = func() time.Time {
			stop()
			return time.Now()
		}
		plan := &faulttest.Plan{}
		whole := l.Teams.Table
		faulty := faulttest.Table{Store: whole, Plan: plan}
		use := func(store table.Store) {
			l.Teams.Table, l.collections.Table, l.documents.Table, l.events.Table = store, store, store, store
		}
		use(faulty)
		var out bytes.Buffer
		greet := func() error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop = cancel
			return l.greet(ctx, ServeConfig{Demo: true, Out: &out, BaseURL: usualBase})
		}
		plan.Arm(faulttest.EndAfter, at)
		err := greet()
		ends = plan.Disarm() == ""
		use(whole)
		if ends != (err == nil) {
			t.Fatalf("call %d: %v", at, err)
		}
		if err == nil {
			out.Reset()
			if err := greet(); err != nil || strings.Contains(out.String(), "docent_team_") {
				t.Errorf("the second start: %v, %s", err, &out)
			}
		} else if err := greet(); err != nil {
			t.Fatalf("after call %d: %v", at, err)
		} else {
			l.isDemo(t, out.String())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// isDemo fails the test unless there is one demo team, whole, and the keys in a text are its only ones.
func (l *Local) isDemo(t *testing.T, greeting string) {
	t.Helper()
	teams, err := l.Teams.Teams(t.Context())
	if err != nil || len(teams) != 1 {
		t.Fatalf("teams %v, %v", teams, err)
	}
	keys, err := l.Teams.Keys(t.Context(), teams[0].ID, table.Window{Limit: 10})
	if err != nil || len(keys.Entries) != 2 {
		t.Errorf("%d keys, %v", len(keys.Entries), err)
	}
	for _, kind := range []string{"docent_pat_", "docent_team_"} {
		key := regexp.MustCompile(kind + `\S+`).FindString(greeting)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/documents?limit=100", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		l.Handler(usualBase).ServeHTTP(w, r)
		pages, err := fs.Glob(sample, "sample/*.md")
		want := len(pages)
		if kind == "docent_team_" {
			want++ // the private page
		}
		if n := strings.Count(w.Body.String(), `"uri":`); err != nil || w.Code != 200 || n != want {
			t.Errorf("%s: %d, %d documents, want %d", kind, w.Code, n, want)
		}
	}
}

// TestOnlyTheDemoNeedsAReaderOfItsGreeting: its keys are shown once. Any other start goes on if nobody reads where the API is.
func TestOnlyTheDemoNeedsAReaderOfItsGreeting(t *testing.T) {
	t.Parallel()
	l := openHere(t, t.TempDir())
	reader, gone := io.Pipe()
	_ = reader.Close()
	c := ServeConfig{Out: gone, BaseURL: usualBase, Log: slog.New(slog.DiscardHandler)}
	if err := l.greet(t.Context(), c); err != nil {
		t.Errorf("without a demo: %v", err)
	}
	c.Demo = true
	if err := l.greet(t.Context(), c); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("with a demo: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestALogHasNoLinkThatSignsIn: what a server without a demo prints goes to a journal, whose readers could become admin with it.
func TestALogHasNoLinkThatSignsIn(t *testing.T) {
	t.Parallel()
	pages := http.NotFoundHandler()
	for _, demo := range []bool{true, false} {
		l := openHere(t, t.TempDir())
		if _, _, err := l.Teams.CreateTeam(t.Context(), "acme", "ada"); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := ServeConfig{Demo: demo, Out: &out, BaseURL: usualBase, Program: "docent", DataDir: usualData, Parts: Parts{Pages: pages}}
		if err := l.greet(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if link := strings.Contains(out.String(), "#/sign-in/"); link != demo || !strings.Contains(out.String(), ": docent open") {
			t.Errorf("demo %t: printed %q", demo, &out)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
