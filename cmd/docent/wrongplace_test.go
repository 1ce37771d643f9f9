package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/testkit/apitest"
)

func TestTheCollectionOfAnEvaluationMustExist(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	file := filepath.Join(t.TempDir(), "q.jsonl")
	if err := os.WriteFile(file, []byte(`{"question":"Why?","expected":"https://wiki.example/a"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errOut := docent(t, "eval", "--server", api.URL, "--key", apitest.Key, "--collection", "abc", file)
	if status != 1 || errOut != "docent: there is no collection abc\n" {
		t.Errorf("status %d, %q", status, errOut)
	}
}

func TestTeamCreateSaysThatItMadeTheDataFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if status, _, errOut := docent(t, "team", "create", "--data", dir, "--name", "one", "--admin", "ada@acme.test"); status != 0 || errOut != "docent: made the data folder "+dir+"\n" {
		t.Errorf("status %d, %q", status, errOut)
	}
	if status, _, errOut := docent(t, "team", "create", "--data", dir, "--name", "two", "--admin", "ben@acme.test"); status != 0 || errOut != "" {
		t.Errorf("in a folder that exists: status %d, %q", status, errOut)
	}
}

func TestModelShowGivesNoSizeOfWeightsThatAreMissing(t *testing.T) {
	t.Parallel()
	status, out, _ := docent(t, "model", "show", "--in", t.TempDir())
	if status != 1 || strings.Contains(out, " MB") || !strings.Contains(out, "Weights: ") {
		t.Errorf("status %d, %s", status, out)
	}
}
