package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"docent/shared/document"
	"docent/shared/search"
	"docent/shared/source"
	"docent/shared/table"
)

// TestASourceWithADamagedItemIsReadAgain: only the sources that have damaged items, and only those that a connector reads.
func TestASourceWithADamagedItemIsReadAgain(t *testing.T) {
	t.Parallel()
	x := newIndexed(t, 2)
	var settings source.Settings
	if err := json.Unmarshal([]byte(`{"repositories":["acme/api"]}`), &settings); err != nil {
		t.Fatal(err)
	}
	put := func(sourceID, uri string) string {
		t.Helper()
		id, _, err := x.documents.Put(t.Context(), x.team, document.Input{Fields: document.Fields{CollectionID: sourceID, Title: uri, URI: uri},
			Body: strings.Repeat("It is long.\n\n", 1000), Facts: &document.Facts{Space: search.Issues, Changed: x.clock.Now()},
			Match: func(int64) error { return nil }, Who: document.Anyone()})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	var damaged []string
	for _, name := range []string{"whole", "damaged"} {
		d, _, err := x.sources.Create(t.Context(), x.team, source.DataSource{Provider: "github", Name: name, Settings: settings}, source.Secrets{})
		if err != nil {
			t.Fatal(err)
		}
		if id := put(d.ID, "https://github.test/"+name); name == "damaged" {
			damaged = append(damaged, id)
		}
	}
	if err := x.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, paused, err := x.ReadDamagedAgain(t.Context(), x.team); err != nil || paused != 0 || n != 0 {
		t.Fatalf("%d sources, %v", n, err)
	}
	items, err := x.store.Items(t.Context(), table.Documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if _, isChunk := i.Strings["passages"]; isChunk && strings.Contains(i.Partition, damaged[0]) {
			i.Body = []byte("It is another text.")
			if err := x.store.Write(t.Context(), table.Put{Item: i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	x.clock.Advance(time.Second)
	if n, paused, err := x.ReadDamagedAgain(t.Context(), x.team); err != nil || paused != 0 || n != 1 {
		t.Errorf("%d sources, %v", n, err)
	}
	report, err := x.CheckIndex(t.Context(), x.team)
	if err != nil || len(report.DamagedDocuments) != 1 || report.DamagedDocuments[0] != damaged[0] {
		t.Errorf("%+v, %v", report, err)
	}
}
