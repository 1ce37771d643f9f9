package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/app"
	"docent/shared/app/parts/connectors"
	"docent/shared/app/parts/vault"
	"docent/shared/connect/github/githubtest"
	"docent/shared/deployed"
	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/testkit/lambdarun"
)

// repository stands in for GitHub. The function syncing of an installation reads it; its binary is linked for that.
type repository struct {
	c      *cloud
	github *githubtest.Server
	name   string
	id     string // of the data source
	uris   []string
}

func newReader(t *testing.T) (*cloud, *githubtest.Server) {
	t.Helper()
	c := newCloud(t)
	folder, err := reaching()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"syncing", "admin"} {
		f, err := lambdarun.Start(context.Background(), filepath.Join(folder, name), lambdarun.Options{Name: name, Env: c.env, Log: c.log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		c.functions[name] = f
	}
	for _, f := range deployed.Functions {
		if f.Name == "admin" {
			c.route(f, c.functions["admin"].Invoke)
		}
	}
	return c, githubtest.New(t)
}

// connect creates a repository with issues, a pull request, comments and files, and connects it as a data source.
func connect(c *cloud, github *githubtest.Server, name string, issues int) *repository {
	c.t.Helper()
	r := &repository{c: c, github: github, name: "acme/" + name}
	github.Put(r.name, func(g *githubtest.Repository) {
		for n := range issues {
			g.Issues = append(g.Issues, github.NewIssue(r.name, n+1, fmt.Sprintf("Issue %d of %s", n+1, name)))
		}
		pull := github.NewPull(r.name, issues+1, "Change of "+name)
		g.Comments = []githubtest.Comment{github.NewComment(r.name, 1001, g.Issues[0], "Seen on "+name+".")}
		g.Reviews = []githubtest.Comment{github.NewReview(r.name, 1002, pull, "A line of "+name+".")}
		g.Issues = append(g.Issues, pull)
		g.Commits = []githubtest.Commit{{Files: map[string]string{"README.md": "# About " + name + "\n\nText.\n", "main.go": "package main // " + name + "\n"}}}
		for _, i := range g.Issues {
			r.uris = append(r.uris, i.HTMLURL)
		}
		r.uris = append(r.uris, g.Comments[0].HTMLURL, g.Reviews[0].HTMLURL)
	})
	for _, file := range []string{"README.md", "main.go"} {
		r.uris = append(r.uris, github.URL+"/"+r.name+"/blob/main/"+file)
	}
	made := c.want(c.as(c.admin).do("POST", "/data-sources", map[string]any{"provider": "github", "name": name,
		"settings": map[string]any{"repositories": []string{r.name}, "accessToken": githubtest.Token, "baseUrl": github.API()}}), 201)
	r.id = c.id(made)
	return r
}

// sync sends the messages of the queue of syncs to the function, one after the other.
func (r *repository) sync() {
	r.c.t.Helper()
	for {
		d, err := lambdarun.Deliver(r.c.t.Context(), r.c.syncs, r.c.functions["syncing"].Invoke, 1)
		if err != nil || d.Err != nil || d.Failed > 0 {
			r.c.t.Fatalf("delivery %+v, %v", d, err)
		}
		if d.Received == 0 {
			return
		}
	}
}

// shown returns what a list of data sources shows of the source.
func (r *repository) shown() (shown struct {
	ID, State string
	LastError any
	Sync      struct {
		State         string
		Read, Removed int
	}
}) {
	r.c.t.Helper()
	var all []json.RawMessage
	decode(r.c.t, r.c.want(r.c.do("GET", "/data-sources?limit=200", nil), 200).body, &all)
	for _, one := range all {
		if strings.Contains(string(one), r.id) {
			decode(r.c.t, string(one), &shown)
		}
	}
	return shown
}

// check fails the test unless every item exists once and is found.
func (r *repository) check() {
	r.c.t.Helper()
	if s := r.shown(); s.State != "ready" || s.LastError != nil || s.Sync.State != "waiting" {
		r.c.t.Errorf("%s: %+v", r.name, s)
	}
	for from := 0; from < len(r.uris); from += 10 {
		got := r.c.want(r.c.do("POST", "/context/get", map[string]any{"urls": r.uris[from:min(from+10, len(r.uris))]}), 200)
		if strings.Contains(got.body, `"error"`) {
			r.c.t.Errorf("%s: lost: %s", r.name, got.body)
		}
	}
	found := r.c.want(r.c.do("POST", "/context/search", map[string]any{"query": strings.TrimPrefix(r.name, "acme/"), "limit": 50}), 200).body
	for _, uri := range r.uris[:min(len(r.uris), 40)] {
		if n := strings.Count(found, `"url":"`+uri+`"`); n != 1 {
			r.c.t.Errorf("%s: found %d times: %s", uri, n, found)
		}
	}
}

func TestAWholeSyncThroughTheBinary(t *testing.T) {
	t.Parallel()
	c, github := newReader(t)
	r := connect(c, github, "gateway", 12)
	r.sync()
	c.drain()
	r.check()
	if s := r.shown(); s.Sync.Read != 17 {
		t.Errorf("%+v", s)
	}
	github.Requests()
	github.Put(r.name, func(g *githubtest.Repository) {
		g.Issues[3].Title, g.Issues[3].UpdatedAt = "Issue 4 of gateway, renamed", g.Issues[11].UpdatedAt.Add(time.Hour)
	})
	r.later(30 * time.Minute)
	c.drain()
	r.check()
	c.want(c.do("POST", "/context/search/issues", map[string]any{"query": "renamed"}), 200, "renamed")
	// Each part is requested once: its changes, starting with the last record already read.
	if s, asked := r.shown(), github.Requests(); s.Sync.Read != 4 || len(asked) != 5 {
		t.Errorf("the second sync read %d in %q", s.Sync.Read, asked)
	}
	if strings.Contains(c.log.String(), githubtest.Token) {
		t.Error("the secret is logged")
	}
}

// later sweeps at a later time and runs the syncs that are due then. It runs the function's code in this process,
// because the code needs that time.
func (r *repository) later(d time.Duration) {
	r.c.t.Helper()
	later := r.c.config
	later.Now = func() time.Time { return time.Now().Add(d) }
	later.SecretsKey = r.c.env[deployed.SecretsKey]
	r.c.sweep(later)
	do := app.Syncing(later, app.Parts{Vault: vault.Open(later),
		Connect: connectors.With(fetch.NewReaching(page.Read, func(netip.AddrPort) bool { return true }, r.github.Certificate()))})
	invoke := func(ctx context.Context, text []byte) ([]byte, error) {
		var event events.SQSEvent
		if err := json.Unmarshal(text, &event); err != nil {
			return nil, err
		}
		response, err := do(ctx, event)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	}
	for {
		delivery, err := lambdarun.Deliver(r.c.t.Context(), r.c.syncs, invoke, 1)
		if err != nil || delivery.Err != nil || delivery.Failed > 0 {
			r.c.t.Fatalf("delivery %+v, %v", delivery, err)
		}
		if delivery.Received == 0 {
			return
		}
	}
}

// TestASyncIsKilledInTheMiddle kills the function when it sends a request to storage, or when that request was done
// and not answered. The same sync continues later, and every item exists once. A run picks some of the requests at
// random; DOCENT_ALL_KILLS=1 takes all.
func TestASyncIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	c, github := newReader(t)
	all := os.Getenv("DOCENT_ALL_KILLS") != ""
	killed := 0
	for n, whole := 1, false; !whole; n++ {
		if !all && n > 1 {
			n += rand.IntN(12)
		}
		for _, after := range []bool{false, true} {
			if !all && after != (rand.IntN(2) == 1) {
				continue
			}
			r := connect(c, github, fmt.Sprintf("api%d%t", n, after), 2)
			c.functions["syncing"].Kill() // so that it starts with nothing in memory
			c.tap.arm(n, after, c.functions["syncing"].Kill)
			_, err := lambdarun.Deliver(t.Context(), c.syncs, c.functions["syncing"].Invoke, 1)
			count, cut := c.tap.disarm()
			if err != nil {
				t.Fatal(err)
			}
			if cut {
				killed++
			}
			whole = whole || !cut
			r.later(5 * time.Minute)
			c.settle()
			r.check()
			if t.Failed() {
				t.Fatalf("killed at request %d of %d, done: %t", n, count, after)
			}
			c.want(c.as(c.admin).do("DELETE", "/data-sources/"+r.id, nil), 204)
			github.Put(r.name, func(g *githubtest.Repository) { g.Missing = true })
			r.later(10 * time.Minute)
			c.settle()
		}
	}
	if killed < 3 {
		t.Errorf("%d kills", killed)
	}
	t.Logf("%d kills", killed)
}
