package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"docent/shared/app"
	"docent/shared/team"
)

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// madeKey is the JSON of docent key create.
type madeKey struct{ ID, Kind, Name, Secret string }

func TestTeamsAndKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	must := func(args ...string) string {
		t.Helper()
		status, out, errOut := docent(t, append(args, "--data", dir, "--json")...)
		if status != 0 {
			t.Fatalf("%v: status %d, %s", args, status, errOut)
		}
		return out
	}
	var made madeTeam
	decodeJSON(t, must("team", "create", "--name", "Platform", "--admin", "ada@example.com"), &made)
	if made.Team.Name != "Platform" || made.User.UserName != "ada@example.com" || made.Key.Kind != "personal" {
		t.Fatalf("made %+v", made)
	}
	var bot, laptop madeKey
	decodeJSON(t, must("key", "create", "--team", made.Team.ID, "--kind", "team", "--name", "bot", "--expires", "90d"), &bot)
	decodeJSON(t, must("key", "create", "--team", made.Team.ID, "--kind", "personal", "--user", "ADA@example.com", "--name", "laptop"), &laptop)
	for _, k := range []struct{ id, kind, secret string }{
		{made.Key.ID, "personal", made.Key.Secret}, {bot.ID, "team", bot.Secret}, {laptop.ID, "personal", laptop.Secret},
	} {
		kind, id, _, ok := team.ParseKey(k.secret)
		if !ok || id != k.id || string(kind) != k.kind {
			t.Fatalf("key %q is of kind %q and id %q, want %q and %q", k.secret, kind, id, k.kind, k.id)
		}
	}
	var keys []team.APIKey
	list := must("key", "list", "--team", made.Team.ID)
	decodeJSON(t, list, &keys)
	if len(keys) != 3 || strings.Contains(list, bot.Secret) {
		t.Fatalf("listed %s", list)
	}
	if slices.ContainsFunc(keys, func(k team.APIKey) bool { return k.ActFor }) {
		t.Errorf("a key acts for people: %s", list)
	}
	must("key", "create", "--team", made.Team.ID, "--kind", "team", "--name", "chat", "--act-for")
	decodeJSON(t, must("key", "list", "--team", made.Team.ID), &keys)
	if !keys[0].ActFor {
		t.Errorf("%s does not act for people", keys[0].Name)
	}
	must("key", "revoke", "--team", made.Team.ID, keys[0].ID)
	must("key", "revoke", "--team", made.Team.ID, bot.ID)
	decodeJSON(t, must("key", "list", "--team", made.Team.ID), &keys)
	if len(keys) != 2 {
		t.Fatalf("%d keys are left, want 2", len(keys))
	}

	refusals := []struct{ name, args, want string }{
		{"revoked twice", "key revoke " + bot.ID + " --team " + made.Team.ID, "There is no such API key."},
		{"keys of an unknown team", "key list --team nowhere", "There is no such team."},
		{"key of an unknown user", "key create --kind personal --user bob --name n --team " + made.Team.ID, "There is no such user."},
		{"key for an unknown collection", "key create --kind team --name n --data-source nowhere --team " + made.Team.ID, "--data-source 1: is not"},
		{"expired at once", "key create --kind team --name n --expires 2020-01-01 --team " + made.Team.ID, "--expires: must be in the future"},
		{"a key of a provider that acts for people", "key create --kind scim --name n --act-for --team " + made.Team.ID, "--act-for: must not be given for a scim key"},
	}
	for _, tc := range refusals {
		status, out, errOut := docent(t, append(strings.Fields(tc.args), "--data", dir)...)
		if status != 1 || out != "" || !strings.Contains(errOut, tc.want) {
			t.Errorf("%s: status %d, output %q, errors %q", tc.name, status, out, errOut)
		}
	}

	status, out, _ := docent(t, "key", "list", "--team", made.Team.ID, "--data", dir)
	if row := regexp.MustCompile(`laptop +all +all +ada@example.com +- `); !row.MatchString(out) {
		t.Errorf("table %s", out)
	}
	if status != 0 || !strings.Contains(out, "laptop") || !strings.Contains(out, "never") {
		t.Fatalf("status %d, table %s", status, out)
	}
}

func TestDataThatIsInUseOrMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := app.OpenLocal(t.Context(), dir, app.LocalOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, args := range []string{"team create --name n --admin a", "key list --team t", "serve --addr 127.0.0.1:0", "backup -"} {
		status, _, errOut := docent(t, append(strings.Fields(args), "--data", dir)...)
		if status != 1 || !strings.Contains(errOut, "stop it, run this, then start it again") {
			t.Errorf("%s: status %d, errors %q", args, status, errOut)
		}
	}
	missing := filepath.Join(dir, "typo")
	status, _, errOut := docent(t, "key", "list", "--team", "t", "--data", missing)
	if _, err := os.Stat(missing); status != 1 || !strings.Contains(errOut, "there is no data folder") || err == nil {
		t.Fatalf("status %d, errors %q, folder %v", status, errOut, err)
	}
}

// TestAFolderWithoutDataIsRefused runs commands on a folder as it is when its disk is not mounted. A backup of nothing
// would seem to be one, and replace those that are.
func TestAFolderWithoutDataIsRefused(t *testing.T) {
	t.Parallel()
	backups := t.TempDir()
	for _, args := range [][]string{{"backup", backups}, {"backup", "-"}, {"key", "list", "--team", "t"}, {"index", "status"}, {"source", "sync"}, {"signin"}, {"import"}} {
		dir := t.TempDir()
		status, out, errOut := docent(t, append(args, "--data", dir)...)
		if status != 1 || out != "" || errOut != "docent: there is no data of Docent in "+dir+"; docent serve and docent team create make it\n" {
			t.Errorf("%v: status %d, output %q, errors %q", args, status, out, errOut)
		}
		for _, folder := range []string{dir, backups} {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%v made %v, %v", args, left, err)
			}
		}
	}
	half := t.TempDir()
	if err := os.Mkdir(filepath.Join(half, "unfinished"), 0o700); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := docent(t, "backup", "-", "--data", half); status != 1 || !strings.Contains(errOut, "has not finished") {
		t.Errorf("a restore that was interrupted: status %d, errors %q", status, errOut)
	}
}

func TestATakenAddressIsNamed(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	status, _, errOut := docent(t, "serve", "--no-demo", "--data", filepath.Join(t.TempDir(), "data"), "--addr", other.Addr().String())
	if status != 1 || !strings.Contains(errOut, other.Addr().String()+" is in use") {
		t.Errorf("status %d, errors %q", status, errOut)
	}
}

// TestDataOfAnotherUser: whoever runs a command as another user than the server learns so. The superuser of a test may do
// everything, so the error is made here.
func TestDataOfAnotherUser(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "/data/docent.db", Err: syscall.EACCES}
	err := ofData(errors.Join(fmt.Errorf("look at the data directory: %w", denied), errors.New("another step")), "/data")
	want := "this user may not use the data in /data; run this as the user of the server, or name another folder with --data. " +
		"What another user made there, such as root, chown -R gives to the user of the server: open /data/docent.db: permission denied"
	if err.Error() != want || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, want %s", err, want)
	}
	dial := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	if err := ofData(dial, "/data"); !strings.HasPrefix(err.Error(), "this user may not use the data in /data; ") {
		t.Errorf("the socket of a server: %v", err)
	}
	other := errors.New("the disk is full")
	if err := ofData(other, "/data"); err != other { //nolint:errorlint // it is passed on as it is
		t.Errorf("another error: %v", err)
	}
	if err := ofData(nil, "/data"); err != nil {
		t.Errorf("no error: %v", err)
	}
}

func TestAnAddressOfAnotherMachineIsNamed(t *testing.T) {
	t.Parallel()
	status, _, errOut := docent(t, "serve", "--no-demo", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "192.0.2.1:8080")
	if status != 1 || !strings.Contains(errOut, "cannot listen on 192.0.2.1:8080: ") || !strings.Contains(errOut, "choose another address with --addr") {
		t.Errorf("status %d, errors %q", status, errOut)
	}
}
