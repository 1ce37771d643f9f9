package storedtest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"docent/shared/storedtest"
)

func TestFixturesHoldEveryStoredForm(t *testing.T) {
	t.Parallel()
	for _, f := range storedtest.Fixtures(t) {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			storedtest.CheckForms(t, f.Version, f.Engine, f.Items(t))
			if len(f.Blobs(t)) == 0 {
				t.Error("there are no segments")
			}
			if f.Engine != storedtest.AWS {
				return
			}
			for _, queue := range []string{"questions", "documents", "syncs"} {
				if len(storedtest.Lines(t, f.FS(t), "queues/"+queue)) == 0 {
					t.Errorf("the fixture has no message of the queue %s", queue)
				}
			}
		})
	}
}

// TestDocumentedKeysAreStoredForms reads the key patterns in the comments of the tables. Each must
// be a stored form, so that a new one is noticed.
func TestDocumentedKeysAreStoredForms(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../table/tables.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range storedtest.Forms {
		known[partitionShape(f.Partition)] = true
	}
	lines := regexp.MustCompile(`(?m)^\t//   (\S+) +sort `).FindAllStringSubmatch(string(source), -1)
	if len(lines) < 40 {
		t.Fatalf("%d patterns in tables.go", len(lines))
	}
	for _, line := range lines {
		if !known[partitionShape(line[1])] {
			t.Errorf("tables.go documents the partition %s, which no stored form of shared/storedtest has", line[1])
		}
	}
}

// partitionShape returns a pattern without the names of its placeholders, which are more precise
// in the comment.
func partitionShape(pattern string) string {
	shape := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(pattern, "{}")
	return strings.TrimSuffix(shape, "/")
}
