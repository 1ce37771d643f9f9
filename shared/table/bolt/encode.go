package bolt

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/shared/table"
)

// Buckets: "t/" and the table's name for each table, and the list of expiring items.
var expiryBucket = []byte("expiry")

func bucketName(tableName string) []byte { return []byte("t/" + tableName) }

// rowKey returns the key of an item within its table's bucket.
func rowKey(k table.Key) []byte {
	return append(partitionKey(k.Partition), k.Sort...)
}

// partitionKey returns the prefix of the keys of all items of the partition, and of no others.
func partitionKey(partition string) []byte {
	return appendPartition(make([]byte, 0, len(partition)+1+64), partition)
}

func appendPartition(key []byte, partition string) []byte {
	return append(append(key, partition...), 0)
}

// expiryKey returns a key of the list of expiring items: the second, then the item's key.
func expiryKey(expires time.Time, k table.Key) []byte {
	key := expiryTime(expires)
	key = append(append(key, k.Table...), 0)
	return append(key, rowKey(k)...)
}

// expiryTime encodes seconds so that the order of bytes is the order of time, also before 1970.
func expiryTime(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.Unix())^(1<<63))
}

// readExpiryKey returns the key of the item from a key that expiryKey returned.
func readExpiryKey(key []byte) (table.Key, error) {
	if len(key) > 8 {
		if parts := strings.SplitN(string(key[8:]), "\x00", 3); len(parts) == 3 {
			return table.Key{Table: parts[0], Partition: parts[1], Sort: parts[2]}, nil
		}
	}
	return table.Key{}, fmt.Errorf("list of expiring items: %w", errDamagedItem)
}

// A stored item is a format byte, a byte of flags, the version, the expiry if flagged, the
// body, the numbers and the strings. Numbers are varints; a text starts with its length, a list
// with its count.
const (
	itemFormat  = 1
	flagExpires = 1
)

var errDamagedItem = errors.New("stored item is damaged")

func encode(item table.Item) []byte {
	b := make([]byte, 0, 64+len(item.Body))
	flags := byte(0)
	if !item.Expires.IsZero() {
		flags = flagExpires
	}
	b = append(b, itemFormat, flags)
	b = binary.AppendVarint(b, item.Version)
	if flags == flagExpires {
		b = binary.AppendVarint(b, item.Expires.Unix())
	}
	b = appendText(b, item.Body)
	b = binary.AppendUvarint(b, uint64(len(item.Numbers)))
	for _, name := range sortedNames(item.Numbers) {
		b = binary.AppendVarint(appendText(b, name), item.Numbers[name])
	}
	b = binary.AppendUvarint(b, uint64(len(item.Strings)))
	for _, name := range sortedNames(item.Strings) {
		b = appendText(appendText(b, name), item.Strings[name])
	}
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func sortedNames[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// decode returns the item under k, which shares nothing with data.
func decode(k table.Key, data []byte) (table.Item, error) {
	r := reader{data: data}
	item := table.Item{Key: k}
	if r.byte() != itemFormat {
		return item, fmt.Errorf("%s %q %q: %w", k.Table, k.Partition, k.Sort, errDamagedItem)
	}
	flags := r.byte()
	item.Version = r.varint()
	if flags&flagExpires != 0 {
		item.Expires = time.Unix(r.varint(), 0).UTC()
	}
	if body := r.text(); len(body) > 0 {
		item.Body = slices.Clone(body)
	}
	fields := string(r.data) // names and values share one copy
	if n := r.count(); n > 0 {
		item.Numbers = make(map[string]int64, n)
		for range n {
			name := r.textIn(fields)
			item.Numbers[name] = r.varint()
		}
	}
	if n := r.count(); n > 0 {
		item.Strings = make(map[string]string, n)
		for range n {
			name := r.textIn(fields)
			item.Strings[name] = r.textIn(fields)
		}
	}
	if r.bad || len(r.data) > 0 {
		return item, fmt.Errorf("%s %q %q: %w", k.Table, k.Partition, k.Sort, errDamagedItem)
	}
	return item, nil
}

// reader reads values from the start of data. After a missing one, all values are empty.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) fail() {
	r.data, r.bad = nil, true
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// count reads a length, at most the number of bytes left.
func (r *reader) count() int {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > uint64(len(r.data)-n) {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return int(v)
}

func (r *reader) text() []byte {
	n := r.count()
	text := r.data[:n]
	r.data = r.data[n:]
	return text
}

// textIn returns the text from a copy of data that ends where data ends.
func (r *reader) textIn(data string) string {
	text := r.text()
	end := len(data) - len(r.data)
	return data[end-len(text) : end]
}
