package app

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/shared/storedtest"
)

// newMembers are the members of replies that the newest release does not have. Empty it when a
// release's fixture is added.
var newMembers = []string{"actFor", "createdBy", "hint", "meaning", "scopes"}

// TestRollBack opens the data of the newest release, changes it with the current code and leaves
// unfinished work. Then the release's own tests open the result with the release's own code. It
// needs the history of the repository: make rollback.
func TestRollBack(t *testing.T) {
	if os.Getenv("DOCENT_TEST_ROLLBACK") == "" {
		t.Skip("takes minutes; run make rollback")
	}
	fixtures := storedtest.Fixtures(t)
	version := fixtures[len(fixtures)-1].Version
	older := checkout(t, version)
	folder := t.TempDir()
	for _, f := range fixtures {
		if f.Version != version {
			continue
		}
		t.Run("leave "+f.Engine, func(t *testing.T) {
			m := f.Manifest
			in := storedAt(t, f.Engine, f.FS(t), m.Written.Add(time.Second))
			in.worksOff(&m)
			in.changes(&m)
			in.leaveWork(&m)
			in.record(&m)
			m.Reads = withoutNewMembers(t, m.Reads)
			if err := storedtest.Save(folder, m, in.stored()); err != nil {
				t.Fatal(err)
			}
		})
	}
	if t.Failed() {
		return
	}
	tests := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^TestStoredFormsOpen$", "./shared/app")
	tests.Dir = older
	tests.Env = append(os.Environ(), storedtest.FolderVariable+"="+folder)
	output, err := tests.CombinedOutput()
	if err != nil {
		t.Fatalf("%s does not open what the current code has stored: %v\n%s", version, err, output)
	}
	t.Logf("%s opens what the current code has stored:\n%s", version, output)
}

// withoutNewMembers removes from the replies what the newest release cannot give.
func withoutNewMembers(t *testing.T, reads []storedtest.Exchange) []storedtest.Exchange {
	t.Helper()
	for i, e := range reads {
		if len(e.Reply) == 0 {
			continue
		}
		var reply any
		if err := json.Unmarshal(e.Reply, &reply); err != nil {
			t.Fatalf("reply to %s: %v", e.Path, err)
		}
		reads[i].Reply = encodeStored(t, storedtest.Digested(reply, newMembers...))
	}
	return reads
}

// checkout writes the tree of the commit that added a release's fixture to a temporary folder and
// returns the folder. It skips the test if the history is missing.
func checkout(t *testing.T, version string) string {
	t.Helper()
	git := func(arguments ...string) string {
		output, err := exec.CommandContext(t.Context(), "git", arguments...).CombinedOutput()
		if err != nil {
			t.Skipf("git %s: %v: %s", strings.Join(arguments, " "), err, output)
		}
		return strings.TrimSpace(string(output))
	}
	if git("rev-parse", "--is-shallow-repository") == "true" {
		t.Skip("this clone has no history: git fetch --unshallow")
	}
	manifest := path.Join("..", "storedtest", "testdata", version, storedtest.Serve+".json")
	commit := git("log", "--diff-filter=A", "--format=%H", "-1", "--", manifest)
	if commit == "" {
		t.Skipf("the fixture of %s is not committed", version)
	}
	root := git("rev-parse", "--show-toplevel")
	archive, err := exec.CommandContext(t.Context(), "git", "-C", root, "archive", commit).Output()
	if err != nil {
		t.Fatalf("git archive %s: %v", commit, err)
	}
	folder := t.TempDir()
	untar := exec.CommandContext(t.Context(), "tar", "-x", "-C", folder)
	untar.Stdin = bytes.NewReader(archive)
	if output, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %v: %s", commit, err, output)
	}
	// Installed tools, such as the protocol server of AWS, are those of this checkout.
	if err := os.Symlink(filepath.Join(root, ".cache"), filepath.Join(folder, ".cache")); err != nil {
		t.Fatal(err)
	}
	return folder
}
