package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// target is the content of the server.
type target struct {
	Address string // HOST:PORT
	Quiet   quiet
	Teams   []attackingTeam // whose clients attack
}

// attackingTeam is a team with the keys of its clients.
type attackingTeam struct {
	Key     string   // the team's
	Revoked string   // a revoked key
	SCIM    string   // the identity provider's
	Admins  []string // personal keys of the admin; each allows 1,000 calls per day

	Collection string
	Large      string // a document of the maximum size that compresses well
	Noise      string // a large document that hardly compresses
	Controls   string // a document of 1 MiB of control characters, which JSON escapes
	Items      string // a data source filled by imports
	GitHub     source
	Slack      source
	Users      []string // of SCIM
	Group      string   // of all users
	Question   string   // an answered question
}

// source is a data source that accepts signed webhooks.
type source struct{ ID, Secret string }

// The content of each attacking team.
const (
	longTitles    = 50
	longQuestions = 30
	items         = 200
	users         = 200
	adminKeys     = 4
)

// filler fills the server for a team.
type filler struct {
	api
	attackingTeam
}

// fill creates the content for the attacks and the quiet team, and waits until it is indexed. The first of admins
// is the quiet team's. Large documents have about size bytes.
func fill(ctx context.Context, address string, admins []string, size int) (target, error) {
	prepare(size)
	t := target{Address: address, Teams: make([]attackingTeam, len(admins)-1)}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		t.Quiet, err = newQuiet(gctx, address, admins[0])
		return err
	})
	for n, admin := range admins[1:] {
		group.Go(func() error {
			f := &filler{api: api{address, admin}}
			err := f.fill(gctx)
			t.Teams[n] = f.attackingTeam
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return t, err
	}
	return t, t.Quiet.settled(ctx)
}

//go:embed saml.xml
var metadata []byte

func (f *filler) fill(ctx context.Context) error {
	for _, step := range []func(context.Context) error{f.makeKeys, f.putDocuments, f.makeSources, f.provision, f.ask} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) makeKeys(ctx context.Context) error {
	var me struct{ User struct{ ID string } }
	if err := f.call(ctx, "GET", "/me", nil, &me); err != nil {
		return err
	}
	type key struct{ ID, Secret string }
	create := func(kind, user string) (k key, err error) {
		body := map[string]string{"kind": kind, "name": "attack"}
		if user != "" {
			body["userId"] = user
		}
		err = f.call(ctx, "POST", "/api-keys", body, &k)
		return k, err
	}
	team, err := create("team", "")
	if err != nil {
		return err
	}
	revoked, err := create("team", "")
	if err != nil {
		return err
	}
	identity, err := create("scim", "")
	if err != nil {
		return err
	}
	f.Key, f.Revoked, f.SCIM = team.Secret, revoked.Secret, identity.Secret
	for range adminKeys {
		admin, err := create("personal", me.User.ID)
		if err != nil {
			return err
		}
		f.Admins = append(f.Admins, admin.Secret)
	}
	if err := f.call(ctx, "DELETE", "/api-keys/"+revoked.ID, nil, nil); err != nil {
		return err
	}
	return f.send(ctx, "PUT", "/team/saml-metadata", "application/samlmetadata+xml", metadata, nil)
}

func (f *filler) putDocuments(ctx context.Context) (err error) {
	if f.Collection, err = f.collection(ctx); err != nil {
		return err
	}
	put := func(name, title, text string) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = f.document(ctx, f.Collection, name, title, text)
		return id
	}
	f.Large = put("large", "Large", prepared.packed)
	f.Noise = put("noise", "Noise", prepared.noise)
	f.Controls = put("controls", "Controls", strings.Repeat("\x01", 1<<20))
	for n := range longTitles {
		put(fmt.Sprint(n, "/", strings.Repeat("x", 2000)), strings.Repeat("\u00e4\x01", 512), "x")
	}
	return err
}

func (f *filler) makeSources(ctx context.Context) error {
	var made struct{ ID, WebhookSecret string }
	// No such host exists, so nothing is read. (An address that is not public would be refused.)
	settings := map[string]any{"repositories": []string{"attack/x"}, "baseUrl": "https://attack.invalid"}
	if err := f.call(ctx, "POST", "/data-sources", map[string]any{"provider": "github", "name": "x", "settings": settings}, &made); err != nil {
		return err
	}
	f.GitHub = source{made.ID, made.WebhookSecret}
	f.Slack.Secret = "attack-attack-attack-attack"
	settings = map[string]any{"signingSecret": f.Slack.Secret}
	if err := f.call(ctx, "POST", "/data-sources", map[string]any{"provider": "slack", "name": "x", "settings": settings}, &made); err != nil {
		return err
	}
	f.Slack.ID = made.ID
	if err := f.call(ctx, "POST", "/data-sources", map[string]string{"provider": "jira", "name": "x"}, &made); err != nil {
		return err
	}
	f.Items = made.ID
	var lines bytes.Buffer
	for n := range items {
		fmt.Fprintf(&lines, `{"uri":"https://attack.example/issues/%d","title":"Issue %d","body":%q,"sourceType":"issue","state":"open","labels":["x"]}`+"\n",
			n, n, strings.Repeat("It fails now and then. ", 300))
	}
	return f.send(ctx, "POST", "/data-sources/"+f.Items+"/items", "application/x-ndjson", lines.Bytes(), nil)
}

func (f *filler) provision(ctx context.Context) error {
	identity := api{f.address, f.SCIM}
	var operations []any
	for n := range users {
		operations = append(operations, map[string]any{"method": "POST", "path": "/Users", "bulkId": fmt.Sprint(n),
			"data": map[string]any{"schemas": []string{userSchema}, "userName": fmt.Sprint("user", n)}})
	}
	var done struct {
		Operations []struct{ Location, Status string }
	}
	if err := identity.call(ctx, "POST", "/scim/v2/Bulk", map[string]any{"schemas": []string{bulkSchema}, "Operations": operations}, &done); err != nil {
		return err
	}
	var members []any
	for _, o := range done.Operations {
		if o.Status != "201" {
			return fmt.Errorf("a user could not be created: %s", o.Status)
		}
		f.Users = append(f.Users, o.Location[strings.LastIndexByte(o.Location, '/')+1:])
		members = append(members, map[string]string{"value": f.Users[len(f.Users)-1]})
	}
	var group struct{ ID string }
	err := identity.call(ctx, "POST", "/scim/v2/Groups", map[string]any{"schemas": []string{groupSchema}, "displayName": "all", "members": members}, &group)
	f.Group = group.ID
	return err
}

// ask asks long questions, which lists return completely.
func (f *filler) ask(ctx context.Context) error {
	team := api{f.address, f.Key}
	for n := range longQuestions {
		f.Question = uuid.NewString()
		question := map[string]string{"question": fmt.Sprint("What is ", n, "?", strings.Repeat("\x01", 9900))}
		if err := team.call(ctx, "PUT", "/answers/"+f.Question, question, nil); err != nil {
			return err
		}
	}
	return nil
}

// api calls the server with a key.
type api struct{ address, key string }

func (a api) collection(ctx context.Context) (id string, err error) {
	var made struct{ ID string }
	err = a.call(ctx, "POST", "/collections", map[string]string{"name": "attack", "description": "Texts."}, &made)
	return made.ID, err
}

func (a api) document(ctx context.Context, collection, name, title, text string) (id string, err error) {
	var made struct{ ID string }
	err = a.call(ctx, "PUT", "/documents", documentOf(collection, name, title, text), &made)
	return made.ID, err
}

func documentOf(collection, name, title, text string) map[string]string {
	return map[string]string{"collectionId": collection, "uri": "https://attack.example/" + name, "title": title, "body": text}
}

// call sends a request whose body is JSON.
func (a api) call(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return a.send(ctx, method, path, "application/json", text, into)
}

// busy is the pause before a request is repeated because the server is busy.
const busy = 100 * time.Millisecond

// send sends a request, repeats it while the server is busy, and decodes the reply into a value.
func (a api) send(ctx context.Context, method, path, media string, body []byte, into any) error {
	for {
		status, reply, err := a.once(ctx, method, path, media, body)
		switch {
		case err != nil:
			return fmt.Errorf("%s %.60s: %w", method, path, err)
		case slices.Contains([]int{429, 503}, status) && sleep(ctx, busy):
			continue
		case status >= 400:
			return fmt.Errorf("%s %.60s: %d %.300s", method, path, status, reply)
		case into == nil:
			return nil
		}
		return json.Unmarshal(reply, into)
	}
}

// once sends a request and returns the reply.
func (a api) once(ctx context.Context, method, path, media string, body []byte) (status int, reply []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+a.address+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.key)
	r.Header.Set("Content-Type", media)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	reply, err = io.ReadAll(response.Body)
	return response.StatusCode, reply, err
}
