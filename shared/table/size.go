package table

import (
	"math/bits"
	"time"
)

// Attribute names under which table/dynamo stores an item. They count in the size of an item,
// so both engines measure with them. The stack declares its keys and its expiry attribute with
// them.
const (
	PartitionAttribute = "p"
	SortAttribute      = "s"
	VersionAttribute   = "v" // left out when the version is 0
	BodyAttribute      = "b" // left out when the body is empty
	ExpiresAttribute   = "e" // Unix seconds; left out when the item never expires
	NumberPrefix       = "n."
	StringPrefix       = "t."
)

// Size returns the size of item in bytes by DynamoDB's rules: names and values, where a number
// takes about one byte for two digits.
func Size(item Item) int {
	size := len(PartitionAttribute) + len(item.Partition) + len(SortAttribute) + len(item.Sort)
	if item.Version != 0 {
		size += len(VersionAttribute) + numberSize(item.Version)
	}
	if len(item.Body) > 0 {
		size += len(BodyAttribute) + len(item.Body)
	}
	if !item.Expires.IsZero() {
		size += len(ExpiresAttribute) + numberSize(item.Expires.Unix())
	}
	return size + numbersSize(item.Numbers) + stringsSize(item.Strings)
}

func numbersSize(numbers map[string]int64) (size int) {
	for name, n := range numbers {
		size += len(NumberPrefix) + len(name) + numberSize(n)
	}
	return size
}

func stringsSize(strings map[string]string) (size int) {
	for name, s := range strings {
		size += len(StringPrefix) + len(name) + len(s)
	}
	return size
}

// numberSize returns one byte, one for each two significant digits, and one for a
// minus sign; zeros at the end are not significant.
func numberSize(n int64) int {
	size := 1
	magnitude := uint64(n)
	if n < 0 {
		size++
		magnitude = -magnitude
	}
	for magnitude != 0 && magnitude%10 == 0 {
		magnitude /= 10
	}
	digits := 0
	for ; magnitude != 0; magnitude /= 10 {
		digits++
	}
	return size + (digits+1)/2
}

// ReadUnits returns the cost of reading size bytes: one unit for each started 4 KB, at least
// one, and half of that for an eventual read.
func ReadUnits(size int, eventual bool) float64 {
	units := float64(max(1, (size+4095)/4096))
	if eventual {
		return units / 2
	}
	return units
}

// WriteUnits returns the cost of writing a single item: one unit for each started KB, at least
// one. size is that of the larger of the old and the new item. In a transaction it costs twice
// as much.
func WriteUnits(size int) float64 { return float64(max(1, (size+1023)/1024)) }

// IsEventual reports whether opts ask for an eventual read.
func IsEventual(opts []ReadOption) bool {
	for _, o := range opts {
		if o == Eventual {
			return true
		}
	}
	return false
}

// Live returns item, or nil if it is nil or has expired at now.
func Live(item *Item, now time.Time) *Item {
	if item == nil || item.Expired(now) {
		return nil
	}
	return item
}

// Expired reports whether i has expired at now: at the whole second of Expires or later.
func (i *Item) Expired(now time.Time) bool {
	return !i.Expires.IsZero() && i.Expires.Unix() <= now.Unix()
}

func overflows(a, b int64) bool {
	sum, _ := bits.Add64(uint64(a), uint64(b), 0)
	return (a < 0) == (b < 0) && (int64(sum) < 0) != (a < 0)
}
