package filter

import "slices"

// Names returns the names that the conditions of f have, sorted and distinct. What a document has under
// another name does not change whether f selects it.
func (f *Filter) Names() []string {
	if f == nil {
		return nil
	}
	var names []string
	for _, c := range f.conditions {
		if c.name != "" {
			names = append(names, c.name)
		}
		for i := range c.filters {
			names = append(names, c.filters[i].Names()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
