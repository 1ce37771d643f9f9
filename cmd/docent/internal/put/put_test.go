package put_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/client"
	"docent/cmd/docent/internal/put"
	"docent/shared/filter"
	"docent/testkit/apitest"
)

const base = "https://wiki.example/"

// bench is a server with a collection, and a folder to put into it.
type bench struct {
	t      *testing.T
	api    *apitest.Server
	dir    string
	config put.Config
	warned []string
}

func newBench(t *testing.T, files ...string) *bench {
	t.Helper()
	b := &bench{t: t, api: apitest.New(t), dir: t.TempDir()}
	b.api.PageSize = 2
	c, err := client.New(b.api.URL, apitest.Key)
	if err != nil {
		t.Fatal(err)
	}
	c.Pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	b.config = put.Config{
		Client: c, CollectionID: b.api.AddCollection("wiki"), Description: "Pages.",
		Paths: []string{b.dir}, BaseURI: base, Parallel: 4, StateDir: t.TempDir(),
		Progress: func(_, _, _ int) {},
		Warn:     func(s string) { b.warned = append(b.warned, s) },
		Now:      time.Now,
	}
	for _, f := range files {
		b.write(f, "text of "+f)
	}
	return b
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) puts() int { return b.api.Calls("PUT /v1/documents") }

// run checks that a run succeeds with these counts.
func (b *bench) run(wantPut, wantUnchanged, wantFailed int) put.Summary {
	b.t.Helper()
	before := b.puts()
	s, err := put.Run(b.t.Context(), b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	if s.Put != wantPut || s.Unchanged != wantUnchanged || s.Failed != wantFailed {
		b.t.Fatalf("%d put, %d unchanged, %d failed; want %d, %d, %d; failures %v",
			s.Put, s.Unchanged, s.Failed, wantPut, wantUnchanged, wantFailed, s.Failures)
	}
	if len(b.warned) > 0 {
		b.t.Fatalf("warnings %q", b.warned)
	}
	if n := b.puts() - before; !b.config.DryRun && n != wantPut {
		b.t.Fatalf("%d requests, want %d", n, wantPut)
	}
	return s
}

func TestOnlyWhatChangedIsSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.txt", "sub/c.html", "d.md", "e.md", "x.png")
	if s := b.run(5, 0, 0); s.Skipped != 1 || s.CollectionID != b.config.CollectionID {
		t.Fatalf("summary %+v", s)
	}
	got := b.api.Documents()[base+"sub/c.html"]
	if got.Title != "c" || got.Body != "text of sub/c.html" || got.CollectionID != b.config.CollectionID {
		t.Fatalf("stored %+v", got)
	}
	b.run(0, 5, 0)

	b.write("a.md", "changed")
	b.run(1, 4, 0)
	b.write("b.txt", "# not a title\nchanged")
	b.write("new.md", "new")
	b.run(2, 4, 0)

	b.api.Change(base+"d.md", "by someone else")
	b.api.Lose(base + "e.md")
	b.run(2, 4, 0)
	if got := b.api.Documents()[base+"d.md"].Body; got != "text of d.md" {
		t.Fatalf("the server keeps %q", got)
	}
	b.run(0, 6, 0)

	b.config.Force = true
	b.run(6, 0, 0)
	b.config.Force = false
	b.run(0, 6, 0)

	b.config.StateDir = t.TempDir()
	b.run(6, 0, 0)
	b.config.CollectionID = b.api.AddCollection("other")
	b.run(6, 0, 0)
}

func TestMetadataOfFlagsAndFrontMatter(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.txt")
	b.run(2, 0, 0)
	b.config.Metadata = filter.Metadata{"product": filter.Text("api"), "version": filter.Number(2)}
	b.run(2, 0, 0)
	b.run(0, 2, 0)
	b.write("a.md", "---\nversion: 3\n---\ntext of a.md")
	b.run(1, 1, 0)
	for name, want := range map[string]string{"a.md": `{"product":"api","version":3}`, "b.txt": `{"product":"api","version":2}`} {
		if got := b.api.Documents()[base+name].Metadata; got != want {
			t.Errorf("%s has the metadata %s, want %s", name, got, want)
		}
	}
	b.config.Metadata = nil
	b.run(2, 0, 0)
	if got := b.api.Documents()[base+"b.txt"].Metadata; got != "" {
		t.Errorf("metadata %s after a run without", got)
	}
	b.write("c.md", "---\nmy-key: 1\nversion: 3\n---\ntext")
	b.write("d.md", "---\nmy-key: 1\nnested: {a: 1}\n---\ntext")
	if _, err := put.Run(t.Context(), b.config); err != nil || len(b.warned) != 2 ||
		!strings.Contains(b.warned[0], "not kept as metadata: my-key in the front matter of 2 files, such as ") || !strings.HasSuffix(b.warned[0], "c.md") ||
		!strings.Contains(b.warned[1], "nested in the front matter of ") || !strings.HasSuffix(b.warned[1], "d.md") {
		t.Errorf("warnings %q, %v", b.warned, err)
	}
	b.config.Metadata, b.warned = filter.Metadata{"x": filter.Bool(true)}, nil
	b.write("c.md", "text")
	b.write("d.md", "---\n"+manyKeys(20)+"---\ntext")
	b.run(3, 0, 1) // 21 members
}

func TestAccessOfFlagsAndFrontMatter(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.txt")
	b.run(2, 0, 0)
	b.config.Access = &client.Access{Users: []string{}, Groups: []string{"HR"}}
	b.run(2, 0, 0)
	b.run(0, 2, 0)
	b.write("a.md", "---\naccess: {users: [ada]}\n---\ntext of a.md")
	b.run(1, 1, 0)
	for name, want := range map[string]string{"a.md": `{"users":["ada"],"groups":[]}`, "b.txt": `{"users":[],"groups":["HR"]}`} {
		if got := b.api.Documents()[base+name].Access; got != want {
			t.Errorf("%s has the access %s, want %s", name, got, want)
		}
	}
	b.write("a.md", "---\naccess: {user: [ada]}\n---\ntext of a.md")
	b.run(0, 1, 1)
	b.config.Access = nil
	b.run(1, 0, 1)
}

// A rule that was set elsewhere, or by an earlier run, is not lost by putting the folder again.
func TestAccessStaysUnlessItIsTakenAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md")
	b.config.Access = &client.Access{Users: []string{"ada"}, Groups: []string{}}
	b.run(2, 0, 0)
	b.config.Access = nil
	b.write("a.md", "changed")
	b.run(2, 0, 0)
	check := func(want string) {
		t.Helper()
		for name, d := range b.api.Documents() {
			if d.Access != want {
				t.Errorf("%s has the access %q, want %q", name, d.Access, want)
			}
		}
	}
	check(`{"users":["ada"],"groups":[]}`)
	b.config.CollectionAccess = true
	b.run(2, 0, 0)
	check("")
	b.run(0, 2, 0)
}

func manyKeys(n int) string {
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, "k%d: %d\n", i, i)
	}
	return keys.String()
}

func TestChangeBySomeoneElseDuringTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md")
	var once atomic.Bool
	b.api.Refuse = func(_ http.ResponseWriter, r *http.Request) bool {
		// The first list after both puts is the one at the end of the run.
		if r.Method == http.MethodGet && b.puts() == 2 && once.CompareAndSwap(false, true) {
			b.api.Change(base+"a.md", "by someone else")
		}
		return false
	}
	b.run(2, 0, 0)
	b.run(1, 1, 0)
}

// snapshot copies the state as a kill at this moment would leave it, with the start of a line that was being
// written.
func snapshot(t *testing.T, from string) string {
	to := t.TempDir()
	names, err := filepath.Glob(filepath.Join(from, "*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Errorf("state files %v, %v", names, err)
		return to
	}
	data, err := os.ReadFile(names[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(to, filepath.Base(names[0])), append(data, `{"uri":"htt`...), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
	return to
}

func TestGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md", "c.md", "d.md", "e.md", "f.md")
	b.config.Parallel = 1
	var left string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.api.Refuse = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && left == "" && b.puts() == 3 {
			left = snapshot(t, b.config.StateDir)
			cancel()
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done() // an empty reply could arrive before the client has seen the end of ctx
			return true
		}
		return false
	}
	s, err := put.Run(ctx, b.config)
	if !errors.Is(err, put.ErrStopped) || s.Put != 3 || s.Failed != 0 {
		t.Fatalf("error %v, summary %+v", err, s)
	}
	killed := b.config
	killed.StateDir = left
	b.run(3, 3, 0) // after the clean stop
	b.config = killed
	b.api.Lose(base + "d.md")
	b.run(3, 3, 0) // after the kill; two of the three puts change nothing
	b.run(0, 6, 0)
}

func TestFailuresAreCountedAndTheRestIsPut(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "refused.md", "busy.md", "z.md")
	b.write("large.txt", strings.Repeat("x", 10<<20+1))
	b.write("full.txt", strings.Repeat("x", 10<<20)) // its title no longer fits
	b.write("latin.txt", "caf\xe9")
	var busy atomic.Int32
	b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		// The length of a small body distinguishes the documents.
		switch {
		case r.ContentLength == int64(len(fmt.Sprintf(`{"collectionId":%q,"title":"refused","body":"text of refused.md","uri":%q,"keepAccess":true}`,
			b.config.CollectionID, base+"refused.md"))):
			apitest.Problem(w, 400, "invalid-request", "Not this one.")
			return true
		case busy.Add(1) == 1:
			w.Header().Set("Retry-After", "1")
			apitest.Problem(w, 503, "unavailable", "Later.")
			return true
		}
		return false
	}
	s := b.run(3, 0, 4)
	want := []put.Failure{
		{Path: filepath.Join(b.dir, "full.txt"), Reason: "it has 10.0 MB, over the limit of 10 MB"},
		{Path: filepath.Join(b.dir, "large.txt"), Reason: "it has 10.0 MB, over the limit of 10 MB"},
		{Path: filepath.Join(b.dir, "latin.txt"), Reason: "it is not valid UTF-8"},
		{Path: filepath.Join(b.dir, "refused.md"), Reason: "Not this one. (invalid-request, request r-1)"},
	}
	if diff := cmp.Diff(want, s.Failures); diff != "" {
		t.Fatal(diff)
	}
}

func TestStopsAtOnceWhenGoingOnMakesNoSense(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		after  string // Retry-After
		puts   int32  // requests until the run stops
		want   string
	}{
		{"key revoked", 401, "", 1, "(code, request r-1)"},
		{"key may not", 403, "", 1, "(code, request r-1)"},
		{"daily quota of calls used up", 429, "30000", 1, "(code, request r-1)"},
		{"collection deleted", 404, "", 1, "is gone"},
		{"server permanently down", 503, "1", 15, "3 files in a row"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "a.md", "b.md", "c.md", "d.md", "e.md")
			b.config.Parallel = 1
			b.config.Delete = true
			var puts atomic.Int32
			b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPut {
					return false
				}
				puts.Add(1)
				w.Header().Set("Retry-After", tc.after)
				apitest.Problem(w, tc.status, "code", "No.")
				return true
			}
			s, err := put.Run(t.Context(), b.config)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
			if puts.Load() != tc.puts || s.Put != 0 || s.Failed == 0 {
				t.Fatalf("%d requests, want %d; summary %+v", puts.Load(), tc.puts, s)
			}
		})
	}
}

// TestGoesOnWhileTheServerComesBack checks that two files in a row that reach no server do not end a run if the
// next one does, however often.
func TestGoesOnWhileTheServerComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md", "c.md", "d.md", "e.md")
	b.config.Parallel = 1
	const triesOfTwoFiles = 10
	var puts atomic.Int32
	b.api.Refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || puts.Add(1) == triesOfTwoFiles+1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		apitest.Problem(w, 503, "unavailable", "No.")
		return true
	}
	s, err := put.Run(t.Context(), b.config)
	if err != nil || s.Put != 1 || s.Failed != 4 {
		t.Fatalf("error %v, summary %+v; want 1 put and 4 failed", err, s)
	}
}

func TestCollectionByName(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md")
	b.config.CollectionID, b.config.CollectionName = "", "handbook"

	b.config.DryRun = true
	if s := b.run(1, 0, 0); s.CollectionID != "" || b.api.Calls("POST /v1/collections") != 0 {
		t.Fatalf("a dry run made a collection: %+v", s)
	}
	b.config.DryRun = false
	first := b.run(1, 0, 0)
	second := b.run(0, 1, 0)
	if first.CollectionID == "" || first.CollectionID != second.CollectionID || b.api.Calls("POST /v1/collections") != 1 {
		t.Fatalf("collections %q and %q", first.CollectionID, second.CollectionID)
	}
	b.api.AddCollection("handbook")
	if _, err := put.Run(t.Context(), b.config); err == nil || !strings.Contains(err.Error(), "2 collections have the name") {
		t.Fatalf("error %v, want that the name is not unique", err)
	}
	b.config.CollectionID, b.config.CollectionName = "nowhere", ""
	if _, err := put.Run(t.Context(), b.config); err == nil || !strings.Contains(err.Error(), "there is no collection nowhere") {
		t.Fatalf("error %v, want that there is none", err)
	}
}

func TestDeletesWhatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md", "sub/c.md")
	elsewhere := *b
	elsewhere.config.BaseURI = "https://elsewhere.example/"
	b.run(3, 0, 0)
	elsewhere.run(3, 0, 0)
	if err := os.Remove(filepath.Join(b.dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(b.dir, "sub")); err != nil {
		t.Fatal(err)
	}
	b.write("a.md", "caf\xe9") // fails, but exists
	if s := b.run(0, 0, 1); s.Deleted != 0 || len(b.api.Documents()) != 6 {
		t.Fatalf("deleted without being asked: %+v", s)
	}
	b.config.Delete, b.config.DryRun = true, true
	s := b.run(0, 0, 1)
	want := []put.Planned{{Action: "delete", URI: base + "b.md"}, {Action: "delete", URI: base + "sub/c.md"}}
	if diff := cmp.Diff(want, s.Planned); diff != "" || len(b.api.Documents()) != 6 {
		t.Fatalf("dry run: %s", diff)
	}
	b.config.DryRun = false
	if s := b.run(0, 0, 1); s.Deleted != 2 {
		t.Fatalf("summary %+v", s)
	}
	for uri := range b.api.Documents() {
		if uri == base+"b.md" || uri == base+"sub/c.md" {
			t.Errorf("%s is still there", uri)
		}
	}
	if n := len(b.api.Documents()); n != 4 {
		t.Fatalf("%d documents are left, want 4", n)
	}
}

func TestWithoutAStateFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md")
	b.config.StateDir = filepath.Join(b.dir, "a.md", "below-a-file")
	for range 2 {
		b.warned = nil
		s, err := put.Run(t.Context(), b.config)
		if err != nil || s.Put != 1 || len(b.warned) == 0 {
			t.Fatalf("error %v, summary %+v, warnings %q", err, s, b.warned)
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "a.md", "b.md")
	b.config.DryRun = true
	s := b.run(2, 0, 0)
	if diff := cmp.Diff([]put.Planned{{Action: "put", URI: base + "a.md"}, {Action: "put", URI: base + "b.md"}}, s.Planned); diff != "" {
		t.Fatal(diff)
	}
	left, err := os.ReadDir(b.config.StateDir)
	if err != nil || len(left) != 0 || b.puts() != 0 {
		t.Fatalf("a dry run left %v, made %d puts, %v", left, b.puts(), err)
	}
}
