package table

import (
	"fmt"
	"maps"
	"time"
)

// Apply returns the result of a on the item old, which is nil if it is missing or expired. It
// does not test a.If. It returns ErrInvalid for a step out of int64 and ErrTooLarge for a
// result over MaxItemBytes. The result shares only the body with old.
func (a Add) Apply(old *Item) (Item, error) {
	item := Item{Key: a.Key, Expires: WholeSeconds(a.Expires)}
	if old != nil {
		item = *old
	}
	numbers := maps.Clone(item.Numbers)
	if numbers == nil && len(a.By)+len(a.Numbers) > 0 {
		numbers = make(map[string]int64, len(a.By)+len(a.Numbers))
	}
	for name, by := range a.By {
		if overflows(numbers[name], by) {
			return Item{}, fmt.Errorf("%w: number %q leaves 64 bits", ErrInvalid, name)
		}
		numbers[name] += by
	}
	maps.Copy(numbers, a.Numbers)
	item.Numbers = numbers

	texts := maps.Clone(item.Strings)
	if texts == nil && len(a.Strings) > 0 {
		texts = make(map[string]string, len(a.Strings))
	}
	maps.Copy(texts, a.Strings)
	item.Strings = texts
	return item, checkSize(Size(item))
}

// WholeSeconds cuts t to the precision in which the store keeps an expiry, in UTC.
func WholeSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(t.Unix(), 0).UTC()
}
