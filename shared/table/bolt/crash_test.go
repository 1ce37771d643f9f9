package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

const crashFile = "DOCENT_TEST_BOLT_CRASH_FILE"

// TestMain runs as the writer to be killed if the environment names a file.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		writeUntilKilled(path)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func crashKey(writer, n int, half string) table.Key {
	return table.Key{Table: table.Documents, Partition: fmt.Sprint(writer), Sort: table.Padded(int64(n)) + half}
}

// writeUntilKilled reports each Write on standard output after it has returned.
func writeUntilKilled(path string) {
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var output sync.Mutex
	var writers sync.WaitGroup
	for writer := range 4 {
		writers.Go(func() {
			for n := 0; ; n++ {
				err := s.Write(context.Background(),
					table.Put{Item: table.Item{Key: crashKey(writer, n, "a"), Body: make([]byte, 3000)}, If: table.Absent()},
					table.Add{Key: table.Key{Table: table.Usage, Partition: "count", Sort: fmt.Sprint(writer)}, By: map[string]int64{"n": 1}},
					table.Put{Item: table.Item{Key: crashKey(writer, n, "b"), Body: make([]byte, 3000)}})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				output.Lock()
				fmt.Println(writer, n)
				output.Unlock()
			}
		})
	}
	writers.Wait()
}

func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for round := range 3 {
		path := filepath.Join(t.TempDir(), "docent.db")
		acknowledged := killWriter(t, path, 20*(round+1))
		s, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for writer := range 4 {
			checkWriter(t, s, writer, acknowledged[writer])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killWriter runs the writer, kills it after some acknowledged Writes, and returns the number of
// acknowledged Writes of each of its goroutines.
func killWriter(t *testing.T, path string, after int) map[int]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashFile+"="+path)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[int]int{}
	lines := bufio.NewScanner(output)
	for seen := 0; lines.Scan(); seen++ {
		var writer, n int
		if _, err := fmt.Sscan(lines.Text(), &writer, &n); err != nil {
			t.Errorf("line %q: %v", lines.Text(), err)
		}
		acknowledged[writer] = n + 1
		if seen == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the writer was not killed: %v", err)
	}
	return acknowledged
}

// checkWriter counts the Writes of writer: at least the acknowledged ones, and at most one more,
// which was killed before its answer.
func checkWriter(t *testing.T, s *bolt.Store, writer, acknowledged int) {
	t.Helper()
	var sorts []string
	for item, err := range table.All(t.Context(), s, table.Query{Table: table.Documents, Partition: fmt.Sprint(writer)}) {
		if err != nil {
			t.Fatal(err)
		}
		sorts = append(sorts, item.Sort)
	}
	writes := len(sorts) / 2
	if writes < acknowledged || writes > acknowledged+1 {
		t.Errorf("writer %d: %d writes are there, %d were acknowledged", writer, writes, acknowledged)
	}
	for n, sort := range sorts {
		if want := crashKey(writer, n/2, string("ab"[n%2])).Sort; sort != want {
			t.Fatalf("writer %d: item %d is %q, want %q", writer, n, sort, want)
		}
	}
	count, err := s.Get(t.Context(), table.Key{Table: table.Usage, Partition: "count", Sort: fmt.Sprint(writer)})
	if writes == 0 && errors.Is(err, table.ErrNotFound) {
		return
	}
	if err != nil || count.Numbers["n"] != int64(writes) || len(sorts)%2 != 0 {
		t.Errorf("writer %d: counted %d (%v), %d items", writer, count.Numbers["n"], err, len(sorts))
	}
}
