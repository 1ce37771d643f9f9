package document

import (
	"reflect"
	"testing"

	"docent/shared/fieldtest"
)

// If equal ignored a field, a change of only that field would not be stored.
func TestEveryFactCountsAsAChange(t *testing.T) {
	t.Parallel()
	facts := fieldtest.Fill[Facts](t)
	if !facts.equal(facts) {
		t.Error("facts differ from themselves")
	}
	for i := range reflect.TypeFor[Facts]().NumField() {
		changed := facts
		reflect.ValueOf(&changed).Elem().Field(i).SetZero()
		if facts.equal(changed) {
			t.Errorf("%s may change unnoticed", reflect.TypeFor[Facts]().Field(i).Name)
		}
	}
}
