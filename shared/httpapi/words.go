package httpapi

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"docent/shared/apierr"
)

// Errors of huma's validation get the same wording as those of the areas: each says what
// the field must be. They are package variables of huma, set once before any operation
// is registered.
func init() {
	validation.MsgExpectedRFC3339DateTime = "must be an RFC 3339 time"
	validation.MsgExpectedRFC3986URI = "must be a URI%.0v" // without the error, which huma adds
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedBase64String = "must be base64"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMinItems = "must have at least %d items"
	validation.MsgExpectedMaxItems = "must have at most %d items"
	validation.MsgExpectedMatchPattern = "must be %s"
	huma.ErrorFormatter = formatFault
	validation.MsgExpectedRequiredProperty = missingMember + "%s"
}

// patternWords says what strings of a pattern are.
var patternWords = map[string]string{"^[0-9a-fA-F]{64}$": "64 hexadecimal digits", "^[ -~]*$": "printable ASCII characters"}

// formatFault is fmt.Sprintf with numbers in plain digits, and patterns in words.
func formatFault(format string, values ...any) string {
	for i, value := range values {
		switch value := value.(type) {
		case float64:
			values[i] = strconv.FormatFloat(value, 'f', -1, 64)
		case string:
			values[i] = cmp.Or(patternWords[value], value)
		}
	}
	return fmt.Sprintf(format, values...)
}

// missingMember is the start of the error for a missing member, before its name.
const missingMember = "required member "

// reworded replaces the errors of huma that are not package variables.
var reworded = strings.NewReplacer(
	"required query parameter is missing", "is required",
	"required header parameter is missing", "is required",
	", <nil>", ", null", // in the list of an enum
	"invalid integer", "must be a whole number",
	"invalid boolean", "must be true or false",
	"must have at least 1 characters", "must not be empty",
	"must have at least 1 items", "must not be empty",
)

// missingField returns the error for a missing member of the object at location, and
// false if message is another error.
func missingField(location, message string) (apierr.Field, bool) {
	name, ok := strings.CutPrefix(message, missingMember)
	if !ok {
		return apierr.Field{}, false
	}
	return apierr.Field{Pointer: pointer(location) + "/" + name, Detail: "is required"}, true
}
