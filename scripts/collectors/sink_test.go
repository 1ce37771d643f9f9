package collectors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// updated is the type of the events that the writes cause.
const updated = "collection.updated"

// event has the fields of an event that the test reads.
type event struct {
	ID        string
	Sequence  int64
	EventType string
	Changes   []struct {
		Field string
		To    any
	}
}

// collector is a running recipe and its destination.
type collector struct {
	t    *testing.T
	name string
	dir  string
	env  []string
	sink *httptest.Server

	mu         sync.Mutex
	process    *exec.Cmd
	ended      bool // killed permanently
	deliveries int
	kills      int
	got        []event         // the first of each id, in order of arrival
	seen       map[string]bool // ids
	repeats    int
	wanted     int           // writes
	whole      chan struct{} // closed when all writes have arrived
}

// At every such number of deliveries one fails: the collector is killed before or after it learns that the delivery
// was accepted, or learns that it was not.
const everyDelivery = 2

func newCollector(t *testing.T, as, recipe string, s *server, wanted int) *collector {
	t.Helper()
	c := &collector{t: t, name: as, dir: t.TempDir(), seen: map[string]bool{}, wanted: wanted,
		whole: make(chan struct{})}
	if err := os.Mkdir(filepath.Join(c.dir, "cursors"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "recipe"), []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	c.sink = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.sink.Close)
	c.env = append(os.Environ(), runAs+"="+as, "FEED="+s.url, "KEY="+s.key, "SINK="+c.sink.URL)
	c.start()
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		kill(t, c.process)
	})
	return c
}

// start starts the collector. The caller must hold mu or be the only one.
func (c *collector) start() {
	// Not of the test's context, which ends before the cleanup that ends the restarts.
	c.process = exec.CommandContext(context.WithoutCancel(c.t.Context()), os.Args[0])
	c.process.Dir, c.process.Env = c.dir, c.env
	log := logFile(c.t, c.dir, "log")
	c.process.Stdout, c.process.Stderr = log, log
	if err := c.process.Start(); err != nil {
		c.t.Error(err)
	}
}

// take accepts a delivery and makes some of them fail.
func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		return // the collector was killed while it sent
	}
	c.deliveries++
	switch c.deliveries % (3 * everyDelivery) {
	case everyDelivery: // refused
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case 2 * everyDelivery: // accepted, but the collector never learns it
		defer c.restart()
	case 0: // accepted, but the collector is killed while or after it saves its cursor
		defer func() { go c.restartLater() }()
	}
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil || e.ID == "" {
			c.t.Errorf("%s delivered %q: %v", c.name, line, err)
			return
		}
		if c.seen[e.ID] {
			c.repeats++
			continue
		}
		c.seen[e.ID] = true
		c.got = append(c.got, e)
		if e.EventType == updated {
			if c.wanted--; c.wanted == 0 {
				close(c.whole)
			}
		}
	}
}

// restart kills the collector and starts it again, unless the test is over. The caller must hold mu.
func (c *collector) restart() {
	if c.ended {
		return
	}
	kill(c.t, c.process)
	c.kills++
	c.start()
}

func (c *collector) restartLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restart()
}

// compare compares what arrived with what was written, and its order with that of the feed.
func (c *collector) compare(writers, each int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := map[string]int{}
	last := int64(0)
	for _, e := range c.got {
		if e.Sequence <= last {
			c.t.Errorf("%s: number %d after %d", c.name, e.Sequence, last)
		}
		last = e.Sequence
		if e.EventType != updated {
			continue
		}
		writer, n := "", 0
		if _, err := fmt.Sscanf(strings.ReplaceAll(fmt.Sprint(e.Changes[0].To), "-", " "), "%s %d", &writer, &n); err != nil {
			c.t.Errorf("%s: changes %+v: %v", c.name, e.Changes, err)
		}
		if n != next[writer] {
			c.t.Errorf("%s: write %d of %s where %d was due", c.name, n, writer, next[writer])
		}
		next[writer] = n + 1
	}
	for w := range writers {
		if n := next[fmt.Sprintf("w%d", w)]; n != each {
			c.t.Errorf("%s: %d of the %d writes of writer %d", c.name, n, each, w)
		}
	}
	c.t.Logf("%s: %d events in %d deliveries, killed %d times, %d repeats dropped by id", c.name, len(c.got), c.deliveries, c.kills, c.repeats)
}
