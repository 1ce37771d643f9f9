package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A backup brings back access that was taken away after it. The operator has to be told, because nothing else shows it.
func TestARestoreSaysThatAccessIsThatOfTheBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file, restored := filepath.Join(dir, "data"), filepath.Join(dir, "b.tar"), filepath.Join(dir, "restored")
	run := func(args ...string) string {
		t.Helper()
		status, out, errOut := docent(t, args...)
		if status != 0 {
			t.Fatalf("%v: status %d, %s", args, status, errOut)
		}
		return out
	}
	var made struct {
		Team struct{ ID string }
		ID   string // of a key
	}
	create := func(args ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(append(args, "--data", data, "--json")...)), &made); err != nil {
			t.Fatal(err)
		}
	}
	create("team", "create", "--name", "Acme", "--admin", "ada@acme.test")
	team := made.Team.ID
	create("key", "create", "--team", team, "--kind", "team", "--name", "leaked")
	run("backup", "--data", data, file)
	run("key", "revoke", "--data", data, "--team", team, made.ID)
	if list := run("key", "list", "--data", data, "--team", team); strings.Contains(list, "leaked") {
		t.Fatalf("the key is not revoked: %s", list)
	}
	if out := run("restore", "--data", restored, file); !strings.Contains(out, "Keys that were revoked since then work again") {
		t.Errorf("restore says %q", out)
	}
	if list := run("key", "list", "--data", restored, "--team", team); !strings.Contains(list, "leaked") {
		t.Errorf("the text is wrong: the key is still revoked: %s", list)
	}
}
