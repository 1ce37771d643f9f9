package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/queue"
	"docent/shared/queue/local"
	"docent/shared/table"
	"docent/shared/table/bolt"
)

func TestMain(m *testing.M) {
	if file := os.Getenv("DOCENT_TEST_SEND_UNTIL_KILLED"); file != "" {
		if err := sendUntilKilled(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// openFile opens the queue "work" on a durable file.
func openFile(file string, o local.Options) (*bolt.Store, *local.Queue, error) {
	store, err := bolt.Open(file, bolt.Options{Tables: slices.Concat(table.Names, []string{local.Table})})
	if err != nil {
		return nil, nil, err
	}
	q, err := local.Open(store, "work", o)
	return store, q, err
}

func TestMessagesSurviveARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "docent.db")
	clock := newClock()
	restart := func() (*local.Queue, func()) {
		store, q, err := openFile(file, local.Options{Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		return q, func() {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	q, stop := restart()
	large := strings.Repeat("large", 100_000)
	send(t, q, "flying", large)
	if got := receive(t, q, 10); len(got) != 2 {
		t.Fatalf("received %q", got)
	}
	send(t, q, "waiting")
	stop()

	q, stop = restart()
	if got := receive(t, q, 10); len(got) != 1 || got[0] != "waiting 1" {
		t.Errorf("after the restart: %.100q, want only what was waiting", got)
	}
	clock.Advance(time.Minute - 1)
	if got := receive(t, q, 10); len(got) != 0 {
		t.Errorf("before the visibility timeout: %.100q", got)
	}
	stop()

	q, stop = restart()
	defer stop()
	clock.Advance(1)
	got := receive(t, q, 10)
	if !slices.Equal(got, []string{"flying 2", large + " 2", "waiting 2"}) {
		t.Errorf("after the visibility timeout: %.100q", got)
	}
}

// A process that is killed keeps every message that it was told is stored, also
// those that were in flight.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "docent.db")
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "DOCENT_TEST_SEND_UNTIL_KILLED="+file)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	lines := 0
	for out := bufio.NewScanner(out); out.Scan(); lines++ {
		what, body, _ := strings.Cut(out.Text(), " ")
		live[body] = what == "sent"
		if lines == 60 {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err == nil || lines < 60 {
		t.Fatalf("the process ended by itself after %d lines: %v", lines, err)
	}

	store, q, err := openFile(file, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := q.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for {
		got, err := q.Receive(t.Context(), 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			break
		}
		for _, m := range got {
			found[string(m.Body)] = true
		}
	}
	for body, sent := range live {
		if sent && !found[body] {
			t.Errorf("lost: %s", body)
		}
		if !sent && found[body] {
			t.Errorf("came again after Done: %s", body)
		}
	}
}

// sendUntilKilled sends messages in pairs, receives what it sent, finishes a
// part of it and leaves the rest in flight. It prints what is acknowledged.
func sendUntilKilled(file string) error {
	ctx := context.Background()
	_, q, err := openFile(file, local.Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		first, second := fmt.Sprintf("m%d", 2*i), fmt.Sprintf("m%d", 2*i+1)
		if err := q.Send(ctx, queue.Outgoing{Body: []byte(first)}, queue.Outgoing{Body: []byte(second)}); err != nil {
			return err
		}
		fmt.Printf("sent %s\nsent %s\n", first, second)
		got, err := q.Receive(ctx, 2, time.Second)
		if err != nil {
			return err
		}
		if err := q.Done(ctx, got[0]); err != nil {
			return err
		}
		fmt.Printf("done %s\n", got[0].Body)
	}
}
