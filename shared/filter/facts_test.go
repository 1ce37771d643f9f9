package filter_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/shared/filter"
)

// TestEveryFactHasItsName: filters reach each field of Facts by one name, and each name reaches one field.
func TestEveryFactHasItsName(t *testing.T) {
	t.Parallel()
	var named []string
	for field := range reflect.TypeFor[filter.Facts]().Fields() {
		var facts filter.Facts
		value := reflect.ValueOf(&facts).Elem().FieldByIndex(field.Index)
		switch value.Interface().(type) {
		case string:
			value.SetString("x")
		case []string:
			value.Set(reflect.ValueOf([]string{"x"}))
		case time.Time:
			value.Set(reflect.ValueOf(time.Unix(1, 0)))
		default:
			t.Fatalf("%s has a type that this test does not know", field.Name)
		}
		names := filter.KnownFacts(facts)
		if len(names) != 1 {
			t.Errorf("%s has the names %q in filters, want one: enter it in facts of match.go", field.Name, names)
		}
		named = append(named, names...)
	}
	if slices.Sort(named); !slices.Equal(named, filter.FactNames()) {
		t.Errorf("fields have the names %q; filters know %q", named, filter.FactNames())
	}
}

// TestTextsNameTheFacts finds the texts, and the list of the dashboard, that a new fact changes too.
func TestTextsNameTheFacts(t *testing.T) {
	t.Parallel()
	for file, begin := range map[string]string{
		"README.md":                          "The facts of connected items are filtered by the same words:",
		"shared/filter/match.go":             "Filters name them as the API does:",
		"shared/httpapi/filters.go":          "and by their facts:",
		"shared/httpapi/agents.go":           "selects documents by their metadata, and by",
		"dashboard/src/pages/conditions.tsx": "const facts = [",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		_, list, found := strings.Cut(string(text), begin)
		if !found {
			t.Errorf("%s does not say %q: change the text, or this test", file, begin)
			continue
		}
		words := regexp.MustCompile(`\w+`).FindAllString(list[:min(len(list), 300)], -1)
		for _, name := range filter.FactNames() {
			if !slices.Contains(words, name) {
				t.Errorf("%s does not name the fact %s after %q", file, name, begin)
			}
		}
	}
}
