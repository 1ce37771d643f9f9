//go:build unix

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/testkit/serving"
)

// stopWithin is after how long docent serve counts as hanging. It drains within 10 seconds, unless other processes take the processors.
const stopWithin = time.Minute

// TestServeDrainsWhenItIsTerminated ends docent serve with SIGTERM while clients put, ask and wait for their
// answers. Running requests are answered, and afterwards everything acknowledged exists, once.
func TestServeDrainsWhenItIsTerminated(t *testing.T) {
	t.Parallel()
	const (
		clients = 8
		rounds  = 60 // of a put and a question each
		stops   = 3
	)
	c := newCrash(t)
	c.start()
	var busy sync.WaitGroup
	var released atomic.Int64
	for n := range clients {
		busy.Go(func() {
			for round := range rounds {
				released.Add(c.putAndAsk(n, round))
			}
		})
	}
	for stop := 1; stop <= stops; stop++ {
		c.reached(int64(stop * 2 * clients * rounds / (stops + 1)))
		c.terminate()
		c.start()
	}
	busy.Wait()
	if t.Failed() {
		return
	}
	c.verify()
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "requests were cut off") {
		t.Error("requests were cut off")
	}
	t.Logf("%d long polls were released before their answer", released.Load())
}

// putAndAsk puts a document, asks for it and polls until the answer is there. It
// returns how many polls ended before that.
func (c *crash) putAndAsk(client, round int) (released int64) {
	uri := fmt.Sprintf("https://crash.test/stop/%d/%d", client, round%crashFiles)
	body := fmt.Sprintf("The token of this page is tok%dx%d.\n", client, round)
	c.until(200, "PUT", "/documents", map[string]string{"collectionId": c.collection, "uri": uri, "title": "T", "body": body})
	c.set(uri, body)
	c.acknowledged()
	id := uuid.NewString()
	c.until(204, "PUT", "/answers/"+id, map[string]string{"question": fmt.Sprintf("What is tok%dx%d?", client, round)})
	c.mu.Lock()
	c.questions[id] = true
	c.mu.Unlock()
	c.acknowledged()
	for {
		var a struct{ State string }
		if err := json.Unmarshal(c.until(200, "GET", "/answers/"+id, nil), &a); err != nil {
			c.t.Errorf("poll %s: %v", id, err)
			return released
		}
		if a.State != "processing" {
			return released
		}
		released++
	}
}

func (c *crash) acknowledged() {
	c.done.Add(1)
	c.progress <- struct{}{}
}

// terminate ends the server as a supervisor does that signals the process and its group. It must end well and in time.
func (c *crash) terminate() {
	c.t.Helper()
	if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; runtime.Gosched() {
		_ = c.server.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	ended := make(chan error, 1)
	go func() { ended <- c.ended() }()
	limit := time.NewTimer(stopWithin)
	defer limit.Stop()
	select {
	case err := <-ended:
		if err != nil {
			c.t.Fatalf("docent serve did not end well: %v", err)
		}
	case <-limit.C:
		c.t.Fatalf("docent serve did not end within %s", stopWithin)
	}
}

// TestAClosedTerminalEndsTheServerAsATermination does, unless nohup keeps the server running.
func TestAClosedTerminalEndsTheServerAsATermination(t *testing.T) {
	t.Parallel()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // else the server inherits that nohup keeps the tests running
	t.Cleanup(func() { signal.Stop(hangups) })
	c := newCrash(t)
	c.start()
	if err := c.server.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := c.ended(); err != nil {
		t.Errorf("docent serve did not end well: %v", err)
	}
	program := c.binary
	c.binary = filepath.Join(c.dir, "nohup")
	if err := os.WriteFile(c.binary, fmt.Appendf(nil, "#!/bin/sh\ntrap '' HUP\nexec '%s' \"$@\"\n", program), 0o700); err != nil {
		t.Fatal(err)
	}
	c.start()
	if err := c.server.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 100 { // a server that ends refuses them after the first few
		if _, _, err := c.send(t.Context(), "GET", "/collections/"+c.collection, nil); err != nil {
			t.Fatalf("with nohup the server ended: %v", err)
		}
	}
	c.terminate()
}

// TestServeNeedsNoReaderOfItsLog has the reader of the log stop or go away. Requests go on, and the server ends well.
func TestServeNeedsNoReaderOfItsLog(t *testing.T) {
	t.Parallel()
	for name, goesAway := range map[string]bool{"stops": false, "goes away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrash(t)
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reader.Close() }() // closed twice, if it goes away
			server, err := serving.Start(t.Context(), serving.Options{Program: c.binary, Data: c.data(), Log: writer})
			if err != nil {
				t.Fatal(err)
			}
			c.server, c.ended, c.address = server.Command, sync.OnceValue(server.Command.Wait), server.Address()
			t.Cleanup(func() {
				_ = server.Command.Process.Kill()
				_ = c.ended()
			})
			_ = writer.Close() // the server has its own
			if goesAway {
				_ = reader.Close()
			}
			ctx, cancel := context.WithTimeout(t.Context(), stopWithin)
			defer cancel()
			for range 600 { // a pipe has room for the lines of fewer
				if status, body, err := c.send(ctx, "GET", "/collections", nil); err != nil || status != 200 {
					t.Fatalf("%d %s, %v", status, body, err)
				}
			}
			c.terminate()
		})
	}
}

// TestSecondServerIsRefused starts docent serve on the data of another one.
func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.start()
	second := c.command("serve", "--data", c.data(), "--addr", "127.0.0.1:0")
	out, err := second.CombinedOutput()
	if err == nil || second.ProcessState.ExitCode() != 1 {
		t.Errorf("the second server: %v", err)
	}
	for _, want := range []string{"another process", c.data(), "stop it"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in %q", want, out)
		}
	}
	c.until(200, "GET", "/collections/"+c.collection, nil)
	c.terminate()
}
