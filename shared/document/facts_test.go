package document

import (
	"reflect"
	"testing"

	"docent/shared/audit"
	"docent/shared/fieldtest"
)

// If equal ignored a field, a change of only that field would not be stored.
func TestEveryFieldCountsAsAChange(t *testing.T) {
	t.Parallel()
	noticed(t, Fields.equal)
	noticed(t, func(f, g Facts) bool { return f.equal(g) })
}

// The readers of events may not be allowed to read the document: an event repeats no field of it but those named here.
func TestAChangeOfAHiddenDocumentRepeatsNoText(t *testing.T) {
	t.Parallel()
	full := fieldtest.Fill[Fields](t)
	changes := Fields{}.changes(full, true)
	if n := reflect.TypeFor[Fields]().NumField(); len(changes) != n {
		t.Fatalf("%d changes of %d fields", len(changes), n)
	}
	for _, c := range changes {
		if redacted := c == audit.RedactedChange(c.Field); redacted == (c.Field == "collectionId" || c.Field == "mediaType") {
			t.Errorf("the change of %s is %+v", c.Field, c)
		}
	}
}

// noticed fails unless equal distinguishes two values that differ in any one field.
func noticed[T any](t *testing.T, equal func(a, b T) bool) {
	t.Helper()
	full := fieldtest.Fill[T](t)
	if !equal(full, full) {
		t.Errorf("%T: a value differs from itself", full)
	}
	for i := range reflect.TypeFor[T]().NumField() {
		changed := full
		reflect.ValueOf(&changed).Elem().Field(i).SetZero()
		if equal(full, changed) {
			t.Errorf("%T: %s is not compared by equal, so a change of it would not be stored", full, reflect.TypeFor[T]().Field(i).Name)
		}
	}
}

func TestFiltersKnowEveryFact(t *testing.T) {
	t.Parallel()
	known := reflect.ValueOf(fieldtest.Fill[Entry](t).Attributes().Facts)
	for i := range known.NumField() {
		if known.Field(i).IsZero() {
			t.Errorf("no document has a %s that a filter could select by: set it in Attributes", known.Type().Field(i).Name)
		}
	}
}
