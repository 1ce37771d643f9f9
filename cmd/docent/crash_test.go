package main_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/extract"
	"docent/testkit/serving"
)

const (
	crashClients = 8
	crashOps     = 2000
	crashKills   = 20
	crashFiles   = 12 // documents that each client puts, replaces and deletes
)

// TestServeLosesNothingWhenKilled kills docent serve while clients put texts and files, delete and ask. Afterwards everything
// acknowledged must have happened, once.
func TestServeLosesNothingWhenKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute; run without -short")
	}
	c := newCrash(t)
	c.start()
	var clients sync.WaitGroup
	for n := range crashClients {
		clients.Go(func() { c.client(n) })
	}
	finished := make(chan struct{})
	go func() { clients.Wait(); close(finished) }()
	for kill := 1; kill <= crashKills; kill++ {
		// Kills are spread over the operations.
		c.reached(int64(kill * crashOps / (crashKills + 1)))
		c.kill()
		c.start()
	}
	<-finished
	if t.Failed() {
		return
	}
	if files := c.verify(); files == 0 {
		t.Error("no file was left to compare")
	}
}

// crash is a server that is killed and restarted, and what it has acknowledged.
type crash struct {
	t               *testing.T
	binary, dir     string
	address         string
	key, collection string
	admin           string // the personal key of the team's admin
	team            uuid.UUID
	server          *exec.Cmd
	ended           func() error // waits until the server has ended; a second Wait would never return
	done            atomic.Int64
	progress        chan struct{}

	arguments, environment []string // of the server, in addition to the usual ones
	retries, accepted      atomic.Int64

	mu        sync.Mutex
	documents map[string]string // uri to body; empty: deleted
	files     map[string][]byte // uri to the file that the document is made from; nil: it is text
	questions map[string]bool   // asked and not deleted
}

// newCrash builds docent serve with these options of the linker and makes a team.
func newCrash(t *testing.T, options ...string) *crash {
	t.Helper()
	c := &crash{t: t, dir: t.TempDir(), progress: make(chan struct{}, crashOps+1),
		documents: map[string]string{}, files: map[string][]byte{}, questions: map[string]bool{}}
	c.binary = filepath.Join(c.dir, "docent")
	run(t, repositoryRoot(t), "go", "build", "-ldflags", strings.Join(options, " "), "-o", c.binary, "./cmd/docent")
	made, err := serving.NewTeam(t.Context(), c.binary, "Crash", "--data", c.data())
	if err != nil {
		t.Fatal(err)
	}
	if c.key, err = serving.NewTeamKey(t.Context(), c.binary, c.data(), made.ID, "crash"); err != nil {
		t.Fatal(err)
	}
	c.team, c.admin = uuid.MustParse(made.ID), made.AdminKey
	return c
}

func (c *crash) data() string { return filepath.Join(c.dir, "data") }

func (c *crash) cli(into any, args ...string) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), c.binary, args...).Output()
	if err != nil {
		c.t.Fatalf("docent %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		c.t.Fatalf("docent %s: %v", strings.Join(args, " "), err)
	}
}

func (c *crash) start() {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the server has its own handle
	server, err := serving.Start(c.t.Context(), serving.Options{Program: c.binary, Data: c.data(), Address: c.address,
		Flags: c.arguments, Environment: c.environment, Log: log})
	if err != nil {
		c.t.Fatal(err)
	}
	c.server, c.ended = server.Command, sync.OnceValue(server.Command.Wait)
	ended := c.ended
	c.t.Cleanup(func() { // before its folder is removed
		_ = server.Command.Process.Kill()
		_ = ended()
	})
	if c.address == "" { // later servers use the same one; clients read it at the same time
		c.address = server.Address()
	}
	if c.collection == "" {
		_, body, err := c.send(c.t.Context(), "POST", "/collections", map[string]string{"name": "crash", "description": "d"})
		var made struct{ ID string }
		if err != nil || json.Unmarshal(body, &made) != nil || made.ID == "" {
			c.t.Fatalf("no collection: %s, %v", body, err)
		}
		c.collection = made.ID
	}
}

func (c *crash) kill() {
	c.t.Helper()
	if err := c.server.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.ended() // the kill is no failure
}

// reached waits until n operations are acknowledged.
func (c *crash) reached(n int64) {
	for c.done.Load() < n {
		<-c.progress
	}
}

// client does its share of the operations on its own documents, each until it is acknowledged.
func (c *crash) client(n int) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for op := range crashOps / crashClients {
		uri := fmt.Sprintf("https://crash.test/%d/%d", n, random.IntN(crashFiles))
		switch choice := random.IntN(20); {
		case choice < 3: // a file, whose text is read later
			body := fmt.Sprintf("The token of this file is tok%dx%d.", n, op)
			file := wordFile(c.t, body)
			c.until(200, "PUT", "/documents", map[string]string{"collectionId": c.collection, "uri": uri, "title": "T",
				"mediaType": extract.DOCX, "body": base64.StdEncoding.EncodeToString(file)})
			c.setFile(uri, body+"\n\n", file)
		case choice < 11:
			body := fmt.Sprintf("The token of this page is tok%dx%d.\n", n, op)
			if choice == 3 {
				body = strings.Repeat(body, 200) // in chunks
			}
			c.until(200, "PUT", "/documents", map[string]string{"collectionId": c.collection, "uri": uri, "title": "T", "body": body})
			c.set(uri, body)
		case choice < 15:
			c.until(204, "DELETE", "/documents/"+c.id(uri), nil)
			c.set(uri, "")
		default:
			id := uuid.NewString()
			c.until(204, "PUT", "/answers/"+id, map[string]string{"question": fmt.Sprintf("What is tok%dx%d?", n, random.IntN(op+1))})
			c.accepted.Add(1)
			c.mu.Lock()
			c.questions[id] = true
			c.mu.Unlock()
		}
		c.done.Add(1)
		c.progress <- struct{}{}
	}
}

func (c *crash) set(uri, body string) { c.setFile(uri, body, nil) }

func (c *crash) setFile(uri, body string, file []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents[uri], c.files[uri] = body, file
}

// wordFile returns a DOCX file with one paragraph.
func wordFile(t *testing.T, text string) []byte {
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	for name, part := range map[string]string{
		"[Content_Types].xml": head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels": head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Target="word/document.xml" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>`,
		"word/document.xml": head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` +
			text + `</w:t></w:r></w:p></w:body></w:document>`,
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, part)
		}
		if err != nil {
			t.Errorf("write a file: %v", err)
		}
	}
	if err := z.Close(); err != nil {
		t.Errorf("write a file: %v", err)
	}
	return file.Bytes()
}

// id returns the document id of uri, as any client can compute it.
func (c *crash) id(uri string) string { return uuid.NewSHA1(c.team, []byte(uri)).String() }

// until repeats a request until it is acknowledged with status.
func (c *crash) until(status int, method, path string, body any) []byte {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for {
		got, reply, err := c.send(ctx, method, path, body)
		switch {
		case err == nil && got == status:
			return reply
		case ctx.Err() != nil:
			c.t.Errorf("%s %s is not acknowledged within a minute: %v", method, path, err)
			return nil
		case err == nil && got != http.StatusServiceUnavailable:
			c.t.Errorf("%s %s: %d %s", method, path, got, reply)
			return nil
		}
		c.retries.Add(1)
		pause(ctx)
	}
}

func (c *crash) send(ctx context.Context, method, path string, body any) (int, []byte, error) {
	return c.sendAs(ctx, c.key, method, path, body)
}

func (c *crash) sendAs(ctx context.Context, key, method, path string, body any) (int, []byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.address+"/v1"+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Prefer", "wait=20")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(reply.Body)
	if limit := reply.Header.Get("X-RateLimit-Remaining"); limit != "" && err == nil && method == "PUT" {
		content = []byte(limit)
	}
	return reply.StatusCode, content, err
}

// pause gives a killed server time to restart.
func pause(ctx context.Context) {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// verify compares what is stored with what was acknowledged, and returns how many of the documents are made from files.
func (c *crash) verify() (files int) {
	t := c.t
	there, gone, indexed := 0, 0, 0
	for uri, body := range c.documents {
		if body == "" {
			c.until(404, "GET", "/documents/"+c.id(uri), nil)
			gone++
			continue
		}
		var d struct {
			Body     string
			Indexing struct {
				State string
				Error any
			}
		}
		for d.Indexing.State != "indexed" {
			if err := json.Unmarshal(c.until(200, "GET", "/documents/"+c.id(uri), nil), &d); err != nil {
				t.Fatal(err)
			}
			if d.Indexing.State == "failed" {
				t.Fatalf("%s: indexing failed: %v", uri, d.Indexing.Error)
			}
			pause(t.Context())
		}
		indexed++
		if d.Body != body {
			t.Errorf("%s holds %.60q, want %.60q", uri, d.Body, body)
		}
		if file := c.files[uri]; file != nil {
			files++
			if got := c.until(200, "GET", "/documents/"+c.id(uri)+"/original", nil); !bytes.Equal(got, file) {
				t.Errorf("the original of %s has %d bytes, want %d", uri, len(got), len(file))
			}
		}
		there++
	}
	states, last := map[string]int{}, ""
	for id := range c.questions {
		var a struct{ State, Question string }
		for a.State == "" || a.State == "processing" {
			if err := json.Unmarshal(c.until(200, "GET", "/answers/"+id, nil), &a); err != nil {
				t.Fatal(err)
			}
		}
		states[a.State]++
		last = string(c.until(204, "PUT", "/answers/"+id, map[string]string{"question": a.Question}))
	}
	remaining, err := strconv.Atoi(last)
	if err != nil {
		t.Fatalf("no quota headers: %v", err)
	}
	if counted := 1000 - remaining; counted != len(c.questions) {
		t.Errorf("the day counts %d questions, %d were accepted", counted, len(c.questions))
	}
	if err := c.server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.ended(); err != nil {
		t.Errorf("docent serve did not end well: %v", err)
	}
	var reports []struct{ Damaged, Missing []string }
	c.cli(&reports, "index", "check", "--data", c.data(), "--json")
	if len(reports) != 1 || len(reports[0].Damaged)+len(reports[0].Missing) > 0 {
		t.Errorf("index check: %+v", reports)
	}
	t.Logf("%d operations acknowledged, %d kills, %d retries; %d documents there and %d indexed, %d of them files, %d deleted; questions %v",
		c.done.Load(), crashKills, c.retries.Load(), there, indexed, files, gone, states)
	return files
}

func pageURI(name string) string { return "https://crash.test/" + name }

func (c *crash) page(name, body string) map[string]string {
	return map[string]string{"collectionId": c.collection, "uri": pageURI(name), "title": "T", "body": body}
}
