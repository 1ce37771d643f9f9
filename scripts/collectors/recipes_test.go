package collectors

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	writers    = 8
	eachWrites = 150
	kills      = 4
	// patience is how long the collectors may take to reach the end of the feed after the last write; a collector
	// that waits before it tries again is not stuck.
	patience = 2 * time.Minute
)

// recipe returns the first block of that language under the heading.
func recipe(t *testing.T, heading, language string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "functions/securityevents/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(raw), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	_, block, ok := strings.Cut(section, "```"+language+"\n")
	if !ok {
		t.Fatalf("no %s under %q", language, heading)
	}
	block, _, _ = strings.Cut(block, "\n```")
	return block + "\n"
}

// TestRecipesMissNothing lets both collectors poll docent serve while eight clients write, kills each of the three
// again and again, and compares what was delivered with what was acknowledged.
func TestRecipesMissNothing(t *testing.T) {
	t.Parallel()
	each := eachWrites
	if text := os.Getenv("DOCENT_COLLECTOR_WRITES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 20 {
			t.Fatalf("DOCENT_COLLECTOR_WRITES %q: a number of writes per writer, 20 or more", text)
		}
		each = n
	}
	s := newServer(t, writers*each)
	s.start()
	t.Cleanup(s.kill)
	collectors := []*collector{
		newCollector(t, elasticAgent, recipe(t, "Elastic Agent and Filebeat", "yaml"), s, writers*each),
		newCollector(t, bento, recipe(t, "Bento", "yaml"), s, writers*each),
	}
	var clients sync.WaitGroup
	s.write(&clients, writers, each)
	for kill := 1; kill <= kills; kill++ {
		s.reached(int64(kill * writers * each / (kills + 1)))
		s.kill()
		s.start()
	}
	clients.Wait()
	late := time.After(patience)
	for _, c := range collectors {
		select {
		case <-c.whole:
		case <-late:
			t.Errorf("%s has not come to the end", c.name)
		}
		c.compare(writers, each)
	}
}
