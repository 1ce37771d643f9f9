package storedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"docent/shared/table"
	"docent/shared/table/bolt"
)

// Items returns every item of the fixture that had not expired when it was written, table by
// table.
func (f Fixture) Items(t testing.TB) []table.Item {
	t.Helper()
	if f.Engine == AWS {
		return f.awsItems(t)
	}
	return BoltItems(t, filepath.Join(f.Unpack(t), "docent.db"), f.Manifest.Written)
}

// queueTable is the table in which earlier versions kept the queues of one machine.
const queueTable = "queue"

// BoltItems returns every item of the database at path that has not expired at now.
func BoltItems(t testing.TB, file string, now time.Time) []table.Item {
	t.Helper()
	tables := append([]string{queueTable}, table.Names...)
	store, err := bolt.Open(file, bolt.Options{Tables: tables, Now: func() time.Time { return now }, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []table.Item
	for _, name := range tables {
		items, err := store.Items(t.Context(), name)
		if err != nil {
			t.Fatalf("table %s: %v", name, err)
		}
		all = append(all, items...)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (f Fixture) awsItems(t testing.TB) []table.Item {
	t.Helper()
	var all []table.Item
	files := f.FS(t)
	for _, name := range table.Names {
		for _, line := range Lines(t, files, "tables/"+name) {
			item, err := itemOf(name, line)
			if err != nil {
				t.Fatalf("table %s: %v", name, err)
			}
			if live := table.Live(&item, f.Manifest.Written); live != nil {
				all = append(all, *live)
			}
		}
	}
	return all
}

// Lines returns the lines of a file of JSON Lines. The name is without its ending.
func Lines(t testing.TB, files fs.FS, name string) [][]byte {
	t.Helper()
	text, err := fs.ReadFile(files, name+".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
	}
	return lines
}

// Attribute is a value in the JSON of DynamoDB, of the types that Docent stores.
type Attribute struct {
	S *string `json:"S,omitempty"`
	N *string `json:"N,omitempty"`
	B []byte  `json:"B,omitempty"`
}

// itemOf reads an item from the JSON of DynamoDB.
func itemOf(tableName string, line []byte) (table.Item, error) {
	var attributes map[string]Attribute
	item := table.Item{Key: table.Key{Table: tableName}, Numbers: map[string]int64{}, Strings: map[string]string{}}
	if err := json.Unmarshal(line, &attributes); err != nil {
		return item, fmt.Errorf("decode an item: %w", err)
	}
	for name, a := range attributes {
		var number int64
		var text string
		var err error
		if a.N != nil {
			number, err = strconv.ParseInt(*a.N, 10, 64)
		}
		if err != nil {
			return item, fmt.Errorf("attribute %s: %w", name, err)
		}
		if a.S != nil {
			text = *a.S
		}
		switch {
		case name == table.PartitionAttribute:
			item.Partition = text
		case name == table.SortAttribute:
			item.Sort = text
		case name == table.VersionAttribute:
			item.Version = number
		case name == table.BodyAttribute:
			item.Body = a.B
		case name == table.ExpiresAttribute:
			item.Expires = time.Unix(number, 0).UTC()
		case strings.HasPrefix(name, table.NumberPrefix):
			item.Numbers[strings.TrimPrefix(name, table.NumberPrefix)] = number
		case strings.HasPrefix(name, table.StringPrefix):
			item.Strings[strings.TrimPrefix(name, table.StringPrefix)] = text
		default:
			return item, fmt.Errorf("unknown attribute %s", name)
		}
	}
	return item, nil
}

// Blobs returns the names of the segments that the fixture holds.
func (f Fixture) Blobs(t testing.TB) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(f.FS(t), "blobs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path.Clean(name))
		}
		return err
	})
	if err != nil {
		t.Fatalf("fixture %s: %v", f.Name(), err)
	}
	return names
}
