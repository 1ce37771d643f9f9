package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// jsonFormat is JSON whose member names are exact: encoding/json alone would take
// "NAME" for "name", past the bounds that were checked on "name".
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshalExact}

// nullMember begins the error about a member that is null and must not be; the
// member's name follows.
const nullMember = "null member "

// unmarshalExact decodes data into the struct that into points to. Members that
// the struct does not name are ignored; null is for members that decode
// themselves only.
func unmarshalExact(data []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	if target.Kind() != reflect.Struct {
		return json.Unmarshal(data, into)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(target.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		text, given := members[name]
		if name == "" || !given {
			continue
		}
		member := target.FieldByIndex(field.Index).Addr().Interface()
		if _, decodes := member.(json.Unmarshaler); !decodes && string(text) == "null" {
			return errors.New(nullMember + name)
		}
		if err := json.Unmarshal(text, member); err != nil {
			return fmt.Errorf("decode %s: %w", name, err)
		}
	}
	return nil
}
