package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/app"
	"docent/shared/quota"
	"docent/shared/team"
)

// client calls the API for one team.
type client struct {
	base, key  string
	collection string
}

// overHTTP puts a set's documents through the API of a docent in this process, and asks its questions as clients
// do, as many per team as the daily quota allows. It prints how many quoted answers contain the gold answer, at the
// default threshold.
func overHTTP(ctx context.Context, s *set, folder string) (err error) {
	var asked []gold
	for _, g := range s.answers {
		if !g.Impossible {
			asked = append(asked, g)
		}
	}
	perTeam := quota.AnswersPerDay - settleTries
	teams := (len(asked) + perTeam - 1) / perTeam
	data := filepath.Join(folder, s.name+"-served")
	keys, err := makeTeams(ctx, data, teams)
	if err != nil {
		return fmt.Errorf("make teams: %w", err)
	}
	address, stop, err := serve(ctx, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	found, has := make([]bool, len(asked)), make([]bool, len(asked))
	begin := time.Now()
	var clients []*client
	for i, key := range keys {
		c := &client{base: "http://" + address + "/v1", key: key}
		if err := c.fill(ctx, s, fmt.Sprint(i)); err != nil {
			return fmt.Errorf("put the documents: %w", err)
		}
		clients = append(clients, c)
	}
	put := time.Since(begin)
	for _, c := range clients {
		if err := c.settled(ctx, asked[0].Text); err != nil {
			return err
		}
	}
	begin = time.Now()
	for i, q := range asked {
		g.Go(func() (err error) {
			found[i], has[i], err = clients[i/perTeam].ask(gctx, q)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	n, right, answeredOf := len(asked), 0, 0
	for i := range asked {
		if found[i] {
			answeredOf++
		}
		if has[i] {
			right++
		}
	}
	fmt.Printf("over HTTP: %d documents per team and %d teams in %.1f s; %d questions in %.1f s; %.4f answered, %.4f with the gold answer in what is quoted\n",
		len(s.docs), teams, put.Seconds(), n, time.Since(begin).Seconds(), float64(answeredOf)/float64(n), float64(right)/float64(n))
	return nil
}

func makeTeams(ctx context.Context, data string, n int) (keys []string, err error) {
	l, err := app.OpenLocal(ctx, data, app.LocalOptions{NoSync: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for i := range n {
		t, _, err := l.Teams.CreateTeam(ctx, fmt.Sprint("team ", i), "ada@example.com")
		if err != nil {
			return nil, err
		}
		_, secret, err := l.Teams.CreateKey(ctx, t.ID, team.NewKey{Kind: team.KindTeam, Name: "benchsearch"})
		if err != nil {
			return nil, err
		}
		keys = append(keys, secret)
	}
	return keys, nil
}

// serve serves the data until stop is called.
func serve(ctx context.Context, data string) (address string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.ServeConfig{DataDir: data, Addr: address, Program: "docent", Out: io.Discard, Log: slog.New(slog.DiscardHandler)})
	}()
	stop = func() error {
		cancel()
		return <-ended
	}
	for range 100 {
		r, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			return address, stop, r.Body.Close()
		}
		select {
		case err := <-ended:
			cancel()
			return "", nil, fmt.Errorf("serve: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return "", nil, errors.Join(errors.New("the server does not answer"), stop())
}

func (c *client) fill(ctx context.Context, s *set, name string) error {
	var made struct{ ID string }
	if err := c.call(ctx, "POST", "/collections", map[string]string{"name": s.name, "description": "Set " + name}, &made); err != nil {
		return err
	}
	c.collection = made.ID
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, d := range s.docs {
		g.Go(func() error {
			title := d.Title
			if title == "" {
				title = "-" // not a word
			}
			return c.call(ctx, "PUT", "/documents", map[string]string{"collectionId": c.collection, "title": title,
				"uri": "https://docs.example/" + d.ID.String(), "body": d.Body}, nil)
		})
	}
	return g.Wait()
}

// settleTries is how many questions a team uses to wait for its index.
const settleTries = 25

// settled waits until the answer to a question stays the same for a while: documents are indexed within seconds.
func (c *client) settled(ctx context.Context, question string) error {
	pause := time.NewTicker(time.Second)
	defer pause.Stop()
	last, same := "", 0
	for range settleTries {
		text, err := c.answer(ctx, question)
		if err != nil {
			return err
		}
		if same++; text != last {
			last, same = text, 0
		}
		if same == 5 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
	}
	return errors.New("the index does not become stable")
}

func (c *client) ask(ctx context.Context, q gold) (found, has bool, err error) {
	text, err := c.answer(ctx, q.Text)
	if err != nil {
		return false, false, err
	}
	found = strings.HasPrefix(text, "*Quoted from")
	for _, p := range quoted(text) {
		has = has || q.in(p)
	}
	return found, has, nil
}

func (c *client) answer(ctx context.Context, question string) (string, error) {
	id := uuid.Must(uuid.NewV7()).String()
	if err := c.call(ctx, "PUT", "/answers/"+id, map[string]string{"question": question}, nil); err != nil {
		return "", err
	}
	for {
		var a struct{ State, Answer string }
		if err := c.call(ctx, "GET", "/answers/"+id, nil, &a); err != nil {
			return "", err
		}
		switch a.State {
		case "complete":
			return a.Answer, nil
		case "failed":
			return "", fmt.Errorf("question %s failed", id)
		}
	}
}

func (c *client) call(ctx context.Context, method, path string, in any, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if in == nil {
		body = nil
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Prefer", "wait=20")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
