package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"docent/shared/app"
	"docent/shared/httpapi"
)

// TestTheReferenceIsCommitted compares the dashboard's API reference with the operations.
func TestTheReferenceIsCommitted(t *testing.T) {
	t.Parallel()
	want, err := json.Marshal(referenceOf(httpapi.OpenAPI(app.Providers())))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "dashboard", "dist", "reference.json"))
	if err != nil || string(got) != string(want)+"\n" {
		t.Errorf("dist/reference.json differs from the code (%v): run make openapi", err)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	r := referenceOf(httpapi.OpenAPI(app.Providers()))
	for _, o := range r.Operations {
		if o.ID != "createCollection" {
			continue
		}
		example, _ := json.Marshal(o.Example)
		if o.Method != "POST" || o.Path != "/collections" || o.Media != "application/json" || string(example) != `{"description":"","name":""}` ||
			len(o.Body) != 4 || !o.Body[0].Required || o.Reply == nil || len(o.Statuses) < 5 {
			t.Errorf("%+v, example %s", o, example)
		}
		return
	}
	t.Error("createCollection is missing")
}
