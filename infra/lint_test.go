package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTemplatePassesLint runs cfn-lint, which make moto installs. It ignores W3005: the CDK writes dependencies
// that also follow from references.
func TestTemplatePassesLint(t *testing.T) {
	t.Parallel()
	lint, err := filepath.Abs("../.cache/moto/bin/cfn-lint")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lint); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("cfn-lint is not installed: run make moto")
		}
		t.Skip("cfn-lint is not installed: run make moto")
	}
	args := []string{"-i", "W3005", "-t"}
	for _, m := range []template{plain(t), whole(t)} {
		args = append(args, filepath.Join(m.folder, templateFile))
	}
	args = append(args, filepath.Join(whole(t).folder, backupsID+".template.json"))
	if out, err := exec.Command(lint, args...).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}
