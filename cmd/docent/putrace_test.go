package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"docent/client"
)

// TestRunsSideBySideMakeOneCollection starts several runs that all have to make the collection, and again after it was
// removed and after it was renamed.
func TestRunsSideBySideMakeOneCollection(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFeed(t)
	key := f.create(1)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	api, err := client.New(f.url, key)
	if err != nil {
		t.Fatal(err)
	}
	change := func(method, id, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, f.url+"/collections/"+id, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.Body.Close() != nil || res.StatusCode >= 300 {
			t.Fatalf("%s: %v, %v", method, res, err)
		}
	}
	for round := range 3 {
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() {
				if status, out, errOut := docent(t, "put", "--server", f.url, "--key", key, "--collection-name", "wiki", dir); status != 0 {
					t.Errorf("status %d, output %s, errors %s", status, out, errOut)
				}
			})
		}
		runs.Wait()
		found, err := api.CollectionsNamed(t.Context(), "wiki")
		if err != nil || len(found) != 1 {
			t.Fatalf("collections %v, %v", found, err)
		}
		if round == 0 {
			change(http.MethodPatch, found[0].ID, `{"name":"old"}`)
			continue
		}
		change(http.MethodDelete, found[0].ID, "")
	}
}
