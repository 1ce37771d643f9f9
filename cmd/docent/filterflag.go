package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"docent/shared/apierr"
	"docent/shared/filter"
)

// FilterFlag is the filter of commands that search. It is exported because kong sets embedded structs.
type FilterFlag struct {
	Filter filterValue `placeholder:"JSON" help:"Only documents that it selects, by their metadata and facts, such as {\"product\": \"api\", \"version\": {\"gte\": 2}}."`
}

// filterValue is a filter that is given as JSON; empty: none.
type filterValue struct{ of *filter.Filter }

// UnmarshalText reads the flag.
func (v *filterValue) UnmarshalText(text []byte) error {
	if !json.Valid(text) {
		return errors.New(`is not JSON, such as {"product": "api"}`)
	}
	parsed, err := filter.Parse(text)
	if err != nil {
		return flagFault(err)
	}
	v.of = parsed
	return nil
}

// flagFault returns err, of package filter, in words for the command line.
func flagFault(err error) error {
	var refused *apierr.Error
	if !errors.As(err, &refused) || len(refused.Fields) != 1 {
		return err
	}
	f := refused.Fields[0]
	return errors.New(strings.TrimSpace(f.Pointer + " " + f.Detail))
}

// metadataFlag returns the metadata of --metadata. A JSON number, boolean or list keeps its type; every other value is
// text.
func metadataFlag(given map[string]string) (filter.Metadata, error) {
	m := filter.Metadata{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var value filter.Value
		text := given[name]
		if json.Unmarshal([]byte(text), &value) != nil || value.IsZero() || strings.HasPrefix(text, `"`) {
			value = filter.Text(text)
		}
		m[name] = value
	}
	if err := m.Check(""); err != nil {
		return nil, fmt.Errorf("--metadata %w", flagFault(err))
	}
	return m, nil
}

// checkUser returns an error for a user name that no header can have.
func checkUser(name string) error {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return errors.New("--as must not have control characters")
	}
	return nil
}
