package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// TestAServerThatDoesNotAnswerIsSaidWhileItIsTriedAgain: who forgot to start it need not wait for the last try.
func TestAServerThatDoesNotAnswerIsSaidWhileItIsTriedAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[]`)
	}))
	t.Cleanup(api.Close)
	status, _, errOut := docent(t, "source", "list", "--server", api.URL, "--key", apitest.Key)
	if status != 0 || errOut != "docent: no answer from "+api.URL+"/v1: EOF; trying again\n" {
		t.Errorf("status %d, %q", status, errOut)
	}
}
