package httpapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"docent/shared/jsoninput"
)

// Time stands for time.Time in the schemas: huma's own check of a date-time knows no lower case, and takes what is not
// RFC 3339. decodeTime checks it.
type Time struct{}

// uncheckedTime is the format of times until describeTimes; huma checks no format of that name.
const uncheckedTime = "docent-time"

// Schema returns the schema that requests are validated against.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: uncheckedTime}
}

// describeTimes gives the times in the document their format.
func describeTimes(doc *huma.OpenAPI) {
	for _, s := range doc.Components.Schemas.Map() {
		for _, member := range s.Properties {
			if member.Format == uncheckedTime {
				member.Format = "date-time"
			}
		}
	}
}

// decodeTime decodes the text of the member of that name into a time. It returns false if member is something else.
func decodeTime(name string, text []byte, member any) (isTime bool, err error) {
	var into *time.Time
	switch member := member.(type) {
	case *time.Time:
		into = member
	case **time.Time:
		*member = new(time.Time)
		into = *member
	default:
		return false, nil
	}
	var given string
	if err := json.Unmarshal(text, &given); err != nil {
		return true, faultIn(name, &json.UnmarshalTypeError{Type: reflect.TypeFor[string]()})
	}
	if *into, err = jsoninput.ParseTime(given); err != nil {
		return true, errors.New(memberFault + "/" + name + " " + validation.MsgExpectedRFC3339DateTime)
	}
	return true, nil
}
