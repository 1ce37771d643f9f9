package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"docent/testkit/moto"
	"docent/testkit/serving"
)

// Bounds of a recovery and of a request.
const (
	mostRecovery = 2 * time.Minute
	mostWork     = 5 * time.Minute // until a message that was not sent is sent again, and handled
	requestTime  = 30 * time.Second
	onAWSPause   = 300 * time.Millisecond // between two writes of a client: the stand-in copies whole tables for a transaction
	pages        = 40                     // documents of each client, which are put again and again
	mostWrites   = 400_000                // of a run, on one machine: each leaves events and parts of the index of 2 KB on a disk of 1 GB
)

// world is a server, and what it has acknowledged.
type world struct {
	program, folder, data string
	ballast               string // a file that fills the disk of the data; empty: that disk is not ours
	address               string
	key, collection       string
	server                *serving.Server
	log                   *os.File
	cloud                 *cloud // AWS in trouble, on which the server runs; nil: it runs on the data

	acknowledged, refused atomic.Int64

	mu        sync.Mutex
	replies   map[int]int        // by status
	wrong     []string           // replies that may never be given
	documents map[string]*record // by URI
	questions []string           // acknowledged
}

// record is the known state of a document: the version that was acknowledged last, and those after it whose fate is unknown.
// A version is a text; the empty one is deleted.
type record struct {
	id       string
	versions []string
}

// newWorld makes a team and starts the server, on AWS in trouble or on data of its own.
func newWorld(ctx context.Context, program string, onAWS bool) (*world, error) {
	folder, err := os.MkdirTemp("", "docent-chaos-")
	if err != nil {
		return nil, err
	}
	w := &world{program: program, folder: folder, data: filepath.Join(folder, "disk", "data"), documents: map[string]*record{}, replies: map[int]int{}}
	disk := filepath.Join(folder, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		return nil, errors.Join(err, w.remove())
	}
	switch {
	case onAWS:
		if w.cloud, err = newCloud(ctx); err != nil {
			return nil, errors.Join(err, w.remove())
		}
	case mountDisk(disk) == nil:
		w.ballast = filepath.Join(disk, "ballast")
	}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(err, w.remove())
	}
	return w, nil
}

func (w *world) begin(ctx context.Context) error {
	if err := w.newTeam(ctx); err != nil {
		return err
	}
	var err error
	if w.log, err = os.Create(filepath.Join(w.folder, "log")); err != nil {
		return err
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	status, body, err := w.send(ctx, "POST", "/collections", map[string]string{"name": "chaos", "description": "chaos"})
	var made struct{ ID string }
	if err != nil || status != 201 || json.Unmarshal(body, &made) != nil {
		return fmt.Errorf("no collection: %d %s %w", status, body, err)
	}
	w.collection = made.ID
	return nil
}

// newTeam makes the team of the clients, and their key.
func (w *world) newTeam(ctx context.Context) (err error) {
	if w.cloud != nil {
		w.key, err = w.cloud.newTeam(ctx)
		return err
	}
	team, err := serving.NewTeam(ctx, w.program, "Chaos", "--data", w.data)
	if err != nil {
		return err
	}
	w.key, err = serving.NewTeamKey(ctx, w.program, w.data, team.ID, "chaos")
	return err
}

// start starts the server, always at the same address.
func (w *world) start(ctx context.Context) error {
	o := serving.Options{Program: w.program, Data: w.data, Address: w.address, Flags: []string{"--team-rate", "0", "--no-meaning"}, Log: w.log}
	if w.cloud != nil {
		o.Flags, o.Environment = append(o.Flags, "--engine", "aws"), w.cloud.environment()
	}
	server, err := serving.Start(ctx, o)
	if err != nil {
		return err
	}
	w.server, w.address = server, server.Address()
	return nil
}

// kill ends the server at once.
func (w *world) kill() {
	_ = w.server.Command.Process.Kill()
	_ = w.server.Command.Wait() // the kill is not a failure
}

// remove ends the server and removes its data.
func (w *world) remove() error {
	if w.server != nil {
		w.kill()
	}
	if w.cloud != nil {
		_ = w.cloud.unsteady.Close() // nobody uses it any more
	}
	if w.ballast != "" {
		if err := unmountDisk(filepath.Dir(w.ballast)); err != nil {
			return err
		}
	}
	return os.RemoveAll(w.folder)
}

// send sends a request. An error means that nobody knows whether it was done.
func (w *world) send(ctx context.Context, method, path string, body any) (status int, reply []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+w.address+"/v1"+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+w.key)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = got.Body.Close() }()
	reply, err = io.ReadAll(got.Body)
	return got.StatusCode, reply, err
}

// count counts a write and reports whether it was acknowledged. A reply that is neither the one that is wanted nor one for a server in
// trouble is wrong.
func (w *world) count(status int, err error, want int) bool {
	if err == nil {
		w.mu.Lock()
		w.replies[status]++
		if status != want && status != http.StatusTooManyRequests && status < 500 {
			w.wrong = append(w.wrong, fmt.Sprintf("%d instead of %d", status, want))
		}
		w.mu.Unlock()
	}
	if err == nil && status == want {
		w.acknowledged.Add(1)
		return true
	}
	w.refused.Add(1)
	return false
}

// client puts, replaces and deletes its own documents and asks questions, one after the other, until ctx ends.
func (w *world) client(ctx context.Context, n int, pace time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		uri := fmt.Sprintf("https://wiki.test/%d/%d", n, i%pages)
		w.mu.Lock()
		r := w.documents[uri]
		if r == nil {
			r = &record{}
			w.documents[uri] = r
		}
		w.mu.Unlock()
		switch {
		case i%97 == 3: // few, since a team may ask a thousand questions a day
			id := uuid.NewString()
			status, _, err := w.send(context.WithoutCancel(ctx), "PUT", "/answers/"+id, map[string]string{"question": fmt.Sprintf("What is page %d about?", i)})
			if w.count(status, err, 204) {
				w.mu.Lock()
				w.questions = append(w.questions, id)
				w.mu.Unlock()
			}
		case i%5 == 4 && r.id != "" && r.versions[len(r.versions)-1] != "":
			mayBeGone := slices.Contains(r.versions, "")
			r.versions = append(r.versions, "")
			status, _, err := w.send(context.WithoutCancel(ctx), "DELETE", "/documents/"+r.id, nil)
			if status == http.StatusNotFound && mayBeGone {
				status = http.StatusNoContent
			}
			if w.count(status, err, 204) {
				r.versions = []string{""}
			}
		default:
			text := fmt.Sprintf("Page %d of client %d is about version %d. %s", i%pages, n, i, strings.Repeat("More words of it. ", i%60))
			r.versions = append(r.versions, text)
			status, body, err := w.send(context.WithoutCancel(ctx), "PUT", "/documents", map[string]string{"collectionId": w.collection, "uri": uri, "title": uri, "body": text})
			var put struct{ ID string }
			if w.count(status, err, 200) && json.Unmarshal(body, &put) == nil {
				r.versions, r.id = []string{text}, put.ID
			}
		}
		switch {
		case w.cloud != nil:
			wait(ctx, onAWSPause)
		case w.refused.Load() > 0:
			wait(ctx, max(pace, 10*time.Millisecond)) // no storm while nobody answers
		default:
			wait(ctx, pace)
		}
	}
}

// recovers returns how long it takes until the server takes a write.
func (w *world) recovers(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for {
		status, body, err := w.send(ctx, "PUT", "/documents", map[string]string{"collectionId": w.collection, "uri": "https://wiki.test/probe",
			"title": "probe", "body": began.String()})
		if err == nil && status == 200 {
			return time.Since(began), nil
		}
		if ctx.Err() != nil || time.Since(began) > mostRecovery {
			return 0, fmt.Errorf("it takes no write after %v: %d %s %w", time.Since(began), status, body, err)
		}
		wait(ctx, 50*time.Millisecond)
	}
}

// check compares what is stored with what was acknowledged, once more after a restart, and waits until all work is done.
func (w *world) check(ctx context.Context) (lost []string) {
	w.kill()
	if w.cloud != nil {
		w.cloud.unsteady.Make(moto.Trouble{})
	}
	if err := w.start(ctx); err != nil {
		return []string{err.Error()}
	}
	for uri, r := range w.documents {
		if problem := w.checkDocument(ctx, uri, r); problem != "" {
			lost = append(lost, problem)
		}
	}
	for _, id := range w.questions {
		body, ok := w.until(ctx, "/answers/"+id, func(text string) bool { return strings.Contains(text, `"state":"complete"`) })
		if !ok {
			lost = append(lost, fmt.Sprintf("the answer %s: %.200s", id, body))
		}
	}
	return lost
}

// checkDocument returns what is wrong with a document, or "".
func (w *world) checkDocument(ctx context.Context, uri string, r *record) string {
	if r.id == "" {
		return "" // no version was ever acknowledged
	}
	body, ok := w.until(ctx, "/documents/"+r.id, r.good)
	if !ok {
		return fmt.Sprintf("%s is not one of %d versions: %.300s", uri, len(r.versions), body)
	}
	return ""
}

// good reports whether a reply has a version that may be there, and is indexed, or says that there is none, and none may be there.
func (r *record) good(reply string) bool {
	var got struct {
		Status   int
		Body     string
		Indexing struct{ State string }
	}
	if json.Unmarshal([]byte(reply), &got) != nil {
		return false
	}
	if got.Status == http.StatusNotFound {
		return slices.Contains(r.versions, "")
	}
	return got.Body != "" && slices.Contains(r.versions, got.Body) && got.Indexing.State == "indexed"
}

// until reads a path until the reply is as it should be, for as long as work may take.
func (w *world) until(ctx context.Context, path string, good func(string) bool) (body string, ok bool) {
	for began := time.Now(); time.Since(began) < mostWork && ctx.Err() == nil; wait(ctx, 100*time.Millisecond) {
		_, reply, err := w.send(ctx, "GET", path, nil)
		if body = string(reply); err == nil && good(body) {
			return body, true
		}
	}
	return body, false
}
