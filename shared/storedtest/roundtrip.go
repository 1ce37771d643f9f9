package storedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"docent/shared/table"
)

// Unknown is the name of an attribute that no version knows. Tests add it where a later
// version may have added an attribute.
const Unknown = "attributeOfALaterVersion"

// WithUnknown returns item with an unknown number, an unknown text and, where its body
// is a JSON object, an unknown member.
func WithUnknown(item table.Item) table.Item {
	item.Numbers, item.Strings = maps.Clone(item.Numbers), maps.Clone(item.Strings)
	if item.Numbers == nil {
		item.Numbers = map[string]int64{}
	}
	if item.Strings == nil {
		item.Strings = map[string]string{}
	}
	item.Numbers[Unknown], item.Strings[Unknown] = 1, "x"
	var object map[string]json.RawMessage
	if json.Unmarshal(item.Body, &object) == nil && object != nil {
		object[Unknown] = json.RawMessage(`{"nested":[1]}`)
		item.Body, _ = json.Marshal(object) // decoded JSON always encodes
	}
	return item
}

// RoundTrip decodes every item of each named form in every fixture and encodes it again:
// nothing may be lost. Then it repeats this with unknown attributes, which must change nothing.
// Each function decodes and encodes an item as its package does; it may copy what the package
// does not decode, such as the key.
func RoundTrip(t *testing.T, forms map[string]func(table.Item) (table.Item, error)) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range Fixtures(t) {
		for _, item := range f.Items(t) {
			name := FormOf(t, item.Key).Name()
			again, covered := forms[name]
			if !covered {
				continue
			}
			seen[name] = true
			for what, given := range map[string]table.Item{"": item, " with unknown attributes": WithUnknown(item)} {
				got, err := again(given)
				if err != nil {
					t.Errorf("%s: %s%s: %v", f.Name(), name, what, err)
				} else if !sameContent(item, got) {
					t.Errorf("%s: %s%s: an item becomes\n%s, want\n%s", f.Name(), name, what, shown(got), shown(item))
				}
			}
		}
	}
	for name := range forms {
		if !seen[name] && !unreleased(t, name) {
			t.Errorf("no fixture holds the stored form %q", name)
		}
	}
}

// unreleased reports whether the form of that name is younger than every fixture.
func unreleased(t *testing.T, name string) bool {
	return slices.ContainsFunc(Forms, func(f Form) bool {
		return f.Name() == name && !slices.ContainsFunc(Fixtures(t), func(x Fixture) bool { return f.In(x.Version, x.Engine) })
	})
}

// sameContent reports whether the items have the same version, body, numbers and texts.
func sameContent(a, b table.Item) bool {
	return a.Version == b.Version && sameBody(a.Body, b.Body) &&
		maps.Equal(a.Numbers, b.Numbers) && maps.Equal(a.Strings, b.Strings)
}

func sameBody(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(x, y)
}

// shown returns the content of an item in at most a few lines.
func shown(item table.Item) string {
	body := item.Body
	if len(body) > longText {
		body = body[:longText]
	}
	return fmt.Sprintf("version %d, %v, %v, %s", item.Version, item.Numbers, item.Strings, body)
}
