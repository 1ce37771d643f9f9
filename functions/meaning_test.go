package functions_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/shared/deployed"
	"docent/testkit/lambdarun"
	"docent/testkit/weights"
)

// withWeights returns the path of a function with the weights next to it, as make build puts them.
func withWeights(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "bootstrap")
	if err := os.Link(binary(t, name), program); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(weights.Folder(t), filepath.Join(folder, "model")); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestMeaningThroughTheBinaries finds a page by a question that has none of its words, with the model in the process.
func TestMeaningThroughTheBinaries(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	for _, name := range []string{"DOCENT_EMBEDDING_URL", "DOCENT_EMBEDDING_MODEL", "DOCENT_EMBEDDING_SIZE"} {
		delete(c.env, name)
	}
	for _, f := range deployed.Functions {
		program := binary(t, f.Name)
		if slices.Contains([]string{"answering", "answers", "context", "embedding"}, f.Name) {
			program = withWeights(t, f.Name)
		}
		started, err := lambdarun.Start(context.Background(), program, lambdarun.Options{Name: f.Name, Env: c.env, Log: c.log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(started.Close)
		c.functions[f.Name] = started
		for _, root := range f.Roots {
			c.gateway.Functions[root] = started.Invoke
		}
	}
	wiki := c.newCollection("wiki")
	for page, text := range map[string]string{
		"proxy": "# Reverse proxies\n\nNGINX forwards incoming requests to Docent and terminates TLS.\n",
		"lunch": lunch, "runbook": rollback, "vacation": "# Vacation\n\nEmployees get thirty days of leave a year.\n",
	} {
		c.want(c.put(wiki, page, text), 200)
	}
	c.drain()
	c.want(c.do("POST", "/context/search", map[string]any{"query": "How many holidays do staff members have?", "limit": 1}), 200,
		"https://wiki.test/vacation")
	if _, texts := c.embedder.Asked(); len(texts) > 0 {
		t.Errorf("%d texts left the process", len(texts))
	}
	if log := c.log.String(); strings.Contains(log, "words alone") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("log: %s", log)
	}
}

// TestWithoutWeightsSearchGoesByWords checks what functions do that were deployed without the weights.
func TestWithoutWeightsSearchGoesByWords(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	for _, name := range []string{"DOCENT_EMBEDDING_URL", "DOCENT_EMBEDDING_MODEL", "DOCENT_EMBEDDING_SIZE"} {
		delete(c.env, name)
	}
	c.env[deployed.LogLevel] = "info"
	c.log.Reset()
	for _, f := range deployed.Functions {
		c.serve(f)
	}
	wiki := c.newCollection("wiki")
	c.want(c.put(wiki, "runbook", rollback), 200)
	if delivery, err := lambdarun.Deliver(t.Context(), c.documents, c.functions["indexing"].Invoke, 10); err != nil || delivery.Failed > 0 {
		t.Fatalf("%+v, %v", delivery, err)
	}
	for range 2 {
		c.want(c.do("POST", "/context/search", map[string]any{"query": "deployment"}), 200, "https://wiki.test/runbook")
	}
	if n := strings.Count(c.log.String(), "search goes by words alone"); n != 4 { // each function that embeds says so once
		t.Errorf("said %d times", n)
	}
}
