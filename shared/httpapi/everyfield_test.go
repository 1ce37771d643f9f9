package httpapi_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"docent/shared/collection"
	"docent/shared/fieldtest"
)

// TestEveryFieldOfACollectionIsSetReadChangedAndRecorded fills the fields by reflection, so that
// it covers new ones too.
func TestEveryFieldOfACollectionIsSetReadChangedAndRecorded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	f := fieldtest.Fill[collection.Fields](t)
	f.IconURL = "https://x.test/i.png"
	given := membersOf(t, f)
	id := a.do(call{"POST", "/collections", acme.key, given, nil}).want(t, 201).text(t, "id")
	given["id"] = id
	read := func(want map[string]any) {
		t.Helper()
		var one map[string]any
		var all []map[string]any
		a.do(call{"GET", "/collections/" + id, acme.key, nil, nil}).want(t, 200).json(t, &one)
		a.do(call{"GET", "/collections", acme.key, nil, nil}).want(t, 200).json(t, &all)
		if !reflect.DeepEqual(one, want) || len(all) != 1 || !reflect.DeepEqual(all[0], want) {
			t.Fatalf("read %v, listed %v, want %v", one, all, want)
		}
	}
	read(given)
	for i := range reflect.TypeFor[collection.Fields]().NumField() {
		changed := f
		field := reflect.ValueOf(&changed).Elem().Field(i)
		field.SetString(field.String() + "x")
		change := map[string]any{}
		for name, value := range membersOf(t, changed) {
			if value != given[name] {
				change[name], given[name] = value, value
			}
		}
		a.do(call{"PATCH", "/collections/" + id, acme.key, change, nil}).want(t, 200)
		read(given)
		events := a.feed(acme.key, "&eventType=collection.updated").Events
		if last := events[len(events)-1].Changes; len(last) != 1 || change[last[0].Field] == nil {
			t.Errorf("the change %v is recorded as %v", change, last)
		}
		f = changed
	}
}

// membersOf returns the JSON object of v.
func membersOf(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	return members
}
