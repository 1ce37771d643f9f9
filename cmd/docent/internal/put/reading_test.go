package put_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/cmd/docent/internal/put"
)

// reads makes the server reply with the indexing of every document, given how often it was asked before.
func (b *bench) reads(indexing func(before int64) string) *atomic.Int64 {
	var asked atomic.Int64
	b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/v1/documents/") {
			return false
		}
		_, _ = io.WriteString(w, `{"indexing":`+indexing(asked.Add(1)-1)+`}`)
		return true
	}
	return &asked
}

const unreadable = `{"state":"failed","error":{"code":"unreadable-file","detail":"The file is protected by a password."}}`

func TestAFileWhoseTextCannotBeReadFailsWithItsReason(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md")
	b.write("secret.pdf", "%PDF-locked")
	b.reads(func(before int64) string {
		if before < 3 {
			return `{"state":"extracting"}`
		}
		return unreadable
	})
	for range 2 { // it is not forgotten, as an unchanged file would be
		sum, err := put.Run(t.Context(), b.config)
		if err != nil || sum.Put+sum.Unchanged != 1 || sum.Failed != 1 {
			t.Fatalf("%+v, %v", sum, err)
		}
		f := sum.Failures[0]
		if !strings.HasSuffix(f.Path, "secret.pdf") || f.Reason != "its text cannot be read: The file is protected by a password." {
			t.Errorf("%+v", f)
		}
	}
	b.api.Refuse = nil
	b.run(1, 1, 0)
	b.run(0, 2, 0)
}

func TestAWarningNamesWhatAFileLacks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("scan.pdf", "%PDF-scan")
	asked := b.reads(func(int64) string { return `{"state":"pending","notes":["Page 2 is a picture without text."]}` })
	sum, err := put.Run(t.Context(), b.config)
	if err != nil || sum.Put != 1 || len(b.warned) != 1 || !strings.HasSuffix(b.warned[0], "scan.pdf: Page 2 is a picture without text.") {
		t.Fatalf("%+v, %v, warned %q", sum, err, b.warned)
	}
	b.warned = nil
	if b.run(0, 1, 0); asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestTheNextRunReportsAFileThatWasNotWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		wait bool
		want []string
	}{
		{"without waiting", false, nil},
		{"after a server that reads no file", true, []string{"warning: the server is still reading 1 file; run the same command again to see whether their text can be read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("a.pdf", "%PDF-a")
			b.config.NoWait = !c.wait
			now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			b.config.Now = func() time.Time { return now }
			b.config.Client.Pause = func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil }
			b.reads(func(int64) string { return `{"state":"extracting"}` })
			if sum, err := put.Run(t.Context(), b.config); err != nil || sum.Put != 1 || sum.Failed != 0 || !slices.Equal(b.warned, c.want) {
				t.Fatalf("%+v, %v, warned %q", sum, err, b.warned)
			}
			b.config.NoWait = false
			b.reads(func(int64) string { return unreadable })
			if sum, err := put.Run(t.Context(), b.config); err != nil || sum.Unchanged != 0 || sum.Failed != 1 {
				t.Fatalf("%+v, %v", sum, err)
			}
		})
	}
}
