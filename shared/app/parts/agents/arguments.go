package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// arguments reads the arguments of a tool by its schema. Its errors are for the caller and
// never quote the input; the schema library's own would, and they name Go types.
type arguments struct {
	schema  *jsonschema.Schema
	members map[string]*jsonschema.Resolved
}

func newArguments(schema *jsonschema.Schema) *arguments {
	a := &arguments{schema: schema, members: map[string]*jsonschema.Resolved{}}
	for name, member := range schema.Properties {
		resolved, err := member.CloneSchemas().Resolve(nil)
		if err != nil {
			panic(err) // the schemas are made by this package
		}
		a.members[name] = resolved
	}
	return a
}

// read decodes text into the fields that into points to. As in every operation, an optional
// member that is null counts as missing, and 1.0 is an integer.
func (a *arguments) read(text json.RawMessage, into any) error {
	given := map[string]any{}
	if len(text) > 0 && json.Unmarshal(text, &given) != nil {
		return errors.New("the arguments must be an object")
	}
	for name := range given {
		if a.members[name] == nil {
			return errors.New("the arguments may only be " + strings.Join(slices.Sorted(maps.Keys(a.members)), ", "))
		}
	}
	taken := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(a.members)) {
		value, ok := given[name]
		required := slices.Contains(a.schema.Required, name)
		switch {
		case !ok && required:
			return fmt.Errorf("%s is required", name)
		case !ok, value == nil && !required:
			continue
		case a.members[name].Validate(value) != nil:
			return fmt.Errorf("%s must be %s", name, wanted(a.schema.Properties[name]))
		}
		taken[name] = value
	}
	checked, err := json.Marshal(taken) // whole numbers without a fraction or an exponent
	if err != nil {
		return errors.New("the arguments must be an object")
	}
	return json.Unmarshal(checked, into)
}

// wanted describes the values that a member may have, for errors.
func wanted(s *jsonschema.Schema) string {
	switch {
	case s.Enum != nil:
		names := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			names[i] = fmt.Sprint(value)
		}
		return "one of " + strings.Join(names, ", ")
	case s.Type == "object":
		return "an object"
	case s.Type == "integer":
		return fmt.Sprintf("a whole number from %v to %v", *s.Minimum, *s.Maximum)
	case s.Type == "array" && s.MinItems != nil:
		return fmt.Sprintf("a list of %d to %d texts", *s.MinItems, *s.MaxItems)
	case s.Type == "array":
		return fmt.Sprintf("a list of at most %d texts", *s.MaxItems)
	case s.MinLength != nil:
		return fmt.Sprintf("a text of %d to %d characters", *s.MinLength, *s.MaxLength)
	default:
		return fmt.Sprintf("a text of at most %d characters", *s.MaxLength)
	}
}
