package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/team"
)

var errFull = errors.New("no space left")

// failing accepts some writes and then fails.
type failing struct {
	bytes.Buffer
	left int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return f.Buffer.Write(p)
}

func eventIDs(t *testing.T, lines string) []string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(lines) {
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// feed is a server with a team. create makes keys: one event each, after the two events of the team's first admin.
type feed struct {
	url    string
	create func(n int) (key string)
}

func newFeed(t *testing.T) feed {
	t.Helper()
	local, acme, _ := newTeam(t)
	create := func(n int) (key string) {
		t.Helper()
		for i := range n {
			var err error
			if _, key, err = local.Teams.CreateKey(t.Context(), acme.ID, team.NewKey{Kind: team.KindTeam, Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		return key
	}
	handler := new(http.Handler)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	*handler = local.Handler(server.URL + "/v1")
	return feed{server.URL + "/v1", create}
}

// TestEventsFollowEndsAnUnfinishedLine appends to a file in which a full disk, or a kill, left half a line.
func TestEventsFollowEndsAnUnfinishedLine(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	key := f.create(1)
	for before, want := range map[string]string{"": "", "{\"id\":\"evt_1\"}\n": "{\"id\":\"evt_1\"}\n", "{\"id\":\"evt_": "{\"id\":\"evt_\n"} {
		name := file(t, "events.jsonl", before)
		out, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var errOut bytes.Buffer
		status := run(t.Context(), []string{"events", "follow", "--once", "--server", f.url, "--key", key, "--cursor-file", filepath.Join(t.TempDir(), "cursor")}, out, &errOut)
		if err := out.Close(); status != exitOK || err != nil {
			t.Fatalf("status %d, %s, %v", status, &errOut, err)
		}
		written, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		events, ok := strings.CutPrefix(string(written), want)
		if !ok || len(eventIDs(t, events)) != 3 {
			t.Errorf("after %q: %s", before, written)
		}
	}
}

// TestEventsFollowResumes stops the follower between writing and saving, and while writing. No event is lost, and
// events that are printed again have the same id.
func TestEventsFollowResumes(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	key := f.create(250) // two pages, with the first admin
	cursor := filepath.Join(t.TempDir(), "cursor")
	args := []string{"events", "follow", "--once", "--server", f.url, "--key", key, "--cursor-file", cursor}

	broken := &failing{left: 1}
	var errOut bytes.Buffer
	if status := run(t.Context(), args, broken, &errOut); status != exitFailed {
		t.Fatalf("a full disk: status %d, %s", status, errOut.String())
	}
	got := eventIDs(t, broken.String())
	if len(got) != 200 {
		t.Fatalf("%d events before the disk was full", len(got))
	}
	saved, err := os.ReadFile(cursor)
	if err != nil {
		t.Fatal(err)
	}
	var rest []string
	for range 2 { // the second run is after a kill between writing and saving
		if err := os.WriteFile(cursor, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, said := docent(t, args...)
		if status != exitOK {
			t.Fatalf("status %d: %s", status, said)
		}
		again := eventIDs(t, out)
		if rest != nil && !slices.Equal(rest, again) {
			t.Errorf("then %d events, first %d", len(again), len(rest))
		}
		rest = again
	}
	got = append(got, rest...)
	if want := 2 + 250; len(got) != want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != want {
		t.Errorf("%d events", len(got))
	}
	f.create(3)
	if _, out, _ := docent(t, args...); len(eventIDs(t, out)) != 3 {
		t.Errorf("later: %s", out)
	}
	if err := os.WriteFile(cursor, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, said := docent(t, args...); status != exitFailed || !strings.Contains(said, "cursor") {
		t.Errorf("a damaged cursor: status %d, %s", status, said)
	}
}

// TestACursorReplacesNoDevice names a file that a rename would replace, such as /dev/null.
func TestACursorReplacesNoDevice(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	folder := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, file := range []string{folder, filepath.Join(folder, "s")} {
		status, out, said := docent(t, "events", "follow", "--once", "--server", f.url, "--key", f.create(1), "--cursor-file", file)
		if status != exitFailed || out != "" || !strings.Contains(said, file+" is not an ordinary file") {
			t.Errorf("status %d, output %q, errors %q", status, out, said)
		}
	}
}

// TestACursorBehindALinkStaysThere, also if the file is made only now.
func TestACursorBehindALinkStaysThere(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	folder := t.TempDir()
	file, link := filepath.Join(folder, "disk", "cursor"), filepath.Join(folder, "cursor")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("disk", "cursor"), link); err != nil {
		t.Skip(err) // Windows allows it to some only
	}
	for again := range 2 {
		status, out, said := docent(t, "events", "follow", "--once", "--server", f.url, "--key", f.create(1), "--cursor-file", link)
		if got := len(eventIDs(t, out)); status != exitOK || (got == 1) != (again == 1) {
			t.Fatalf("status %d, %d events, errors %q", status, got, said)
		}
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			t.Fatalf("the file behind the link: %v, %v", info, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("the link: %v, %v", info, err)
		}
	}
}

// TestNothingIsPrintedWhoseCursorCannotBeKept: a forwarder restarts the command at once, which would print the same events again and again.
func TestNothingIsPrintedWhoseCursorCannotBeKept(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	cursor := filepath.Join(t.TempDir(), strings.Repeat("c", 250)) // there is no longer name for its new text
	status, out, said := docent(t, "events", "follow", "--once", "--server", f.url, "--key", f.create(1), "--cursor-file", cursor)
	if status != exitFailed || out != "" || !strings.Contains(said, "save the cursor") {
		t.Errorf("status %d, output %q, errors %q", status, out, said)
	}
}

// TestARefusedRequestEndsTheCommand waits for more, so it would send for ever what is refused every time. What a proxy answers in place
// of the server is tried again.
func TestARefusedRequestEndsTheCommand(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	key := f.create(1)
	cursor := filepath.Join(t.TempDir(), "cursor")
	if status, _, said := docent(t, "events", "follow", "--once", "--server", f.url, "--key", key, "--cursor-file", cursor); status != exitOK {
		t.Fatalf("status %d: %s", status, said)
	}
	answers := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		return server.URL + "/v1"
	}
	for name, test := range map[string]struct {
		server, file, since string
		says                string
		again               bool
	}{
		"a since that is neither a time nor an id": {f.url, cursor + "2", "yesterday", "--since: must be an RFC 3339 time or the id of an event", false},
		"an address without the API":               {strings.TrimSuffix(f.url, "1") + "2", cursor + "2", "", "The API is under /v1", false},
		"a cursor past retention": {answers(http.StatusGone, `{"status":410,"code":"cursor-expired","detail":"Events are kept for 365 days."}`), cursor, "",
			cursor + " is from before the oldest event that is kept. Name another file, or remove it", false},
		"a proxy that has lost the server": {answers(http.StatusNotFound, `{"message":"no route"}`), cursor, "", "trying again", true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a command that does not end
		t.Cleanup(cancel)
		args := []string{"events", "follow", "--server", test.server, "--key", key, "--cursor-file", test.file, "--every", "1ms"}
		if test.since != "" {
			args = append(args, "--since", test.since)
		}
		var out bytes.Buffer
		said := endsAfter{text: "trying again", end: cancel}
		status := run(ctx, args, &out, &said)
		if !strings.Contains(said.String(), test.says) || strings.Contains(said.String(), "trying again") != test.again || !test.again && status != exitFailed {
			t.Errorf("%s: status %d, output %q, errors %q", name, status, &out, said.String())
		}
	}
}

// endsAfter keeps what a command writes, and ends the command after a text.
type endsAfter struct {
	bytes.Buffer

	text string
	end  func()
}

func (e *endsAfter) Write(p []byte) (int, error) {
	n, err := e.Buffer.Write(p)
	if strings.Contains(e.String(), e.text) {
		e.end()
	}
	return n, err
}

// TestACursorThatCannotBeUsedEndsTheCommand waits for more, so it would try a refused cursor for ever. Without a folder for the file,
// nothing is printed whose cursor could not be kept.
func TestACursorThatCannotBeUsedEndsTheCommand(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	key := f.create(1)
	wrong := filepath.Join(t.TempDir(), "cursor")
	if err := os.WriteFile(wrong, []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "none", "cursor")
	for file, want := range map[string]string{
		wrong:   wrong + " has no cursor of this server's feed in this format. Name another file, or remove it to start again, with --since",
		nowhere: "there is no folder " + filepath.Dir(nowhere),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the command that does not end
		t.Cleanup(cancel)
		var out, said bytes.Buffer
		status := run(ctx, []string{"events", "follow", "--server", f.url, "--key", key, "--cursor-file", file, "--every", "1ms"}, &out, &said)
		if status != exitFailed || out.Len() > 0 || !strings.Contains(said.String(), want) || strings.Contains(said.String(), "trying again") {
			t.Errorf("status %d, output %q, errors %q, want %q", status, &out, &said, want)
		}
	}
}
