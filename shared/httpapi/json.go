package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"docent/shared/apierr"
	"docent/shared/filter"
	"docent/shared/jsoninput"
)

// jsonFormat is JSON whose member names are exact: encoding/json alone would take
// "NAME" for "name", past the bounds that were checked on "name".
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshalExact}

// nullMember is the start of the error for a member that must not be null, before its
// name.
const nullMember = "null member "

// memberFault is the start of the error for a member that refuses its own JSON, before its pointer, a blank and
// what is wrong.
const memberFault = "fault in "

// notJSON is the start of the error for a text that is not JSON, before what is wrong.
const notJSON = "not JSON: "

// notJSONAt returns err, from decoding data, with what is wrong and where if data is not JSON.
func notJSONAt(data []byte, err error) error {
	if fault := jsoninput.Malformed(data, err); fault != "" {
		return errors.New(notJSON + fault)
	}
	return err
}

// faultIn returns err, from decoding the member of that name, in the form that fieldOf reads: huma keeps only the
// text of an error.
func faultIn(name string, err error) error {
	var refused *apierr.Error
	if errors.As(filter.Under("/"+name, err), &refused) && len(refused.Fields) == 1 {
		return errors.New(memberFault + refused.Fields[0].Pointer + " " + refused.Fields[0].Detail)
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		where := "/" + name
		if mistyped.Field != "" {
			where += "/" + strings.ReplaceAll(mistyped.Field, ".", "/")
		}
		return errors.New(memberFault + where + " " + expected(mistyped.Type.Kind()))
	}
	return fmt.Errorf("decode %s: %w", name, err)
}

// expected says what a member of a kind must be, as huma's validation does.
func expected(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return validation.MsgExpectedString
	case reflect.Bool:
		return validation.MsgExpectedBoolean
	case reflect.Slice, reflect.Array:
		return validation.MsgExpectedArray
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return validation.MsgExpectedObject
	case reflect.Float32, reflect.Float64:
		return validation.MsgExpectedNumber
	default:
		return validation.MsgExpectedInteger
	}
}

// unmarshalExact decodes data into the struct that into points to. It ignores unknown
// members and null members; validation has already refused null for required ones.
func unmarshalExact(data []byte, into any) error {
	if decoder, ok := into.(json.Unmarshaler); ok {
		return decoder.UnmarshalJSON(data)
	}
	target := reflect.ValueOf(into).Elem()
	if target.Kind() == reflect.Pointer && target.Type().Elem().Kind() == reflect.Struct && string(bytes.TrimSpace(data)) != "null" { // an optional body
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	if target.Kind() != reflect.Struct {
		return notJSONAt(data, json.Unmarshal(data, into))
	}
	members, err := jsoninput.AllMembers(data) // validation has already read the whole text
	if err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(target.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		text, given := members[name]
		if name == "" || !given || string(text) == "null" {
			continue
		}
		member := target.FieldByIndex(field.Index).Addr().Interface()
		if plain, ok := member.(*string); ok {
			if value, rest, ok := jsoninput.CutString(text); ok && len(rest) == 0 {
				*plain = value
				continue
			}
		}
		if isTime, err := decodeTime(name, text, member); isTime {
			if err != nil {
				return err
			}
			continue
		}
		if err := jsoninput.Decode(text, member); err != nil {
			return faultIn(name, err)
		}
	}
	return nil
}
