package protocol_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"docent/shared/scim/protocol"
)

// model is a model of a group and its PATCH: a name and a set of ids.
type model struct {
	name    string
	members []string // in the order of addition
}

func (m model) tree() map[string]any {
	out := map[string]any{"displayName": m.name}
	if len(m.members) > 0 {
		list := []any{}
		for _, id := range m.members {
			list = append(list, map[string]any{"value": id})
		}
		out["members"] = list
	}
	return out
}

// step draws an operation and applies it to m.
func (m *model) step(t *rapid.T) string {
	some := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 1, 3).Draw(t, "ids")
	var list []string
	for _, id := range some {
		list = append(list, fmt.Sprintf(`{"value":%q}`, id))
	}
	values := "[" + strings.Join(list, ",") + "]"
	add := func() {
		for _, id := range some {
			if !slices.Contains(m.members, id) {
				m.members = append(m.members, id)
			}
		}
	}
	remove := func(gone []string) {
		m.members = slices.DeleteFunc(slices.Clone(m.members), func(id string) bool { return slices.Contains(gone, id) })
	}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		add()
		return `{"op":"Add","path":"members","value":` + values + `}`
	case 1:
		m.members = nil
		add()
		return `{"op":"replace","value":{"members":` + values + `}}`
	case 2:
		remove(some)
		return `{"op":"Remove","path":"members","value":` + values + `}`
	case 3:
		remove(some[:1])
		return fmt.Sprintf(`{"op":"remove","path":"members[value eq \"%s\"]"}`, some[0])
	case 4:
		m.members = nil
		return `{"op":"remove","path":"members"}`
	case 5:
		some = some[:1]
		add()
		return fmt.Sprintf(`{"op":"add","path":"members","value":{"value":%q}}`, some[0])
	default:
		m.name = some[0]
		return fmt.Sprintf(`{"op":"replace","path":"displayName","value":%q}`, some[0])
	}
}

func TestPatchFollowsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := model{name: "g", members: []string{"a", "b", "c"}}
		start := m.tree()
		var steps []string
		inTurn := start
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			step := m.step(t)
			steps = append(steps, step)
			inTurn = patched(t, inTurn, step)
		}
		if diff := cmp.Diff(m.tree(), inTurn); diff != "" {
			t.Fatalf("%v: %s", steps, diff)
		}
		if diff := cmp.Diff(inTurn, patched(t, start, steps...)); diff != "" {
			t.Fatalf("%v in one request: %s", steps, diff)
		}
		body, err := protocol.DecodeObject([]byte(message(append(steps, `{"op":"replace","path":"noSuch","value":1}`)...)))
		if err != nil {
			t.Fatal(err)
		}
		before := jsonText(start)
		if _, err := patch("Group", start, nil, body); err == nil || jsonText(start) != before {
			t.Fatalf("a failing operation after %v: %v", steps, err)
		}
	})
}

func patched(t *rapid.T, on map[string]any, operations ...string) map[string]any {
	return patchedAs(t, "Group", on, operations...)
}

func patchedAs(t *rapid.T, typeName string, on map[string]any, operations ...string) map[string]any {
	body, err := protocol.DecodeObject([]byte(message(operations...)))
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch(typeName, on, nil, body)
	if err != nil {
		t.Fatalf("%v: %v", operations, err)
	}
	return after
}

func FuzzPatch(f *testing.F) {
	for _, operation := range []string{
		`{"op":"add","path":"emails[type eq \"work\"].value","value":"x"}`, `{"op":"replace","value":{"name.givenName":"G","active":"false"}}`,
		`{"op":"remove","path":"emails","value":[{"type":"work"}]}`, `{"op":"replace","path":"` + enterprise + `","value":{"manager":"m"}}`,
		`{"op":"add","path":"emails[not (type pr)]","value":{"primary":true}}`, `{"op":"replace","path":"emails.primary","value":"True"}`,
	} {
		f.Add(message(operation), message(operation))
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		stored, err := typeOf("User").Read(tree(t, ada))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{first, second} {
			body, err := protocol.DecodeObject([]byte(text))
			if err != nil {
				return
			}
			before := jsonText(stored)
			after, err := patch("User", stored, map[string]any{"id": "u1"}, body)
			if jsonText(stored) != before {
				t.Fatal("the stored attributes were changed")
			}
			if err != nil {
				continue
			}
			// A PUT of the result would store the same.
			again, err := typeOf("User").Read(after)
			if err != nil {
				t.Fatalf("%s: %v", jsonText(after), err)
			}
			if diff := cmp.Diff(after, again); diff != "" {
				t.Fatal(diff)
			}
			stored = after
		}
	})
}

// FuzzNamedKeys: an operation without a path does the same as one with the key as its path,
// except for keys that it ignores.
func FuzzNamedKeys(f *testing.F) {
	for _, seed := range [][2]string{
		{`emails[type eq "work"].value`, `"x"`}, {"name.givenName", `["G"]`}, {enterprise + ":manager", `[{"value":"m"}]`}, {enterprise, `{"manager.value":"m"}`},
		{`addresses[type eq "work" and primary eq true].locality`, `"L"`}, {`URN:ietf:params:scim:schemas:core:2.0:user:EMAILS[Value co "a"]`, `{"display":"d"}`},
		{"roles", `["a",{"value":"b"}]`}, {"active", `[{"value":"False"}]`}, {`emails[type eq 'x']`, "null"}, {"groups", "[]"}, {" title", `"t"`},
	} {
		f.Add("add", seed[0], seed[1])
		f.Add("replace", seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, op, key, value string) {
		wrapped, err := protocol.DecodeObject([]byte(`{"value":` + value + `}`))
		if err != nil || op != "add" && op != "replace" {
			return
		}
		stored, err := typeOf("User").Read(tree(t, ada))
		if err != nil {
			t.Fatal(err)
		}
		patch := func(operation map[string]any) (string, error) {
			operation["op"] = op
			after, err := patch("User", stored, map[string]any{"id": "u1"}, map[string]any{
				"schemas": []any{"urn:ietf:params:scim:api:messages:2.0:PatchOp"}, "Operations": []any{operation}})
			if err != nil {
				return "", err
			}
			return jsonText(after), nil
		}
		before := jsonText(stored)
		named, namedErr := patch(map[string]any{"value": map[string]any{key: wrapped["value"]}})
		listed, _ := patch(map[string]any{"value": []any{map[string]any{key: wrapped["value"]}}})
		at, atErr := patch(map[string]any{"path": key, "value": wrapped["value"]})
		if jsonText(stored) != before {
			t.Fatal("the stored attributes were changed")
		}
		if named != listed {
			t.Fatalf("%q: %s, in a list %s", key, named, listed)
		}
		ignored := namedErr == nil && named == before // an unknown or a read-only attribute
		if !ignored && strings.TrimSpace(key) == key && (named != at || (namedErr == nil) != (atErr == nil)) {
			t.Fatalf("%s %q %s: %s, %v; as a path: %s, %v", op, key, value, named, namedErr, at, atErr)
		}
	})
}
