package filter

import (
	"maps"
	"slices"
)

// FactNames returns the names of all facts.
func FactNames() []string { return slices.Sorted(maps.Keys(facts)) }

// KnownFacts returns the names of those that f has.
func KnownFacts(f Facts) []string {
	return slices.DeleteFunc(FactNames(), func(name string) bool { return facts[name](&f) == (Value{}) })
}
