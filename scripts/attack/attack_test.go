package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/team"
)

// newTarget serves Docent in this process, with the teams of a run and little content. It also returns the server's
// log.
func newTarget(t *testing.T, size int) (target, *bytes.Buffer) {
	t.Helper()
	folder, log := t.TempDir(), &bytes.Buffer{}
	local, err := app.OpenLocal(t.Context(), folder, app.LocalOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var admins []string
	for range 3 {
		made, user, err := local.Teams.CreateTeam(t.Context(), "team", "ada@team.example")
		if err != nil {
			t.Fatal(err)
		}
		_, key, err := local.Teams.CreateKey(t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "attack", UserID: user.ID})
		if err != nil {
			t.Fatal(err)
		}
		admins = append(admins, key)
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	greeting, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.ServeConfig{DataDir: folder, Addr: "127.0.0.1:0", Out: out,
			Parts: app.Parts{Tools: agents.Tools, Connect: connectors.Public, ParseSAML: saml.Parse, SignOn: identity.Providers()}, Log: slog.New(slog.NewJSONHandler(log, nil))})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(greeting).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, greeting) }() // it ends with the test
	base, err := url.Parse(line[strings.Index(line, "http://") : len(line)-1])
	if err != nil {
		t.Fatal(err)
	}
	made, err := fill(t.Context(), base.Host, admins, size)
	if err != nil {
		t.Fatal(err)
	}
	return made, log
}

// TestEveryAttackComesAsFarAsItShould plays each attack once against a real server, and then the attackers' program
// as a whole. Each attack gets a reply that it wants, or is refused or cut off.
func TestEveryAttackComesAsFarAsItShould(t *testing.T) {
	t.Parallel()
	p := plan{Clients: 8, Time: time.Second, Seed: 1, Hold: 300 * time.Millisecond, Patience: time.Hour, Size: 128 << 10}
	p.Target, _ = newTarget(t, p.Size)
	var group errgroup.Group
	group.SetLimit(8)
	for n, a := range slices.Concat(families...) {
		group.Go(func() error {
			c := &client{plan: &p, team: &p.Target.Teams[n%2], random: rand.New(rand.NewPCG(1, uint64(n))), tally: &tally{}}
			defer c.close()
			a.turn(t.Context(), c)
			if c.tally.Requests != 1 || c.tally.Late+c.tally.Held > 0 {
				t.Errorf("%s: %+v", a.name, c.tally)
			}
			if c.tally.Cut == 0 && c.tally.sum(a.wanted) != 1 {
				t.Errorf("%s: statuses %v, want one of %v", a.name, c.tally.Statuses, a.want)
			}
			return nil
		})
	}
	_ = group.Wait() // the attacks report themselves
	begun := 0
	for name, seen := range assault(t.Context(), p) {
		begun += seen.Requests
		if len(seen.Faults) > 0 {
			t.Errorf("%s: %s", name, seen.Faults)
		}
	}
	if begun < p.Clients {
		t.Errorf("%d clients began %d requests", p.Clients, begun)
	}
}
