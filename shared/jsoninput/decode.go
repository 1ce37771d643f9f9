package jsoninput

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Decode decodes text into the value that into points to, as encoding/json does, except that the names of members are
// exact in every struct in it. encoding/json alone takes "NAME" for "name", past bounds that were checked on "name".
// Integers have every form that ParseInt reads. Unknown members are ignored, and fields without a name in their tag.
func Decode(text []byte, into any) error { return decode(text, reflect.ValueOf(into).Elem()) }

func decode(text []byte, into reflect.Value) error {
	kind := into.Type()
	switch {
	case !hasStruct(kind), string(text) == "null":
		return json.Unmarshal(wholeNumber(text, kind), into.Addr().Interface())
	case kind.Kind() == reflect.Pointer:
		into.Set(reflect.New(kind.Elem()))
		return decode(text, into.Elem())
	case kind.Kind() == reflect.Slice:
		return decodeList(text, into)
	default:
		return decodeStruct(text, into)
	}
}

func decodeList(text []byte, into reflect.Value) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		return mistyped(err, into.Type())
	}
	into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
	for i, element := range elements {
		if err := decode(element, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func decodeStruct(text []byte, into reflect.Value) error {
	members, err := AllMembers(text)
	if err != nil {
		return mistyped(err, into.Type())
	}
	for _, field := range reflect.VisibleFields(into.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		member, given := members[name]
		if name == "" || name == "-" || !given {
			continue
		}
		if err := decode(member, into.FieldByIndex(field.Index)); err != nil {
			return below(name, err)
		}
	}
	return nil
}

// hasStruct reports whether t has a struct that Decode decodes itself: one behind pointers or in lists, that does not
// decode its own text.
func hasStruct(t reflect.Type) bool {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || t == reflect.TypeFor[time.Time]() {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return hasStruct(t.Elem())
	default:
		return t.Kind() == reflect.Struct
	}
}

// mistyped returns err with the type of the field, in place of the one that its parts were decoded into.
func mistyped(err error, t reflect.Type) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &json.UnmarshalTypeError{Value: wrong.Value, Type: t, Offset: wrong.Offset}
	}
	return err
}

// below adds the name of a member to the path of the field that err names.
func below(name string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		wrong.Field = strings.TrimSuffix(name+"."+wrong.Field, ".")
	}
	return err
}

// wholeNumber rewrites text such as 1.0 or 1e2 if into is an integer, because encoding/json
// refuses these forms. Any other text is returned as it is.
func wholeNumber(text []byte, into reflect.Type) []byte {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	if into.Kind() != reflect.Int && into.Kind() != reflect.Int64 {
		return text
	}
	n, err := ParseInt(string(text))
	if err != nil {
		return text // its decoder returns the error
	}
	return strconv.AppendInt(nil, n, 10)
}
