package document

import (
	"slices"

	"docent/shared/access"
	"docent/shared/table"
)

// Who is the caller of an operation. The zero Who reads nothing.
type Who struct {
	Reader  access.Reader
	Sources []string // ids of the sources that its key is restricted to; nil: all
}

// Anyone is the Who of Docent itself: it reads everything.
func Anyone() Who { return Who{Reader: access.Everything()} }

// uses reports whether the key of w may use a source.
func (w Who) uses(sourceID string) bool {
	return w.Sources == nil || slices.Contains(w.Sources, sourceID)
}

// reads reports whether w may read e, whose source has the rule byDefault.
func (w Who) reads(e Entry, byDefault *access.Rule) bool {
	return w.Reader.MayRead(e.Access, byDefault)
}

// accessField has the rule of a document, encoded. Documents without one lack it.
const accessField = "access"

func storeAccess(item table.Item, rule *access.Rule) {
	if rule != nil {
		item.Strings[accessField] = rule.Encode()
	}
}
