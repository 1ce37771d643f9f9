package local

import (
	"fmt"

	"docent/shared/queue"
	"docent/shared/table"
)

// CheckRecord fails when an item is read as a record that is written differently.
func CheckRecord(item table.Item) (readable bool, err error) {
	r, err := decode(item)
	if err != nil {
		return false, nil
	}
	q := &Queue{name: "q"}
	again, err := decode(r.fields(q.dueKey(r)))
	if err != nil {
		return true, fmt.Errorf("read again: %w", err)
	}
	if fmt.Sprint(again) != fmt.Sprint(r) || q.dueKey(r).Sort != item.Sort {
		return true, fmt.Errorf("read as %v, written as %v", r, again)
	}
	return true, nil
}

// CheckReceipt fails when a receipt is taken that no delivery has.
func CheckReceipt(receipt string) (valid bool, err error) {
	r, err := parseReceipt(receipt)
	if err != nil {
		return false, nil
	}
	if receiptOf(r) != receipt {
		return true, fmt.Errorf("%q is taken for %q", receipt, receiptOf(r))
	}
	for part := range r.parts {
		if err := (&Queue{name: "q"}).partKey(r.id, part).Check(); err != nil && len(r.id) < table.MaxSortBytes-8 {
			return true, err
		}
	}
	if r.parts*partBytes > queue.MaxBytes {
		return true, fmt.Errorf("%d parts", r.parts)
	}
	return true, nil
}
