// Package filter has the metadata of documents and the filters that select documents by it, and by the facts
// that the items of connected sources have. It is pure: it knows neither storage nor HTTP.
//
// A filter is decided twice. The index knows the metadata of a document but not its facts: MayMatch leaves out
// only what certainly does not match. Match decides on the record.
package filter

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
)

// Bounds of metadata. MaxBytes bounds filters too. Lengths of strings count Unicode code points.
const (
	MaxKeys    = 20
	MaxText    = 256
	MaxList    = 50        // strings of a list
	MaxNumber  = 1<<53 - 1 // in magnitude: each integer up to it is exact
	MaxBytes   = 8 << 10   // of the JSON text
	maxLiteral = 100       // characters of one number
)

// NamePattern is what the names of metadata match. The names and, or and not are taken by filters.
const NamePattern = "^[A-Za-z][A-Za-z0-9_]{0,39}$"

var nameRule = regexp.MustCompile(NamePattern)

// reserved are the names that combine filters.
var reserved = []string{"and", "or", "not"}

// Metadata is what a caller says about a document besides its text, by name. It is at most MaxBytes long as JSON.
type Metadata map[string]Value

// Equal reports whether m and n have the same names with the same values.
func (m Metadata) Equal(n Metadata) bool { return maps.EqualFunc(m, n, Value.Equal) }

// UnmarshalJSON reads an object of values and leaves out its null members. It refuses what cannot be metadata
// before it decodes it, with an *apierr.Error whose pointer starts at the object; see Under. It does not check
// names and lengths, so that stored metadata can always be read; see Check.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*m = nil
		return nil
	}
	members, err := decodeObject(text, 2)
	if err != nil {
		return err
	}
	read := make(Metadata, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, err := valueOf(members[name])
		if err != nil {
			return apierr.BadField(pointerTo("", name), "%s", err)
		}
		if !value.IsZero() {
			read[name] = value
		}
	}
	*m = read
	return nil
}

// Check returns an *apierr.Error if m exceeds a bound; its pointers continue pointer.
func (m Metadata) Check(pointer string) error {
	if len(m) > MaxKeys {
		return apierr.BadField(pointer, "must have at most %d members", MaxKeys)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := checkName(pointer, name); err != nil {
			return err
		}
		if err := m[name].check(); err != nil {
			return apierr.BadField(pointerTo(pointer, name), "%s", err)
		}
	}
	if len(m.JSON()) > MaxBytes {
		return tooLong(pointer)
	}
	return nil
}

// JSON returns m as a JSON object with its names in order. Equal metadata has equal texts.
func (m Metadata) JSON() string { return encode(map[string]Value(m)) }

// encode returns v as JSON on one line, without the escapes that HTML needs.
func encode(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // values of this package always encode
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func checkName(pointer, name string) error {
	switch {
	case !nameRule.MatchString(name):
		return apierr.BadField(pointer, "must have names of up to 40 letters, digits and _ that start with a letter")
	case slices.Contains(reserved, name):
		return apierr.BadField(pointer, "must not have a member named and, or or not, which combine filters")
	}
	return nil
}

func tooLong(pointer string) *apierr.Error {
	return apierr.BadField(pointer, "must have at most %d bytes of JSON", MaxBytes)
}

// decodeObject returns the members of a JSON object. It checks length and nesting before it decodes.
func decodeObject(text []byte, depth int) (map[string]any, error) {
	if len(text) > MaxBytes {
		return nil, tooLong("")
	}
	limits := jsoninput.Limits{Depth: depth, Values: MaxBytes, Members: MaxBytes, Literal: maxLiteral}
	if _, err := jsoninput.Check(text, limits); err != nil {
		return nil, apierr.BadField("", "%s", err)
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil, apierr.BadField("", "must be JSON with finite numbers").WithCause(err)
	}
	members, ok := decoded.(map[string]any)
	if !ok {
		return nil, apierr.BadField("", "must be an object")
	}
	return members, nil
}

// Under returns err, of this package, with pointer before the pointer of its fault. It returns any other error as
// it is.
func Under(pointer string, err error) error {
	var refused *apierr.Error
	if !errors.As(err, &refused) || len(refused.Fields) != 1 {
		return err
	}
	return apierr.BadField(pointer+refused.Fields[0].Pointer, "%s", refused.Fields[0].Detail)
}

// pointerTo returns the JSON pointer (RFC 6901) of a member, which needs no escapes. For a name that metadata
// must not have, it returns the pointer of the object: a refusal repeats nothing that a client chose freely.
func pointerTo(pointer, name string) string {
	if !nameRule.MatchString(name) {
		return pointer
	}
	return pointer + "/" + name
}
