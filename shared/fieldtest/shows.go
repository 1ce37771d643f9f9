package fieldtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// Shows fails unless every field of T makes a difference to the JSON that show returns of
// it, but those of the names in hidden, which must make none, and unless every member of
// that JSON is set. adjust gives values to fields that do not take every text.
func Shows[T, B any](t *testing.T, show func(T) B, adjust func(*T), hidden ...string) {
	t.Helper()
	full := Fill[T](t)
	adjust(&full)
	body := show(full)
	members := reflect.ValueOf(body)
	for _, member := range reflect.VisibleFields(members.Type()) {
		if members.FieldByIndex(member.Index).IsZero() {
			t.Errorf("%T: nothing sets %s", body, member.Name)
		}
	}
	text := encode(t, body)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if field.Anonymous || !field.IsExported() {
			continue
		}
		without := full
		reflect.ValueOf(&without).Elem().FieldByIndex(field.Index).SetZero()
		shown := !bytes.Equal(encode(t, show(without)), text)
		if listed := slices.Contains(hidden, field.Name); shown == listed {
			t.Errorf("%T: %s is shown: %t, listed as hidden: %t", full, field.Name, shown, listed)
		}
	}
}

func encode(t *testing.T, body any) []byte {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
