package httpapi

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/jsoninput"
)

// patch is a merge patch (RFC 7396) of the fields of a record. Its schema is that of T
// with every member optional. It is embedded in the body of an operation.
type patch[T any] struct{ members map[string]json.RawMessage }

// UnmarshalJSON keeps the members, and refuses those that cannot be set, so that apply
// cannot fail.
func (p *patch[T]) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &p.members); err != nil {
		return err
	}
	var fields T
	return p.set(&fields)
}

// apply sets the given members in fields. null clears an optional member.
func (p *patch[T]) apply(fields *T) {
	_ = p.set(fields) // UnmarshalJSON has tried it
}

// has reports whether the member name is given, null or not.
func (p *patch[T]) has(name string) bool {
	_, given := p.members[name]
	return given
}

func (p *patch[T]) set(fields *T) error {
	target := reflect.ValueOf(fields).Elem()
	for _, field := range reflect.VisibleFields(target.Type()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		text, given := p.members[name]
		switch {
		case name == "" || !given:
		case string(text) != "null":
			member := target.FieldByIndex(field.Index)
			member.SetZero()
			if err := jsoninput.Decode(text, member.Addr().Interface()); err != nil {
				return faultIn(name, err)
			}
		case options == "omitempty":
			target.FieldByIndex(field.Index).SetZero()
		default:
			return errors.New(nullMember + name)
		}
	}
	return nil
}

// TransformSchema describes the members; huma calls it.
func (p *patch[T]) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	of := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Properties = maps.Clone(of.Properties)
	for name, member := range s.Properties {
		if !slices.Contains(of.Required, name) {
			if member.Ref != "" {
				s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{member, {Type: "null"}},
					Description: strings.TrimSpace(member.Description + " null removes it.")}
				continue
			}
			nullable := *member
			nullable.Nullable = true
			if nullable.Enum != nil {
				nullable.Enum = append(slices.Clone(nullable.Enum), nil)
			}
			nullable.Description = strings.TrimSpace(nullable.Description + " null removes it.")
			s.Properties[name] = &nullable
		}
	}
	return s
}
