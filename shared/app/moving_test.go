package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/blob"
	"docent/shared/clocktest"
	"docent/shared/moving"
	"docent/shared/source"
	"docent/shared/storedtest"
	"docent/shared/table"
)

var moveRecords = flag.Int("move-records", 500, "about how many records TestAMoveChangesNothing moves: make move MOVE_RECORDS=100000")

// filled is the data directory of an installation that holds every stored form.
type filled struct {
	folder string
	*storedtest.Manifest
	sealed recordingVault // what it has encrypted
}

// fillFolder fills a data directory, with about as many more records.
func fillFolder(t *testing.T, more int) *filled {
	t.Helper()
	d := &filled{folder: t.TempDir(), Manifest: &storedtest.Manifest{Version: storedtest.Unreleased, Engine: storedtest.Serve}}
	key := bytes.Repeat([]byte{5}, 32)
	if err := os.WriteFile(filepath.Join(d.folder, keyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	d.sealed.Vault = vaultOf(t, key)
	f := fill(t, storedInPlace(t, d.folder, clocktest.New(storedFirst), &d.sealed), d.Manifest)
	f.fillMore(more)
	f.leaveRebuild() // fillMore has finished the rebuild of vectors
	f.leaveWork(d.Manifest)
	f.leaveLink()
	f.record(d.Manifest)
	f.must(200, f.admin, "PUT", "/team/openid-provider", map[string]any{"issuer": "https://idp.test", "clientId": "docent", "clientSecret": "hush"})
	f.leaveSignOn()
	f.leaveConsent()
	f.stored()
	return d
}

// fillMore adds about n records of documents, users, groups, answers and events.
func (f *filling) fillMore(n int) {
	f.t.Helper()
	const each = 17 // records of one round
	drain := func() {
		for _, name := range []string{"documents", "embeddings", "questions"} {
			f.drain(name)
		}
	}
	for round := range n / each {
		f.must(200, f.key, "PUT", "/documents", map[string]any{"collectionId": f.m.IDs["guide"], "uri": fmt.Sprintf("https://more.test/%d", round),
			"title": fmt.Sprintf("Page %d", round), "body": fmt.Sprintf("## Page\n\nThe buzzard number %d rests on a pole.", round)})
		user := f.user(fmt.Sprintf("more%d", round), nil)
		f.must(201, f.scim, "POST", "/scim/v2/Groups", map[string]any{"schemas": []string{coreGroup}, "displayName": fmt.Sprintf("More %d", round), "members": []any{map[string]any{"value": user}}})
		if round%20 == 0 {
			f.must(204, f.key, "PUT", "/answers/"+newID(), map[string]any{"question": fmt.Sprintf("Where does the buzzard number %d rest?", round)})
		}
		if round%50 == 49 {
			f.clock.Advance(time.Second) // for the limits of requests per second
			drain()
		}
	}
	drain()
}

// folderItems returns all items of a data directory.
func folderItems(t *testing.T, folder string, now time.Time) []table.Item {
	t.Helper()
	return storedtest.BoltItems(t, filepath.Join(folder, databaseFile), now)
}

// items returns all items on AWS.
func (m *motoHome) items(t *testing.T, now time.Time) []table.Item {
	t.Helper()
	var all []table.Item
	home := MoveOptions{Config: m.Config}.onAWS(now)
	for _, name := range table.Names {
		for item, err := range home.Rows.Scan(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, item)
		}
	}
	return all
}

// forms counts items by their stored form, without those that a home keeps for itself.
func forms(t *testing.T, items []table.Item) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, item := range items {
		counts[storedtest.FormOf(t, item.Key).Name()]++
	}
	for _, own := range []string{"events: daily | round", "events: sweeps | last", "index: cleanup | orphans"} {
		delete(counts, own)
	}
	return counts
}

func objectNames(t *testing.T, s blob.Store) []string {
	t.Helper()
	var all []string
	for b, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Name)
	}
	return all
}

func vaultOf(t *testing.T, key []byte) Vault {
	t.Helper()
	v, err := source.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func otherVault(t *testing.T) Vault {
	t.Helper()
	return vaultOf(t, bytes.Repeat([]byte{9}, 32))
}

// recordingVault remembers what it has encrypted.
type recordingVault struct {
	Vault
	mu     sync.Mutex
	sealed map[string][][]byte // by what it is about
}

// Seal implements Vault.
func (v *recordingVault) Seal(ctx context.Context, text []byte, about string) ([]byte, error) {
	sealed, err := v.Vault.Seal(ctx, text, about)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sealed == nil {
		v.sealed = map[string][][]byte{}
	}
	v.sealed[about] = append(v.sealed[about], sealed)
	return sealed, err
}

// checkSecrets fails unless items have the secrets of d, encrypted for vault.
func (d *filled) checkSecrets(t *testing.T, items []table.Item, vault Vault) {
	t.Helper()
	opened := map[string]bool{}
	for _, item := range items {
		for about, versions := range d.sealed.sealed {
			for _, sealed := range versions {
				if bytes.Contains(item.Body, sealed) || bytes.Contains(item.Body, []byte(base64.StdEncoding.EncodeToString(sealed))) {
					t.Errorf("%v has the secret of %s under the old key: its package needs a SecretOf in secretsOf", item.Key, about)
				}
			}
		}
		if bytes.Contains(item.Body, []byte("hush")) {
			t.Errorf("%v has a secret in clear", item.Key)
		}
		secret, err := (&moving.Move{Secrets: secretsOf}).SecretOf(item)
		if err != nil {
			t.Fatal(err)
		}
		if secret == nil {
			continue
		}
		if _, err := vault.Open(t.Context(), secret.Sealed, secret.About); err != nil {
			t.Errorf("%s: %v", secret.About, err)
		}
		opened[secret.About] = true
	}
	if len(opened) < 3 {
		t.Errorf("there are only the secrets of %v", opened)
	}
}

// TestAMoveChangesNothing moves an installation with every stored form from a folder to AWS and back. At both ends
// every GET, search, cursor and key answers as before, and unfinished work is done.
func TestAMoveChangesNothing(t *testing.T) {
	t.Parallel()
	m := fillFolder(t, *moveRecords)
	folder := m.folder
	clock := clocktest.New(m.Written)
	cloud := newMoto(t, clock.Now)
	o := MoveOptions{Config: cloud.Config, Vault: otherVault(t), Name: "moto", Now: clock.Now}
	before := folderItems(t, folder, m.Written)

	begun := time.Now()
	report, err := Import(t.Context(), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("imported %+v in %v", report, time.Since(begun))
	in := cloud.installation(t, clock, o.Vault)
	for caller, key := range m.Callers {
		if r := in.do(key, "GET", "/me", nil, nil); r.status != 401 {
			t.Errorf("before the end, the copy replies %d to %s", r.status, caller)
		}
	}
	late := cloud.installation(t, clocktest.New(m.Written.Add(2*time.Hour)), o.Vault) // when all pending work is due
	if err := late.sweep(t.Context()); err != nil {                                   // of the stack's functions
		t.Fatal(err)
	}
	for name, q := range cloud.queues {
		if bodies, err := waiting(t.Context(), q); err != nil || len(bodies) > 0 {
			t.Errorf("before the end, the copy has work in the queue %s: %q, %v", name, bodies, err)
		}
	}
	again, err := Import(t.Context(), folder, o)
	if err != nil || again.Copied+again.Removed > 0 || again.Items != report.Items {
		t.Errorf("a second import copied %+v, %v", again, err)
	}
	o.Finish, begun = true, time.Now()
	if report, err = Import(t.Context(), folder, o); err != nil {
		t.Fatal(err)
	}
	t.Logf("finished %+v in %v", report, time.Since(begun))
	if want, got := forms(t, before), forms(t, cloud.items(t, m.Written)); !maps.Equal(want, got) {
		t.Errorf("records by form: %v, want %v", got, want)
	}
	storedtest.CheckForms(t, m.Version, m.Engine, before)
	m.checkSecrets(t, cloud.items(t, m.Written), o.Vault)
	if _, err := OpenLocal(t.Context(), folder, LocalOptions{}); !errors.Is(err, ErrMoved) {
		t.Errorf("the original is opened: %v", err)
	}
	if _, err := Import(t.Context(), folder, o); !errors.Is(err, ErrMoved) {
		t.Errorf("imported after the end: %v", err)
	}

	back := filepath.Join(t.TempDir(), "back")
	begun = time.Now()
	o.Finish = false
	if _, err := Export(t.Context(), back, o); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLocal(t.Context(), back, LocalOptions{}); !errors.Is(err, ErrUnfinished) {
		t.Errorf("an unfinished copy is opened: %v", err)
	}
	o.Finish = true
	if report, err = Export(t.Context(), back, o); err != nil {
		t.Fatal(err)
	}
	t.Logf("exported %+v in %v", report, time.Since(begun))
	if want, got := forms(t, before), forms(t, folderItems(t, back, m.Written)); !maps.Equal(want, got) {
		t.Errorf("records by form after the way back: %v, want %v", got, want)
	}
	key, err := os.ReadFile(filepath.Join(back, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	m.checkSecrets(t, folderItems(t, back, m.Written), vaultOf(t, key))
	clock.Advance(time.Second)
	returned := storedAt(t, storedtest.Serve, os.DirFS(back), clock.Now())
	for name, at := range map[string]*installation{"on AWS": in, "in the folder": returned} {
		t.Run(name, func(t *testing.T) {
			at.t = t
			at.readsAsBefore(m.Manifest)
			at.worksOff(m.Manifest)
		})
	}
}

// TestAMoveContinuesAndFollows kills an import midway, changes the original, and continues: the copy ends up as the
// original is then.
func TestAMoveContinuesAndFollows(t *testing.T) {
	t.Parallel()
	m := fillFolder(t, 0)
	folder := m.folder
	clock := clocktest.New(m.Written)
	cloud := newMoto(t, clock.Now)
	o := MoveOptions{Config: cloud.Config, Vault: otherVault(t), Name: "moto", Now: clock.Now}
	ctx, kill := context.WithCancel(t.Context())
	stopped := o
	stopped.Tell = func(p moving.Progress) {
		if p.Stage == table.Documents && p.Copied > 0 {
			kill()
		}
	}
	if _, err := Import(ctx, folder, stopped); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not stopped: %v", err)
	}
	change := storedInPlace(t, folder, clock, nil)
	change.must(200, m.Callers["team"], "PUT", "/documents", map[string]any{"collectionId": m.IDs["guide"], "uri": "https://late.test/", "title": "Late", "body": "The late heron."})
	change.must(204, m.Callers["team"], "DELETE", "/documents/"+m.IDs["runbook"], nil)
	change.work()
	served := make(chan struct{})
	serving, stop := context.WithCancel(t.Context())
	go func() { defer close(served); change.local.control(serving, change.log) }()
	var report moving.Report
	var err error
	for { // until the server listens
		if report, err = Import(t.Context(), folder, o); !errors.Is(err, ErrInUse) {
			break
		}
	}
	if err != nil || report.Copied == 0 {
		t.Fatalf("while a server runs: %+v, %v", report, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, copyPrefix+"*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	finish := o
	finish.Finish = true
	if _, err := Import(t.Context(), folder, finish); !errors.Is(err, ErrInUse) {
		t.Errorf("finished while a server runs: %v", err)
	}
	change.must(204, m.Callers["team"], "DELETE", "/documents/"+m.IDs["old"], nil)
	change.work()
	stop()
	<-served
	if err := change.local.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err = Import(t.Context(), folder, finish); err != nil || report.Removed == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if want, got := forms(t, folderItems(t, folder, m.Written)), forms(t, cloud.items(t, m.Written)); !maps.Equal(want, got) {
		t.Errorf("records by form: %v, want %v", got, want)
	}
	if want, got := objectNames(t, change.local.engines.blobs), objectNames(t, cloud.blobs); !slices.Equal(want, got) {
		t.Errorf("objects %q, want %q", got, want)
	}
	in := cloud.installation(t, clock, o.Vault)
	in.must(404, m.Callers["team"], "GET", "/documents/"+m.IDs["runbook"], nil)
	in.must(404, m.Callers["team"], "GET", "/documents/"+m.IDs["old"], nil)
}

func TestAMoveRefuses(t *testing.T) {
	t.Parallel()
	folder, _ := backedUp(t)
	cloud := newMoto(t, time.Now)
	o := MoveOptions{Config: cloud.Config, Vault: otherVault(t), Name: "moto"}
	if _, err := TeamsOnAWS(cloud.Config, nil).Team(t.Context(), "none"); err == nil {
		t.Fatal("there is a team")
	}
	if _, err := Export(t.Context(), folder, o); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("exported over data: %v", err)
	}
	into := filepath.Join(t.TempDir(), "new")
	if _, err := Export(t.Context(), into, o); err != nil {
		t.Fatal(err)
	}
	other := o
	other.Name = "another stack"
	if _, err := Export(t.Context(), into, other); err == nil {
		t.Error("exported over the export of another stack")
	}
	if _, err := Import(t.Context(), into, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("imported an unfinished export: %v", err)
	}
	if _, err := Import(t.Context(), folder, o); err != nil {
		t.Fatal(err)
	}
	back := o
	back.Finish = true
	if _, err := Export(t.Context(), into, back); !errors.Is(err, ErrUninhabited) {
		t.Errorf("exported an import that is not finished: %v", err)
	}
	if _, _, err := TeamsOnAWS(cloud.Config, nil).CreateTeam(t.Context(), "own", "eve"); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), folder, o); !errors.Is(err, ErrInhabited) {
		t.Errorf("imported over teams: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, moveFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused import left its mark: %v", err)
	}
}

// Until the copy comes to life, an import has made no teams there: those of the stack are its own.
func TestAnImportThatWasStoppedRefusesTeams(t *testing.T) {
	t.Parallel()
	folder, _ := backedUp(t)
	cloud := newMoto(t, time.Now)
	o := MoveOptions{Config: cloud.Config, Vault: otherVault(t), Name: "moto", Finish: true}
	ctx, kill := context.WithCancel(t.Context())
	stopped := o
	stopped.Tell = func(moving.Progress) { kill() }
	if _, err := Import(ctx, folder, stopped); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not stopped: %v", err)
	}
	if s, err := readMove(folder); err != nil || s.State != stateFinishing {
		t.Fatalf("noted %+v, %v", s, err)
	}
	if _, _, err := TeamsOnAWS(cloud.Config, nil).CreateTeam(t.Context(), "own", "eve"); err != nil {
		t.Fatal(err)
	}
	for _, o.Finish = range []bool{false, true} {
		if _, err := Import(t.Context(), folder, o); !errors.Is(err, ErrInhabited) {
			t.Errorf("imported over teams, finish %t: %v", o.Finish, err)
		}
	}
}

// An import that was interrupted while it brought the copy to life continues, and keeps what the copy has written.
func TestAnInterruptedImportGoesOn(t *testing.T) {
	t.Parallel()
	folder, _ := backedUp(t)
	cloud := newMoto(t, time.Now)
	o := MoveOptions{Config: cloud.Config, Vault: otherVault(t), Name: "moto", Finish: true}
	ctx, kill := context.WithCancel(t.Context())
	stopped := o
	stopped.Tell = func(moving.Progress) {
		if s, err := readMove(folder); err != nil || s.State == stateEntering {
			kill()
		}
	}
	if _, err := Import(ctx, folder, stopped); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not stopped: %v", err)
	}
	if s, err := readMove(folder); err != nil || s.State != stateEntering {
		t.Fatalf("noted %+v, %v", s, err)
	}
	if err := cloud.blobs.Put(t.Context(), "kept/New", []byte("of the copy")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLocal(t.Context(), folder, LocalOptions{}); !errors.Is(err, ErrMoved) {
		t.Errorf("the original is opened: %v", err)
	}
	other, unfinished := o, o
	other.Name, unfinished.Finish = "another stack", false
	for name, refused := range map[string]MoveOptions{"into another stack": other, "without finishing": unfinished} {
		if _, err := Import(t.Context(), folder, refused); !errors.Is(err, ErrMoved) {
			t.Errorf("imported %s: %v", name, err)
		}
	}
	if _, err := Import(t.Context(), folder, o); err != nil {
		t.Fatal(err)
	}
	if s, err := readMove(folder); err != nil || s.State != stateFinished {
		t.Errorf("noted %+v, %v", s, err)
	}
	if want, got := []string{"kept/New", "kept/Object"}, objectNames(t, cloud.blobs); !slices.Equal(want, got) {
		t.Errorf("objects %q, want %q", got, want)
	}
}
