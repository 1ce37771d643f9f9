package collectors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoogleKnowsTheSettings checks the settings of a Google SecOps feed with Google's client library, which
// rejects unknown settings.
func TestGoogleKnowsTheSettings(t *testing.T) {
	t.Parallel()
	python := filepath.Join(repository, ".cache", "collectors", "bin", "python3")
	if _, err := os.Stat(python); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the library is not installed: run make collectors")
		}
		t.Skip("the library is not installed: run make collectors")
	}
	read := func(settings string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), python, "secops.py")
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin = strings.NewReader(settings)
		return cmd.CombinedOutput()
	}
	settings := recipe(t, "Google SecOps, custom API feed", "json")
	if said, err := read(settings); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := read(strings.Replace(settings, `"checkpointing"`, `"checkpoint"`, 1)); err == nil || !strings.Contains(string(said), "checkpoint") {
		t.Errorf("an unknown member: %v, %s", err, said)
	}
}
