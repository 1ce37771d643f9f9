package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// TestABackupUnderLoadHasAllThatWasAcknowledged takes backups of a server while clients put documents and ask.
// Each is restored, and holds everything that was acknowledged before it began.
func TestABackupUnderLoadHasAllThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	const (
		clients = 4
		rounds  = 60 // of a put and a question each
		backups = 2
	)
	c := newCrash(t)
	c.start()
	var busy sync.WaitGroup
	for n := range clients {
		busy.Go(func() {
			for round := range rounds {
				c.putOnceAndAsk(n, round)
			}
		})
	}
	type acknowledged struct {
		file      string
		documents map[string]string
		questions map[string]bool
	}
	var taken []acknowledged
	for n := 1; n <= backups; n++ {
		c.reached(int64(n * 2 * clients * rounds / (backups + 1)))
		c.mu.Lock()
		before := acknowledged{documents: maps.Clone(c.documents), questions: maps.Clone(c.questions)}
		c.mu.Unlock()
		var done struct{ File string }
		c.cli(&done, "backup", "--data", c.data(), "--json", filepath.Join(c.dir, fmt.Sprintf("backup-%d.tar", n)))
		before.file = done.File
		taken = append(taken, before)
	}
	busy.Wait()
	if t.Failed() {
		return
	}
	if err := c.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.ended() // the kill is no failure
	for n, before := range taken {
		restored := newRestored(c, before.file, n)
		restored.start()
		for uri, body := range before.documents {
			if got := string(restored.until(200, "GET", "/documents/"+restored.id(uri), nil)); !strings.Contains(got, strings.TrimSpace(body)) {
				t.Errorf("backup %d: %s is %s", n, uri, got)
			}
		}
		for id := range before.questions {
			restored.until(200, "GET", "/answers/"+id, nil)
		}
		if err := restored.server.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := restored.ended(); err != nil {
			t.Errorf("docent serve did not end well: %v", err)
		}
		var reports []struct{ Damaged, Missing []string }
		restored.cli(&reports, "index", "check", "--data", restored.data(), "--json")
		if len(reports) != 1 || len(reports[0].Damaged)+len(reports[0].Missing) > 0 {
			t.Errorf("backup %d: index check: %+v", n, reports)
		}
		t.Logf("backup %d: %d documents and %d questions were acknowledged before it, and are there", n, len(before.documents), len(before.questions))
	}
}

// putOnceAndAsk puts a document that nothing changes later, and asks a question.
func (c *crash) putOnceAndAsk(n, round int) {
	uri, body := fmt.Sprintf("https://crash.test/once/%d/%d", n, round), fmt.Sprintf("The token of this page is tok%dx%d.\n", n, round)
	c.until(200, "PUT", "/documents", map[string]string{"collectionId": c.collection, "uri": uri, "title": "T", "body": body})
	c.set(uri, body)
	id := uuid.NewString()
	c.until(204, "PUT", "/answers/"+id, map[string]string{"question": fmt.Sprintf("What is tok%dx%d?", n, round)})
	c.mu.Lock()
	c.questions[id] = true
	c.mu.Unlock()
	for range 2 {
		c.done.Add(1)
		c.progress <- struct{}{}
	}
}

// newRestored returns c with the data of a backup.
func newRestored(c *crash, file string, n int) *crash {
	c.t.Helper()
	r := &crash{t: c.t, dir: filepath.Join(c.dir, fmt.Sprintf("restored-%d", n)), binary: c.binary, key: c.key, team: c.team, collection: c.collection}
	var done struct{ Objects int }
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	r.cli(&done, "restore", "--data", r.data(), "--json", file)
	return r
}
