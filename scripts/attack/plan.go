package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// plan is the input of the attackers' process, as JSON.
type plan struct {
	Target   target
	Clients  int
	Time     time.Duration
	Only     string        // start of the names of the attacks to play
	Seed     uint64        // of the order of the attacks and of what clients choose
	Hold     time.Duration // how long a connection is stalled, at most
	Patience time.Duration // how long a client waits for a reply, in addition
	Size     int           // bytes of a large body, uncompressed
}

// pace is the minimum time between two turns of a client. Without a pause, the run would measure the attackers' own
// work, because they share the machine with the server.
const pace = 50 * time.Millisecond

// play plays p in a separate process, with lower priority than the server and the quiet team: attackers stand for
// other machines.
func play(ctx context.Context, p plan) (tallies map[string]*tally, err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "nice", "-n", "10", self, attackers)
	command.Stdin, command.Stderr = bytes.NewReader(text), os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // it still writes its tallies
	command.WaitDelay = p.Patience
	out, err := command.Output()
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err := json.Unmarshal(out, &tallies); err != nil {
		return nil, fmt.Errorf("read what the attackers saw: %w", err)
	}
	return tallies, nil
}

// families are the attacks, grouped by what they have in common.
var families = [][]attack{jsonAttacks, documentAttacks, webhookAttacks, readerAttacks, slowAttacks, floodAttacks, searchAttacks, scimAttacks}

// chosen returns the attacks whose names start with only, by family.
func chosen(only string) (some [][]attack) {
	for _, family := range families {
		var of []attack
		for _, a := range family {
			if strings.HasPrefix(a.name, only) {
				of = append(of, a)
			}
		}
		if of != nil {
			some = append(some, of)
		}
	}
	return some
}

// assault plays p in this process until its time is over, and returns what the clients saw of each attack. The time
// has one phase per family: every second client plays attacks of that family, the others any attack. So many
// clients play each family at once, and mixed with others.
func assault(ctx context.Context, p plan) map[string]*tally {
	some := chosen(p.Only)
	tallies := map[string]*tally{}
	for _, a := range slices.Concat(some...) {
		tallies[a.name] = &tally{}
	}
	prepare(p.Size)
	ctx, cancel := context.WithTimeout(ctx, p.Time)
	defer cancel()
	begin, phase := time.Now(), p.Time/time.Duration(len(some))
	var clients sync.WaitGroup
	for n := range p.Clients {
		random := rand.New(rand.NewPCG(p.Seed, uint64(n))) //nolint:gosec // a run can be repeated
		c := &client{plan: &p, team: &p.Target.Teams[n%len(p.Target.Teams)], random: random}
		clients.Go(func() {
			defer c.close()
			for ctx.Err() == nil {
				family := c.random.IntN(len(some))
				if n%2 == 0 {
					family = min(int(time.Since(begin)/phase), len(some)-1)
				}
				a := some[family][c.random.IntN(len(some[family]))]
				c.tally = tallies[a.name]
				c.play(ctx, a)
			}
		})
	}
	clients.Wait()
	return tallies
}

// play plays a for some turns, so that several clients play each attack at any time.
func (c *client) play(ctx context.Context, a attack) {
	const turns = 5
	for range turns {
		begin := time.Now()
		a.turn(ctx, c)
		if !sleep(ctx, pace-time.Since(begin)) {
			return
		}
	}
	c.close()
}

// sleep waits for d and returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
